"""Lines, streams and texts: whatever the bytes are, the line numbers stay right."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from agentlearn.cli.app import app
from agentlearn.errors import BadInput
from agentlearn.sessions.draft import MAX_WARNINGS, Draft
from agentlearn.sessions.lines import BUFFER, lines, loosened, objects, salvage
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import without_data_uris
from agentlearn.sessions.values import FIELD_CAP, cut, pack, unpack
from tests.files import lines_file, read_one
from tests.memory import peak_mb_of


class Thing(msgspec.Struct):
    name: str | None = None
    size: int | None = None
    parts: list[Thing] | None = None
    rest: msgspec.Raw = msgspec.Raw(b"")


def piped(data: bytes) -> Source:
    return Source(None, io.BytesIO(data))


def things(data: bytes) -> tuple[list[tuple[int, Any]], list[tuple[int, str]]]:
    warnings: list[tuple[int, str]] = []
    source = piped(data)
    found = objects(source.stream, Thing, lambda line, reason: warnings.append((line, reason)))
    return [(number, thing.name) for number, thing in found], warnings


@settings(max_examples=200, deadline=None)
@given(st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b" "))), st.booleans())
def test_lines_are_those_of_the_file(rows, ends):
    rows = [b"-" + row for row in rows[:1]] + rows[1:]  # else it may begin like a packed file
    data = b"\n".join(rows) + (b"\n" if ends and rows else b"")
    expected = data.split(b"\n")
    if not expected[-1]:
        expected.pop()
    assert [(n, bytes(row)) for n, row in lines(piped(data).stream)] == list(enumerate(expected, 1))


@pytest.mark.parametrize("size", [BUFFER - 1, BUFFER, BUFFER + 1, 3 * BUFFER, 2 * BUFFER - 2])
def test_lines_longer_than_the_buffer(size):
    rows = [b"a" * size, b"", b"b" * 10, b"c" * (size + 3), b"d"]
    found = [(n, bytes(row)) for n, row in lines(piped(b"\n".join(rows)).stream)]
    assert found == list(enumerate(rows, 1))


def test_blank_lines_keep_their_number():
    assert things(b'\n\n{"name":"a"}\n   \n\r\n\t\n{"name":"b"}\n\n') == (
        [(3, "a"), (7, "b")],
        [],
    )


def test_crlf_and_byte_order_mark():
    assert things(b'\xef\xbb\xbf{"name":"a"}\r\n{"name":"b"}\r\n') == ([(1, "a"), (2, "b")], [])


def test_the_last_line_needs_no_end():
    assert things(b'{"name":"a"}\n{"name":"b"}') == ([(1, "a"), (2, "b")], [])


def test_a_cut_last_line_costs_only_itself():
    found, warnings = things(b'{"name":"a"}\n{"name":"b","size":1')
    assert found == [(1, "a")]
    assert warnings == [(2, "not JSON: expecting ',' delimiter")]


def test_glued_objects_are_all_read():
    assert things(b'{"name":"a"}{"name":"b"} {"name":"c"},{"name":"d"}\n{"name":"e"}') == (
        [(1, "a"), (1, "b"), (1, "c"), (1, "d"), (2, "e")],
        [],
    )


def test_a_glued_object_that_is_cut():
    assert things(b'{"name":"a"}{"name":"b\n{"name":"c"}') == (
        [(1, "a"), (2, "c")],
        [(1, "the end of the line is lost: not JSON: unterminated string starting at")],
    )


def test_junk_before_the_first_brace():
    junk = b"2026-11-01 INFO "
    assert things(junk + b'{"name":"a"}\n' + b"x" * 300 + b'{"name":"b"}') == (
        [(1, "a")],
        [(2, "not JSON")],
    )


def test_json_that_is_no_object():
    assert things(b'17\n"text"\nnull\n[]\n[1,2]\n{"name":"a"}') == (
        [(6, "a")],
        [(n, "not a JSON object") for n in range(1, 6)],
    )


def test_nul_bytes_are_reported():
    assert things(b'{"name":"a"}\n\x00\x00\x00\n{"name":"b"}') == (
        [(1, "a"), (3, "b")],
        [(2, "not JSON")],
    )


def test_raw_control_characters_inside_a_string_are_kept():
    assert things(b'{"name":"a\tb\x01c"}') == ([(1, "a\tb\x01c")], [])


def test_invalid_utf8_costs_a_character():
    assert things(b'{"name":"a\xff\xfeb"}') == ([(1, "a\ufffd\ufffdb")], [])


def test_half_an_emoji_costs_a_character():
    data = b'{"name":"a\\ud83d"}\n{"name":"\\ude00b"}\n{"name":"\\ud83d\\ude00"}'
    assert things(data) == ([(1, "a\ufffd"), (2, "\ufffdb"), (3, "\U0001f600")], [])


def test_nan_is_not_json():
    assert things(b'{"name":"a","size":NaN}') == ([], [(1, "NaN is not JSON")])


@pytest.mark.parametrize("depth", [30, 300, 3_000, 100_000])
def test_deep_nesting_never_raises(depth):
    deep = b"[" * depth + b"]" * depth
    parts = b'[{"parts":' * depth + b"[]" + b"}]" * depth
    for inside in (b'{"name":"a","other":%b}' % deep, b'{"name":"a","parts":%b}' % parts):
        found, warnings = things(inside + b'\n{"name":"b"}')
        assert found[-1] == (2, "b")
        assert len(found) == 2 or warnings == [(1, "nested too deeply")]


def test_fields_of_another_type_are_left_out():
    wrong = {"name": 5, "size": 7, "parts": [{"name": "x"}, 3, {"size": []}], "rest": {"a": 1}}
    thing = loosened(wrong, Thing)
    assert (thing.size, bytes(thing.rest)) == (7, b'{"a":1}')
    assert [part.name for part in thing.parts or []] == ["x", None]


def test_a_reason_is_given_for_each_bad_line_up_to_a_limit():
    made = Draft("codex", None)
    for line in range(1, 1001):
        made.warn(line, "not JSON", lost=line == 1000)
    warnings = made.finish("s").warnings
    assert len(warnings) == MAX_WARNINGS + 1
    last = warnings[-1]
    assert (last.line, last.reason) == (201, "and 800 more, from here on")
    assert last.lost is True


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=200))
def test_salvage_never_raises(raw):
    for value in salvage(raw, 1, lambda line, reason: None):
        assert isinstance(value, dict)


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=())))
def test_packed_text_comes_back(text):
    back = unpack(pack(text))
    assert len(back) <= len(text)
    assert back.encode().decode() == back
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert back == text


@pytest.mark.parametrize("length", [FIELD_CAP, FIELD_CAP + 1, 1_000_000])
def test_a_long_text_is_cut_in_its_middle(length):
    text = "start" + "é" * (length - 8) + "end"
    shorter = unpack(pack(text))
    assert len(shorter) <= FIELD_CAP
    assert shorter.startswith("start")
    assert shorter.endswith("end")
    assert (f"…({length} characters, the middle is left out)…" in shorter) == (length > FIELD_CAP)
    assert cut(shorter) == shorter


def test_long_arguments_stay_json():
    made = Draft("codex", None)
    long = {"path": "a.py", "text": "x" * 200_000, "list": [{"deep": "y" * 90_000}]}
    made.called("a", "write", json.dumps(long), 1)
    arguments = json.loads(made.finish("s").entries[0].arguments)
    assert arguments["path"] == "a.py"
    assert arguments["text"].endswith("…(200000 characters, the end is left out)…")
    assert arguments["list"][0]["deep"].endswith("…(90000 characters, the end is left out)…")


def test_many_short_arguments_are_cut_as_text():
    made = Draft("codex", None)
    made.called("a", "write", {"numbers": list(range(100_000))}, 1)
    arguments = made.finish("s").entries[0].arguments
    assert len(arguments) <= FIELD_CAP
    assert "characters, the middle is left out" in arguments


def prompt(number: int) -> dict[str, Any]:
    text = f"prompt {number}"
    message = {"role": "user", "content": [{"type": "input_text", "text": text}]}
    return {"type": "response_item", "payload": {"type": "message", **message}}


PROMPTS = "".join(json.dumps(prompt(n)) + "\n" for n in range(5000)).encode()


def sizes(path: Path) -> tuple[int, list[tuple[int, str]]]:
    session = read_one(path)
    return session.counts().messages, [(w.line, w.reason) for w in session.warnings]


@pytest.mark.parametrize("name", ["a.jsonl", "a.gz", "a.jsonl.zst", "a"])
def test_compressed_files_are_read_whatever_their_name(tmp_path, name):
    plain = tmp_path / "plain.jsonl"
    plain.write_bytes(PROMPTS)
    for packed in (
        gzip.compress(PROMPTS),
        gzip.compress(PROMPTS[:1000]) + gzip.compress(PROMPTS[1000:]),
        zstandard.compress(PROMPTS),
        zstandard.compress(PROMPTS[:1000]) + zstandard.compress(PROMPTS[1000:]),
    ):
        path = tmp_path / name
        path.write_bytes(packed)
        session = read_one(path)
        assert session.counts().messages == 5000
        assert session.warnings == []
        assert session.id == hashlib.sha256(PROMPTS).hexdigest()[:12]
    assert read_one(plain).id == session.id


def test_a_cut_gzip_is_read_up_to_the_cut(tmp_path):
    packed = gzip.compress(PROMPTS)
    path = tmp_path / "cut.gz"
    path.write_bytes(packed[: len(packed) // 2])
    messages, warnings = sizes(path)
    assert 1000 < messages < 5000
    assert warnings[-1] == (
        0,
        "the compressed data ends early or is damaged: Compressed file ended before the "
        "end-of-stream marker was reached",
    )
    assert len(read_one(path).id) == 12


def test_a_cut_zstd_is_read_up_to_the_cut(tmp_path):
    packed = zstandard.ZstdCompressor(level=1).compress(os.urandom(0) + PROMPTS)
    path = tmp_path / "cut.zst"
    path.write_bytes(packed[: len(packed) * 3 // 4])
    session = read_one(path)
    assert 0 < session.counts().messages < 5000
    assert len(session.id) == 12
    reason = "the compressed data ends early or is damaged: the last frame has no end"
    assert (session.warnings[-1].line, session.warnings[-1].reason) == (0, reason)
    assert session.warnings[-1].lost


@pytest.mark.parametrize("cut", [1, 3, 5, 100])
def test_a_zstd_that_lacks_its_last_bytes_is_told(tmp_path, cut):
    packed = zstandard.ZstdCompressor(write_checksum=True).compress(PROMPTS)
    whole = zstandard.compress(PROMPTS[:1000])
    for before in (b"", whole):
        path = tmp_path / "cut.zst"
        path.write_bytes(before + packed[:-cut])
        messages, warnings = sizes(path)
        assert messages > 0
        assert warnings[-1] == (
            0, "the compressed data ends early or is damaged: the last frame has no end",
        )  # fmt: skip
        failed = CliRunner().invoke(app, ["sessions", str(path), "--strict"])
        assert failed.exit_code == 2


def test_a_damaged_zstd_is_read_up_to_the_damage(tmp_path):
    packed = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(PROMPTS))
    packed[-1] ^= 0xFF
    path = tmp_path / "damaged.zst"
    path.write_bytes(bytes(packed))
    messages, warnings = sizes(path)
    assert messages > 1000
    assert warnings[-1][1].startswith("the compressed data ends early or is damaged: ")


def test_damaged_gzip_is_read_up_to_the_damage(tmp_path):
    packed = bytearray(gzip.compress(PROMPTS, compresslevel=0))
    packed[len(packed) - 3] ^= 0xFF
    path = tmp_path / "damaged.gz"
    path.write_bytes(bytes(packed))
    messages, warnings = sizes(path)
    assert messages > 4000
    assert warnings[-1][1].startswith("the compressed data ends early or is damaged: ")


def test_a_pipe_has_the_id_that_its_file_would_have(tmp_path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(PROMPTS)
    command = [sys.executable, "-m", "agentlearn", "sessions", "--format", "json"]
    from_file = subprocess.run([*command, str(path)], capture_output=True, check=True)
    for data in (PROMPTS, gzip.compress(PROMPTS)):
        from_pipe = subprocess.run([*command, "-"], input=data, capture_output=True, check=True)
        (one,), (other,) = json.loads(from_file.stdout), json.loads(from_pipe.stdout)
        assert one["id"] == other["id"] == hashlib.sha256(PROMPTS).hexdigest()[:12]
        assert (one["messages"], other["messages"], other["path"]) == (5000, 5000, "-")


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(BadInput) as told:
        Source(tmp_path / "none.jsonl")
    assert str(told.value) == f"cannot read {tmp_path / 'none.jsonl'}: No such file or directory"


def test_peeking_takes_nothing_away():
    source = piped(b"one\ntwo\n")
    assert source.stream.peek(2) == b"on"
    assert source.stream.peek(100) == b"one\ntwo\n"
    assert source.stream.peek_all() == b"one\ntwo\n"
    assert [bytes(row) for _, row in lines(source.stream)] == [b"one", b"two"]


@pytest.mark.parametrize("data", [b"", b"{", b"\x1f\x8b", b"\x28\xb5\x2f", b"\x28\xb5\x2f\xfd"])
def test_very_short_files(data):
    assert things(data)[0] == []


def test_pitfall_13_many_lines_of_megabytes(tmp_path):
    """A long line between short ones: numbers, order and the texts around it stay right."""
    rows: list[Any] = [prompt(1), prompt(2), prompt(3)]
    rows[1]["payload"]["content"][0]["text"] = "start " + "x" * 1_500_000 + " end"
    session = read_one(lines_file(tmp_path / "long.jsonl", rows))
    first, long, last = session.entries
    assert (first.text, first.line, last.text, last.line) == ("prompt 1", 1, "prompt 3", 3)
    assert long.line == 2
    assert len(long.text) <= FIELD_CAP
    assert "…(1500010 characters, the middle is left out)…" in long.text


@pytest.mark.slow
def test_a_damaged_first_line_does_not_bring_the_file_into_memory(tmp_path):
    path = tmp_path / "damaged.jsonl"
    row = json.dumps(prompt(1)).replace("prompt 1", "x" * 1_000_000).encode() + b"\n"
    with path.open("wb") as out:
        out.write(row[:-9] + b"\n")
        for _ in range(150):
            out.write(row)
    code = (
        "import sys; from pathlib import Path\n"
        "from agentlearn.sessions.read import read_sessions\n"
        "from agentlearn.sessions.source import Source\n"
        "(session,) = read_sessions(Source(Path(sys.argv[1])))\n"
        "assert session.counts().messages == 150\n"
        "assert [warning.line for warning in session.warnings] == [1]"
    )
    assert peak_mb_of(code, str(path)) < 120


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see data:image/png;base64,AAAA and more", "see <image image/png 3 bytes> and more"),
        ("data:image/svg+xml;base64,QQ==\nAAAA", "<image image/svg+xml 1 bytes>\nAAAA"),
        ("data:text/plain;base64,AAAA", "data:text/plain;base64,AAAA"),
        ("data:text/plain;base64," + "A" * 64, "<image text/plain 48 bytes>"),
        ('"data:image/png;base64," + data', '"data:image/png;base64," + data'),
    ],
)
def test_images_in_a_text_however_small(text: str, expected: str):
    assert without_data_uris(text) == expected
