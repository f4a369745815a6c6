"""Kimi's wire files, of today and of old."""

from __future__ import annotations

from typing import Any

import pytest

from agentlearn.sessions.kimi import read_lines
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, lines_file, read_one, sample

META = {"type": "metadata", "protocol_version": "1.4", "created_at": 1793000000000}
OLD = {"type": "metadata", "protocol_version": "1.3"}
AT = 1793000001000


def prompt(text: str, kind: str = "turn.prompt", origin: str = "user") -> dict[str, Any]:
    words = [{"type": "text", "text": text}]
    return {"type": kind, "input": words, "origin": {"kind": origin}, "time": AT}


def appended(role: str, text: str, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": [{"type": "text", "text": text}], "toolCalls": [], **more}
    return {"type": "context.append_message", "message": message, "time": AT}


def loop(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "context.append_loop_event", "event": {"type": kind, **more}, "time": AT}


def part(text: str, kind: str = "text") -> dict[str, Any]:
    return loop("content.part", part={"type": kind, kind: text}, stepUuid="s1")


def call(id: str) -> dict[str, Any]:
    return loop("tool.call", toolCallId=id, name="Bash", args={"command": "make"}, stepUuid="s1")


def result(id: str, output: Any, **more: Any) -> dict[str, Any]:
    return loop("tool.result", toolCallId=id, result={"output": output, **more})


def decided(id: str, decision: str, **more: Any) -> dict[str, Any]:
    record = {"type": "permission.record_approval_result", "toolCallId": id, "time": AT}
    return record | {"result": {"decision": decision, **more}}


def test_session(tmp_path):
    lines = [
        META,
        {"type": "config.update", "modelAlias": "moonshot/k2"},
        {"type": "profile.bind", "environmentDisclosure": {"cwd": "/w"}},
        prompt("run the tests"),
        appended("user", "run the tests", origin={"kind": "user"}),
        loop("step.begin", uuid="s1", turnId="0", step=1),
        {"type": "llm.request", "model": "kimi-k2", "modelAlias": "moonshot/k2"},
        part("hm", "think"),
        part("Running."),
        call("c1"),
        result("c1", "1 failed", isError=True),
        loop("step.end", uuid="s1", finishReason="tool_use"),
    ]
    session = read_one(lines_file(tmp_path / "w.jsonl", lines))
    assert (session.dialect, session.agent, session.model) == ("kimi", "kimi-cli", "kimi-k2")
    assert (session.cwd, session.goal) == ("/w", "run the tests")
    assert session.started_at == "2026-10-26T07:33:20.000Z"
    assert session.ended_at == "2026-10-26T07:33:21.000Z"
    assert brief(session) == [
        ("user", "run the tests", 4),
        ("assistant", "Running.", 9),
        ("call", "c1", "Bash", '{"command":"make"}', 10),
        ("result", "c1", "1 failed", "error", None, 11),
    ]
    assert [turn.lines for turn in session.turns()] == [(9, 11)]
    assert session.warnings == []


def test_typed_while_the_agent_works_is_said_once(tmp_path):
    lines = [
        META,
        prompt("hi"),
        appended("user", "hi"),
        prompt("stop", "turn.steer"),
        {"type": "turn.cancel", "time": AT},
        prompt("hi"),
        appended("user", "hi"),
        appended("user", "stop"),
        appended("user", "a reminder", origin={"kind": "injection"}),
        prompt("cron fired", origin="system_trigger"),
    ]
    session = read_one(lines_file(tmp_path / "w.jsonl", lines))
    assert brief(session) == [
        ("user", "hi", 2),
        ("user", "stop", 4),
        ("interruption", "", 5),
        ("user", "hi", 6),
        ("system", "a reminder", 9),
        ("system", "cron fired", 10),
    ]


def test_pitfall_10_undo_kimi(tmp_path):
    lines = [META, prompt("one"), part("a"), prompt("two"), part("b"), prompt("three"), part("c"),
             {"type": "context.undo", "count": 2}, prompt("four")]  # fmt: skip
    session = read_one(lines_file(tmp_path / "w.jsonl", lines))
    assert brief(session)[6:] == [("rollback", 4, 8), ("user", "four", 9)]
    assert [turn.undone for turn in session.turns()] == [0, 2]


def test_pitfall_07_rejection_kimi(tmp_path):
    lines = [
        META,
        call("c1"),
        decided("c1", "rejected", feedback="not on main"),
        result("c1", "Tool call rejected", isError=True),
        call("c2"),
        decided("c2", "approved"),
        result("c2", [{"type": "text", "text": "fine"}]),
        {"type": "context.apply_compaction", "summary": "we tried", "time": AT},
        {"type": "hologram.formed"},
    ]
    session = read_one(lines_file(tmp_path / "w.jsonl", lines))
    kept = [entry for entry in brief(session) if entry[0] != "call"]
    assert kept == [
        ("result", "c1", "Tool call rejected", "rejected", None, 4),
        ("rejection", "not on main", 4),
        ("result", "c2", "fine", "ok", None, 7),
        ("compaction", "", 8),
        ("system", "we tried", 8),
    ]
    assert [warning.reason for warning in session.warnings] == [
        "unknown record type 'hologram.formed'"
    ]


def test_messages_of_a_forked_context(tmp_path):
    calls = [{"id": "c1", "function": {"name": "Read", "arguments": '{"path":"x"}'}}]
    lines = [
        META,
        appended("user", "look"),
        appended("assistant", "Yes.", toolCalls=calls),
        appended("tool", "text of x", toolCallId="c1"),
    ]
    session = read_one(lines_file(tmp_path / "w.jsonl", lines))
    assert brief(session) == [
        ("user", "look", 2),
        ("assistant", "Yes.", 3),
        ("call", "c1", "Read", '{"path":"x"}', 3),
        ("result", "c1", "text of x", "ok", None, 4),
    ]


def old(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": 1793000001.5, "message": {"type": kind, "payload": payload}}


def test_older_files(tmp_path):
    lines = [
        OLD,
        old("TurnBegin", user_input=[{"type": "text", "text": "list"}]),
        old("StepBegin", n=1),
        old("ContentPart", type="think", think="hm"),
        old("ContentPart", type="text", text="Listing."),
        old("ToolCall", id="c1", function={"name": "Shell", "arguments": ""}),
        old("ToolCallPart", arguments_part='{"command":'),
        old("ToolCallPart", arguments_part='"ls"}'),
        old("ApprovalRequest", id="r1", tool_call_id="c1"),
        old("ApprovalRequestResolved", request_id="r1", response="reject"),
        old("ToolResult", tool_call_id="c1", return_value={"is_error": True, "message": "no"}),
        old("StepInterrupted"),
        old("ToolCall", id="c2", function={"name": "Shell", "arguments": "{}"}),
    ]
    session = read_one(lines_file(tmp_path / "w.jsonl", lines))
    assert brief(session) == [
        ("user", "list", 2),
        ("assistant", "Listing.", 5),
        ("call", "c1", "Shell", '{"command":"ls"}', 6),
        ("result", "c1", "no", "rejected", None, 11),
        ("interruption", "", 12),
        ("call", "c2", "Shell", "{}", 13),
    ]
    assert session.entries[0].at == "2026-10-26T07:33:21.500Z"


def test_ids_come_from_the_folders(tmp_path):
    lines = [META, prompt("hi")]
    agents = tmp_path / "session_9" / "agents"
    main = read_one(lines_file(agents / "main" / "wire.jsonl", lines))
    child = read_one(lines_file(agents / "agent-1" / "wire.jsonl", lines))
    older = read_one(lines_file(tmp_path / "older_9" / "wire.jsonl", lines))
    assert (main.id, main.parent) == ("session_9", None)
    assert (child.id, child.parent) == ("session_9-agent-1", "session_9")
    assert (older.id, older.parent) == ("older_9", None)


def test_hostile_shapes(tmp_path):
    calls = [{"id": "c9", "function": {"name": "Read", "arguments": "{}"}}]
    value = [META, prompt("a"), appended("assistant", "b", toolCalls=calls), part("x"), call("c1"),
             decided("c1", "rejected", feedback="f"), result("c1", "x", isError=True),
             {"type": "context.undo", "count": 1},
             old("ToolCall", id="c2", function={"name": "Shell", "arguments": ""}),
             old("ToolCallPart", arguments_part="{}"),
             old("ToolResult", tool_call_id="c2", return_value={"output": "x"})]  # fmt: skip
    path = tmp_path / "w.jsonl"
    for odd in bent(value):
        lines_file(path, odd)
        with Source(path) as source:
            assert len(list(read_lines(source))) == 1


@pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")
def test_sample():
    session = read_one(sample("others/jazzyalex__agent-sessions__kimi_small.jsonl"))
    assert [entry[0] for entry in brief(session)] == [
        "user", "user", "interruption", "user", "interruption",
    ]  # fmt: skip
    assert session.warnings == []
