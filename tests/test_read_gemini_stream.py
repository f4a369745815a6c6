"""What `gemini -o stream-json` prints."""

from __future__ import annotations

from typing import Any

from agentlearn.sessions.gemini_stream import read_lines
from agentlearn.sessions.source import Source
from tests.files import bent, brief, lines_file, read_all, read_one

AT = "2026-11-01T09:00:00Z"


def init(id: str = "s-1") -> dict[str, Any]:
    return {"type": "init", "timestamp": AT, "session_id": id, "model": "gemini-3-pro"}


def said(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "content": text, **more}


def used(id: str, name: str = "run_shell_command") -> dict[str, Any]:
    return {"type": "tool_use", "tool_name": name, "tool_id": id, "parameters": {"command": "make"}}


def returned(id: str, status: str = "success", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_id": id, "status": status, **more}


def test_pieces_are_joined(tmp_path):
    lines = [
        init(),
        said("user", "run the tests"),
        said("assistant", "I ", delta=True),
        said("assistant", "will.", delta=True),
        used("c1"),
        returned("c1", output="1 failed\nExit Code: 1"),
        said("assistant", "One ", delta=True),
        said("assistant", "fails.", delta=True),
        {"type": "result", "status": "success", "stats": {"total_tokens": 1}},
    ]
    session = read_one(lines_file(tmp_path / "out.jsonl", lines))
    assert (session.id, session.agent, session.model) == ("s-1", "gemini-cli", "gemini-3-pro")
    assert (session.dialect, session.goal) == ("gemini-stream-json", "run the tests")
    assert (session.started_at, session.outcome) == (AT, "unknown")
    assert brief(session) == [
        ("user", "run the tests", 2),
        ("assistant", "I will.", 3),
        ("call", "c1", "run_shell_command", '{"command":"make"}', 5),
        ("result", "c1", "1 failed\nExit Code: 1", "ok", 1, 6),
        ("assistant", "One fails.", 7),
    ]
    turns = session.turns()
    assert [turn.lines for turn in turns] == [(3, 6), (7, 7)]
    assert turns[0].action == 'I will.\nrun_shell_command {"command":"make"}'


def test_errors_and_refusals(tmp_path):
    lines = [
        init(),
        used("c1"),
        used("c2"),
        returned("c1", "error", error={"type": "x", "message": "no such tool"}),
        returned("c2", "error", output="[Operation Cancelled] Reason: User denied execution."),
        used("c3"),
        {"type": "error", "severity": "warning", "message": "loop"},
        {"type": "error", "severity": "error", "message": "quota"},
        {"type": "result", "status": "error", "error": {"type": "Fatal", "message": "turn limit"}},
        {"type": "hologram"},
    ]
    session = read_one(lines_file(tmp_path / "out.jsonl", lines))
    assert brief(session)[2:] == [
        ("result", "c1", "no such tool", "error", None, 4),
        ("result", "c2", lines[4]["output"], "rejected", None, 5),
        ("call", "c3", "run_shell_command", '{"command":"make"}', 6),
        ("api_error", "quota", 8),
        ("api_error", "turn limit", 9),
    ]
    assert [(w.line, w.lost) for w in session.warnings] == [(10, False)]


def test_pitfall_11_each_init_is_a_session_gemini_stream(tmp_path):
    lines = [
        init(), said("user", "a"), said("assistant", "cut sh", delta=True),
        init("s-2"), said("user", "a"),
        init(), said("user", "b"),
    ]  # fmt: skip
    sessions = read_all(lines_file(tmp_path / "out.jsonl", lines))
    assert [session.id for session in sessions] == ["s-1", "s-2", "s-1-2"]
    assert [brief(session) for session in sessions] == [
        [("user", "a", 2), ("assistant", "cut sh", 3)],
        [("user", "a", 5)],
        [("user", "b", 7)],
    ]


def test_a_broken_line_belongs_to_its_session(tmp_path):
    path = lines_file(tmp_path / "out.jsonl", [init(), said("user", "a"), init("s-2")])
    path.write_text(path.read_text() + '{"type":"mess')
    first, second = read_all(path)
    assert (first.warnings, [w.line for w in second.warnings]) == ([], [4])


def test_hostile_shapes(tmp_path):
    error = {"type": "x", "message": "y"}
    value = [init(), said("assistant", "a", delta=True), used("c1"), returned("c1", error=error)]
    path = tmp_path / "out.jsonl"
    for odd in bent(value):
        lines_file(path, odd)
        with Source(path) as source:
            assert len(list(read_lines(source))) == 1
