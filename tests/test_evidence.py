"""Evidence: the lines that speak for something, with a hash that anyone can compute."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import threading
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlearn.sessions.evidence import Evidence, cite, gather_evidence
from agentlearn.sessions.lines import MAX_LINE
from tests.commands import HEAD, json_of
from tests.files import document_file, lines_file, read_one

LINES = [
    {**HEAD, "id": "s"},
    {"type": "message", "role": "user", "text": "größer 日本"},
    {"type": "turn", "action": "a", "observation": "x" * 700_000, "reward": 1},
    {"type": "turn", "action": "b", "observation": "y", "reward": 1},
    {"type": "turn", "action": "c", "observation": "z", "reward": 1},
]


def by_sed(path: Path, start: int, end: int) -> str:
    command = f"sed -n '{start},{end}p' '{path}' | sha256sum"
    done = subprocess.run(command, shell=True, capture_output=True, check=True)
    return done.stdout.decode().split()[0]


def test_written_for_people() -> None:
    assert cite("s", 120, 138, "line") == "s#L120-L138"
    assert cite("s", 12, 12, "entry") == "s#E12"
    assert str(Evidence("s", "p", 3, 3, "line", None)) == "s#L3"


def test_the_hash_is_that_of_sed(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "a.jsonl", LINES)
    spans = [(1, 1), (2, 4), (3, 3), (5, 5), (1, 5), (2, 4), (4, 5)]
    found = gather_evidence(read_one(path), spans)
    assert [(item.start, item.end) for item in found] == spans
    assert [item.sha256 for item in found] == [by_sed(path, *span) for span in spans]
    assert {(item.session, item.path, item.unit) for item in found} == {("s", str(path), "line")}


def test_the_last_line_may_have_no_end(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "a.jsonl", LINES)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    spans = [(5, 5), (4, 5), (4, 4)]
    found = gather_evidence(read_one(path), spans)
    assert [item.sha256 for item in found] == [by_sed(path, *span) for span in spans]


def test_other_line_ends_and_a_mark_at_the_start(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "a.jsonl", LINES)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n") + b"\r\n\r\n")
    spans = [(1, 1), (2, 3), (4, 5)]
    found = gather_evidence(read_one(path), spans)
    assert [item.sha256 for item in found] == [by_sed(path, *span) for span in spans]


def test_compressed_files_count_their_own_lines(tmp_path: Path) -> None:
    plain = lines_file(tmp_path / "a.jsonl", LINES)
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    cold = tmp_path / "a.jsonl.zst"
    cold.write_bytes(zstandard.compress(plain.read_bytes()))
    for path in (packed, cold):
        found = gather_evidence(read_one(path), [(2, 4), (5, 5)])
        assert [item.sha256 for item in found] == [by_sed(plain, 2, 4), by_sed(plain, 5, 5)]
        assert found[0].path == str(path)


def test_what_is_not_there_has_no_hash(tmp_path: Path) -> None:
    session = read_one(lines_file(tmp_path / "a.jsonl", LINES))
    found = gather_evidence(session, [(0, 0), (6, 6), (4, 9), (5, 4)])
    assert [item.sha256 for item in found] == [None] * 4


def test_entries_of_one_json_value(tmp_path: Path) -> None:
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "größer"},
        {"role": "user", "content": "thanks"},
    ]
    path = document_file(tmp_path / "chat.json", {"messages": messages})
    session = read_one(path)
    assert session.unit == "entry"
    found = gather_evidence(session, [(2, 2), (2, 3), (0, 1), (3, 4)])
    # The raw bytes of the element, as they stand in the file.
    raws = [json.dumps(message, indent=1).replace("\n", "\n  ").encode() for message in messages]
    assert found[0].sha256 == hashlib.sha256(raws[1]).hexdigest()
    assert found[1].sha256 == hashlib.sha256(raws[1] + b"\n" + raws[2]).hexdigest()
    assert [item.sha256 for item in found[2:]] == [None, None]
    (told,) = json_of("returns", path, "--explain")["sessions"][0]["evidence"]
    assert told["evidence"]["unit"] == "entry"
    assert told["evidence"]["start"] == 3


def test_a_named_pipe_is_not_opened_again(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    data = "".join(json.dumps(line) + "\n" for line in LINES)
    writer = threading.Thread(target=pipe.write_text, args=(data,))
    writer.start()
    session = read_one(pipe)
    writer.join()
    (found,) = gather_evidence(session, [(2, 2)])
    assert found.sha256 is None


def test_a_file_that_is_gone_has_no_hash(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "a.jsonl", LINES)
    session = read_one(path)
    path.unlink()
    (found,) = gather_evidence(session, [(2, 2)])
    assert (found.path, found.start, found.sha256) == (str(path), 2, None)


@pytest.mark.slow
def test_a_line_too_long_to_read_costs_only_what_follows(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "a.jsonl", LINES)
    before = by_sed(path, 2, 3)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size + MAX_LINE + 1)
    found = gather_evidence(read_one(path), [(2, 3), (5, 7), (7, 7)])
    assert [item.sha256 for item in found] == [before, None, None]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.binary(max_size=40).map(lambda row: row.replace(b"\n", b"")), max_size=8),
    st.booleans(),
    st.lists(st.tuples(st.integers(1, 9), st.integers(0, 4)), max_size=5),
)
def test_any_lines_any_spans(rows: list[bytes], ended: bool, wanted: list[tuple[int, int]]) -> None:
    import tempfile

    head = json.dumps({**HEAD, "id": "s"}).encode()
    data = b"\n".join([head, *rows]) + (b"\n" if ended else b"")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.jsonl"
        path.write_bytes(data)
        session = read_one(path)
        spans = [(start, start + more) for start, more in wanted]
        physical = _physical(data)
        for item in gather_evidence(session, spans):
            span = physical[item.start - 1 : item.end]
            whole = item.end <= len(physical)
            expected = hashlib.sha256(b"".join(span)).hexdigest() if whole else None
            assert item.sha256 == expected


def _physical(data: bytes) -> list[bytes]:
    *ended, last = data.split(b"\n")
    return [line + b"\n" for line in ended] + ([last] if last else [])
