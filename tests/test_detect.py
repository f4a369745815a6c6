"""Which dialect a file is written in, whatever its name and its layout."""

import json
from pathlib import Path

import pytest

from agentlearn.sessions.detect import MOST_HEAD, detect
from agentlearn.sessions.source import Source
from tests.commands import call, native_file
from tests.files import lines_file, read_one


def test_a_document_on_one_long_line_is_no_plain_text(tmp_path: Path):
    path = tmp_path / "chat.json"
    words = "word " * (MOST_HEAD // 5)
    messages = [{"role": "user", "content": "go"}, {"role": "assistant", "content": words}]
    path.write_text(json.dumps({"messages": messages}))
    assert read_one(path).goal == "go"


def dialect_of(path: Path) -> tuple[str | None, str]:
    with Source(path) as source:
        found = detect(source.stream)
    return found.dialect, found.why_not


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it is empty"),
        (b" \n\n", "it is empty"),
        (b"hello\nworld\n", "it looks like plain text"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "it looks like a binary file"),
        (b'{"a": 1, "b": 2}', "it looks like one JSON object with the keys a, b"),
        (b"[1, 2, 3]", "it looks like a JSON list of 3 elements"),
        (b'{"a": 1}\n{"b": 2}\n', "it looks like JSON lines with the keys a, b"),
        (b'{"type":"session_meta","id":"x"}\n{"type":"event_msg"}\n',
         "it looks like JSON lines with the keys type, id"),
    ],
)  # fmt: skip
def test_what_is_no_transcript_is_described(tmp_path: Path, data: bytes, why: str):
    path = tmp_path / "session.jsonl"
    path.write_bytes(data)
    assert dialect_of(path) == (None, why)


def test_the_name_decides_nothing(tmp_path: Path):
    head = {"type": "session", "schema": "agentlearn-session/1", "id": "s"}
    path = lines_file(tmp_path / "rollout-2026-11-01-codex.json", [head, {"type": "turn"}])
    assert dialect_of(path)[0] == "native"


def test_a_vote_not_the_first_line(tmp_path: Path):
    claude = {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s", "message": {}}
    rows = [{"role": "user", "content": "looks like chat"}, claude, claude, {"unknown": True}]
    assert dialect_of(lines_file(tmp_path / "s", rows))[0] == "claude-code"


def test_lines_inside_a_pretty_document_do_not_vote(tmp_path: Path):
    inner = {"type": "user", "uuid": "u", "parentUuid": None, "sessionId": "s"}
    path = tmp_path / "s.json"
    path.write_text('{"note": [\n' + ",\n".join([json.dumps(inner)] * 5) + "\n]}")
    assert dialect_of(path)[0] is None


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8, bytes(range(128, 256)) * 9]
)
def test_binary_files_are_called_so(tmp_path: Path, data: bytes):
    path = tmp_path / "x.jsonl"
    path.write_bytes(data)
    assert dialect_of(path) == (None, "it looks like a binary file")


CHAT = {
    "messages": [
        {
            "role": "user",
            "content": "go \u00e9",
            "n": -1.5e-3,
            "ok": True,
            "none": None,
            "list": [],
        },
        {"role": "assistant", "content": "done"},
    ],
}


@pytest.mark.parametrize("indent", [None, 1])
def test_one_json_value_that_is_cut_off_is_called_so_wherever_it_ends(
    tmp_path: Path, indent: int | None
):
    whole = json.dumps(CHAT, indent=indent).encode()
    path = tmp_path / "chat.json"
    for end in range(1, len(whole)):
        path.write_bytes(whole[:end])
        assert dialect_of(path) == (None, "it looks like one JSON value that is cut off"), end


@pytest.mark.parametrize("text", ["[main]\n", "[1] see below", "{{name}}", "null", "t", "{ x }\n"])
def test_a_text_that_begins_like_json_is_not_cut_off(tmp_path: Path, text: str):
    path = tmp_path / "a.txt"
    path.write_text(text)
    assert dialect_of(path)[0] is None
    assert "cut off" not in dialect_of(path)[1]


def test_a_cut_document_in_a_folder_is_named(tmp_path: Path):
    native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [0]})
    cut = tmp_path / "b.json"
    cut.write_text(json.dumps(CHAT, indent=1)[:-30])
    why = f"error: {cut} cannot be read: it looks like one JSON value that is cut off\n"
    assert call("sessions", cut, code=2).stderr == why
    result = call("sessions", tmp_path, "--json", code=5)
    assert len(json.loads(result.stdout)) == 1
    assert result.stderr == why


NATIVE = (
    '{"type":"session","schema":"agentlearn-session/1","id":"s"}\n{"type":"turn","action":"a"}\n'
)


@pytest.mark.parametrize("noise", ["starting up …\n", "{not json}\n", "\n", "[1]\n"])
def test_noise_before_the_first_object_hides_nothing(tmp_path: Path, noise: str):
    path = tmp_path / "s.jsonl"
    path.write_text(noise * 500 + NATIVE)
    assert dialect_of(path)[0] == "native"
    assert len(read_one(path).turns()) == 1


def test_a_large_text_is_looked_at_no_further_than_its_beginning(tmp_path: Path):
    path = tmp_path / "big.txt"
    path.write_text("a line of text {with braces}\n" * 1_000_000)
    with Source(path) as source:
        found = detect(source.stream)
        assert (found.dialect, found.why_not) == (None, "it looks like plain text")
        assert source._file.tell() <= 64 * 1024
