"""`convert`: any session as native lines, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands import HEAD, HOSTILE, call, json_of, names_in, native_file, started
from tests.files import document_file, lines_file


def claude(tmp_path: Path) -> Path:
    def line(number: int, role: str, content: Any) -> dict[str, Any]:
        return {
            "type": role, "uuid": f"u{number}", "parentUuid": f"u{number - 1}" if number else None,
            "sessionId": "c-1", "cwd": "/w", "timestamp": f"2026-11-01T09:00:0{number}Z",
            "message": {"role": role, "id": f"r{number}", "model": "m", "content": content},
        }  # fmt: skip

    call_ = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest -q"}}
    back = {"type": "tool_result", "tool_use_id": "t1", "content": "2 failed", "is_error": True}
    return lines_file(
        tmp_path / "claude.jsonl",
        [
            line(0, "user", "Fix it, größer 日本"),
            line(1, "assistant", [{"type": "text", "text": "I try"}, call_]),
            line(2, "user", [back]),
            line(3, "assistant", [{"type": "text", "text": "Done"}]),
            line(4, "user", "no, that is wrong"),
        ],
    )


def chat(tmp_path: Path) -> Path:
    messages = [{"role": "user", "content": HOSTILE}, {"role": "assistant", "content": "a\nb"}]
    return document_file(tmp_path / "chat.json", {"messages": messages})


@pytest.mark.parametrize("make", [claude, chat])
def test_converted_gives_the_same_and_again_the_same(tmp_path: Path, make: Any) -> None:
    path = make(tmp_path)
    once = tmp_path / "once.jsonl"
    twice = tmp_path / "twice.jsonl"
    assert call("convert", path, "-o", once).stdout == ""
    call("convert", once, "-o", twice)
    assert once.read_bytes() == twice.read_bytes()
    assert call("convert", path).stdout.encode() == once.read_bytes()
    (before,) = json_of("returns", path)["sessions"]
    (after,) = json_of("returns", once)["sessions"]
    for key in ("id", "goal", "outcome", "turns", "rewards", "returns", "sources"):
        assert before[key] == after[key], key
    (before,) = json_of("sessions", path)
    (after,) = json_of("sessions", once)
    for key in ("messages", "calls", "results", "errors", "rejections", "turns", "agent", "model"):
        assert before[key] == after[key], key
    assert call("render", path).stdout == call("render", once).stdout


def test_in_place(tmp_path: Path) -> None:
    path = claude(tmp_path)
    expected = call("convert", path).stdout
    call("convert", path, "--output", path)
    assert path.read_text() == expected
    call("convert", path, "--output", path)
    assert path.read_text() == expected
    assert names_in(tmp_path) == ["claude.jsonl"]


def test_through_a_pipe(tmp_path: Path) -> None:
    path = claude(tmp_path)
    once = started("convert", "-", input=path.read_bytes())
    twice = started("convert", input=once.stdout)
    assert (once.returncode, twice.returncode) == (0, 0)
    assert once.stdout == twice.stdout == call("convert", path).stdout.encode()


def test_many_into_one_file(tmp_path: Path) -> None:
    claude(tmp_path)
    native_file(tmp_path / "n.jsonl", {"id": "n1", "rewards": [1]}, {"id": "n2", "rewards": [-1]})
    result = call("convert", tmp_path)
    out = tmp_path / "all.jsonl"
    out.write_text(result.stdout)
    assert [session["id"] for session in json_of("sessions", out)] == ["c-1", "n1", "n2"]


@pytest.mark.parametrize("name", ["", ".", "/", "folder", "folder/"])
def test_outputs_that_are_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    path = claude(tmp_path)
    result = call("convert", path, "-o", name, code=2)
    assert result.stderr == f"error: --output {name!r} is no name of a file\n"
    assert names_in(tmp_path) == ["claude.jsonl", "folder"]


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    path = claude(tmp_path)
    for output in (tmp_path / "no/such/folder.jsonl", path / "below.jsonl"):
        result = call("convert", path, "-o", output, code=1)
        assert result.stderr.startswith(f"error: cannot write {output}: ")
    assert names_in(tmp_path) == ["claude.jsonl"]


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text("precious")
    (tmp_path / "d").mkdir()
    (tmp_path / "d/notes.txt").write_text("no transcript")
    for source in (tmp_path / "d", tmp_path / "d/notes.txt"):
        call("convert", source, "-o", output, code=2)
        assert output.read_text() == "precious"
    assert names_in(tmp_path) == ["d", "out.jsonl"]


def test_odd_values_survive(tmp_path: Path) -> None:
    path = lines_file(
        tmp_path / "a.jsonl",
        [
            {
                **HEAD,
                "id": HOSTILE,
                "goal": "\ud83d half",
                "metadata": {"big": 10**30, "deep": [[{}]]},
            },
            {"type": "turn", "action": {"a": [1, None]}, "observation": 7, "reward": 5e-324},
            {"type": "turn", "action": "x", "reward": {"kind": "terminal", "value": -1e308}},
        ],
    )
    once = call("convert", path).stdout
    assert call("convert", "-", stdin=once).stdout == once
    lines = [json.loads(line) for line in once.rstrip("\n").split("\n")]
    assert lines[0]["id"] == HOSTILE
    assert lines[1]["reward"] == {"kind": "positive", "value": 5e-324}
    assert lines[2]["reward"] == {"kind": "terminal", "value": -1e308}


def test_strict(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [1]})
    path.write_text(path.read_text() + '{"type":"turn","reward":"much"}\n')
    result = call("convert", path, "--strict", code=2)
    assert result.stderr.splitlines()[-1] == "error: --strict: 1 line could not be read"
    assert len(result.stdout.splitlines()) == 3
