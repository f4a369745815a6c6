"""What `codex exec --json` prints."""

from __future__ import annotations

from typing import Any

from agentlearn.sessions.codex_exec import read_lines
from agentlearn.sessions.source import Source
from tests.files import bent, brief, lines_file, read_all, read_one

START = {"type": "thread.started", "thread_id": "th-1"}
TURN = {"type": "turn.started"}


def item(id: str, kind: str, when: str = "completed", **more: Any) -> dict[str, Any]:
    return {"type": f"item.{when}", "item": {"id": id, "type": kind, **more}}


def ran(id: str, when: str = "completed", **more: Any) -> dict[str, Any]:
    return item(id, "command_execution", when, command="make", **more)


def test_items(tmp_path):
    lines = [
        START,
        TURN,
        item("i0", "reasoning", text="hm"),
        item("i1", "agent_message", text="Testing."),
        ran("i2", "started", aggregated_output="", exit_code=None, status="in_progress"),
        ran("i2", aggregated_output="1 failed", exit_code=1, status="failed"),
        item("i3", "agent_message", text="One test fails."),
        {"type": "turn.completed", "usage": {"input_tokens": 1}},
    ]
    session = read_one(lines_file(tmp_path / "out.jsonl", lines))
    assert (session.id, session.dialect, session.agent) == ("th-1", "codex-exec", "codex")
    assert (session.goal, session.outcome) == (None, "unknown")
    assert brief(session) == [
        ("assistant", "Testing.", 4),
        ("call", "i2", "shell", '{"command":"make"}', 5),
        ("result", "i2", "1 failed", "error", 1, 6),
        ("assistant", "One test fails.", 7),
    ]
    assert [turn.lines for turn in session.turns()] == [(4, 6), (7, 7)]
    assert session.warnings == []


def test_kinds_of_calls(tmp_path):
    found = {"content": [{"type": "text", "text": "42"}]}
    lines = [
        START,
        ran("i1", status="declined", exit_code=None, aggregated_output=""),
        item("i2", "file_change", changes=[{"path": "a", "kind": "add"}], status="completed"),
        item("i3", "mcp_tool_call", server="s", tool="t", arguments={"q": 1}, result=found),
        item("i4", "mcp_tool_call", server="s", tool="t", error={"message": "no"}, status="failed"),
        item("i5", "web_search", query="cats"),
        item(
            "i6", "collab_tool_call", tool="spawn_agent", prompt="p", receiver_thread_ids=["th-2"]
        ),
        ran("i7", status="completed", exit_code=-1, aggregated_output="runs"),
        item("i8", "todo_list", items=[]),
        item("i9", "error", message="slow network"),
        ran("i10", "started"),
    ]
    session = read_one(lines_file(tmp_path / "out.jsonl", lines))
    calls = [entry for entry in brief(session) if entry[0] == "call"]
    assert [(entry[2], entry[3]) for entry in calls] == [
        ("shell", '{"command":"make"}'),
        ("file_change", '{"changes":[{"path":"a","kind":"add"}]}'),
        ("s.t", '{"q":1}'),
        ("s.t", ""),
        ("web_search", '{"query":"cats"}'),
        ("spawn_agent", '{"prompt":"p"}'),
        ("shell", '{"command":"make"}'),
        ("shell", '{"command":"make"}'),
    ]
    results = [entry for entry in brief(session) if entry[0] == "result"]
    assert [entry[1:5] for entry in results] == [
        ("i1", "", "rejected", None),
        ("i2", "", "ok", None),
        ("i3", "42", "ok", None),
        ("i4", "no", "error", None),
        ("i5", "", "ok", None),
        ("i6", "", "ok", None),
        ("i7", "runs", "ok", None),
    ]
    assert [entry.child for entry in session.entries if getattr(entry, "child", None)] == ["th-2"]
    assert ("note", "slow network", 10) in brief(session)
    counts = session.counts()
    assert (counts.calls, counts.results, counts.errors, counts.rejections) == (8, 7, 1, 1)


def test_failure_is_said_once(tmp_path):
    lines = [
        START, TURN, {"type": "error", "message": "overloaded"},
        {"type": "turn.failed", "error": {"message": "overloaded"}},
    ]  # fmt: skip
    assert brief(read_one(lines_file(tmp_path / "o", lines))) == [("api_error", "overloaded", 3)]


def test_pitfall_11_threads_in_one_file_codex_exec(tmp_path):
    """A resumed thread goes on, its items numbered anew; another thread is another session."""
    done = {"status": "completed", "exit_code": 0, "aggregated_output": "x"}
    lines = [
        START, TURN, ran("i1", **done),
        START, TURN, ran("i1", **done),
        START | {"thread_id": "th-2"}, TURN, ran("i1", **done),
    ]  # fmt: skip
    first, second = read_all(lines_file(tmp_path / "out.jsonl", lines))
    assert (first.id, second.id) == ("th-1", "th-2")
    assert [entry[1] for entry in brief(first)] == ["i1", "i1", "2-i1", "2-i1"]
    assert (first.counts().results, second.counts().results) == (2, 1)


def test_unknown_items(tmp_path):
    lines = [START, item("a", "hologram"), item("b", "hologram"), {"type": "thread.paused"}]
    session = read_one(lines_file(tmp_path / "out.jsonl", lines))
    assert [(w.line, w.reason, w.lost) for w in session.warnings] == [
        (2, "unknown item type 'hologram'", False),
        (4, "unknown event type 'thread.paused'", False),
    ]


def test_hostile_shapes(tmp_path):
    value = [
        START,
        ran("i1", aggregated_output="x", exit_code=1, status="failed", error={"message": "m"}),
        item("i2", "mcp_tool_call", server="s", tool="t", arguments={}, result={"content": [1]}),
        item("i3", "collab_tool_call", receiver_thread_ids=["t"]),
        {"type": "turn.failed", "error": {"message": "m"}},
    ]
    path = tmp_path / "out.jsonl"
    for odd in bent(value):
        lines_file(path, odd)
        with Source(path) as source:
            assert len(list(read_lines(source))) == 1
