"""Qwen Code: the envelope of Claude Code, the parts of Gemini."""

from __future__ import annotations

from typing import Any

import pytest

from agentlearn.sessions.qwen import read_lines
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, lines_file, read_all, read_one, sample


def line(uuid: str, parent: str | None, kind: str, *parts: Any, **more: Any) -> dict[str, Any]:
    return {
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "q-1",
        "timestamp": "2026-11-01T09:00:00Z",
        "type": kind,
        "cwd": "/w",
        "version": "0.21",
        "gitBranch": "main",
        **({"message": {"role": kind, "parts": list(parts)}} if parts else {}),
        **more,
    }


def words(text: str, **more: Any) -> dict[str, Any]:
    return {"text": text, **more}


def call(id: str, name: str = "run_shell_command") -> dict[str, Any]:
    return {"functionCall": {"id": id, "name": name, "args": {"command": "make"}}}


def response(id: str, **value: Any) -> dict[str, Any]:
    return {"functionResponse": {"id": id, "name": "x", "response": value}}


def test_session(tmp_path):
    lines = [
        line("u1", None, "user", words("run the tests")),
        line("u2", "u1", "assistant", words("hm", thought=True)),
        line("u2", "u1", "assistant", words("Running."), call("c1"), model="qwen3"),
        line("u3", "u2", "tool_result", response("c1", output="1 failed\nExit Code: 1\nSignal: 0"),
             toolCallResult={"callId": "c1", "status": "success"}),
        line("u4", "u3", "assistant", words("One fails.")),
    ]  # fmt: skip
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert (session.id, session.dialect, session.agent) == ("q-1", "qwen", "qwen-code")
    assert (session.model, session.version, session.cwd) == ("qwen3", "0.21", "/w")
    assert (session.goal, session.metadata) == ("run the tests", {"branch": "main"})
    assert brief(session) == [
        ("user", "run the tests", 1),
        ("assistant", "Running.", 3),
        ("call", "c1", "run_shell_command", '{"command":"make"}', 3),
        ("result", "c1", "1 failed\nExit Code: 1\nSignal: 0", "ok", 1, 4),
        ("assistant", "One fails.", 5),
    ]
    assert [turn.lines for turn in session.turns()] == [(3, 4), (5, 5)]
    assert session.counts().errors == 1


def test_pitfall_10_rewind_qwen(tmp_path):
    lines = [
        line("u1", None, "user", words("one")),
        line("u2", "u1", "assistant", words("done")),
        line("u3", "u2", "user", words("two")),
        line("u4", "u3", "assistant", call("c1")),
        line("u5", "u2", "system", subtype="rewind", systemPayload={"truncatedCount": 2}),
        line("u6", "u5", "user", words("three")),
        line("u7", "u5", "user", words("four")),
        line("u8", None, "system", subtype="rewind", systemPayload={}),
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert [entry[:2] for entry in brief(session)] == [
        ("user", "one"),
        ("assistant", "done"),
        ("user", "two"),
        ("call", "c1"),
        ("rollback", 2),
        ("user", "three"),
        ("rollback", 1),
        ("user", "four"),
        ("rollback", 8),
    ]


def test_results(tmp_path):
    no = "[Operation Cancelled] Reason: User did not allow tool call"
    lines = [
        line("u1", None, "assistant", call("c1", "edit"), call("c2"), call("c3"), call("c4")),
        line("u2", "u1", "tool_result", response("c1", error="no match"), toolCallResult={
            "callId": "c1", "status": "error"}),
        line("u3", "u2", "tool_result", response("c2", error=no), toolCallResult={
            "callId": "c2", "status": "cancelled"}),
        line("u4", "u3", "tool_result", response("c3", error="broken")),
    ]  # fmt: skip
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    results = [entry for entry in brief(session) if entry[0] == "result"]
    assert [entry[1:4] for entry in results] == [
        ("c1", "no match", "error"),
        ("c2", no, "rejected"),
        ("c3", "broken", "error"),
    ]
    counts = session.counts()
    assert (counts.calls, counts.results, counts.errors, counts.rejections) == (4, 3, 2, 1)


def test_pitfall_06_words_that_no_person_wrote_qwen(tmp_path):
    shown = {"displayText": "look at a.py", "hookContext": ""}
    compressed = {"compressedHistory": [{"role": "user", "parts": [words("we did this")]}]}
    failed = {"uiEvent": {"event.name": "qwen-code.api_error", "error": "429"}}
    lines = [
        line("u1", None, "user", words("look at a.py\ncontents"), systemPayload=shown),
        line("u2", "u1", "user", words("a shell ended"), subtype="notification"),
        line("u3", "u2", "user", words("go on"), provenance="goal_runtime"),
        line("u4", "u3", "user", words("and b.py"), subtype="mid_turn_user_message"),
        line("u5", "u4", "user", words("<system-reminder>x</system-reminder>"), words("typed")),
        line("u6", "u5", "system", subtype="chat_compression", systemPayload=compressed),
        line("u7", "u6", "system", subtype="ui_telemetry", systemPayload=failed),
        line("u8", "u7", "system", subtype="custom_title", systemPayload={"customTitle": "T"}),
        line(
            "u9", "u8", "system", subtype="parent_session", systemPayload={"parentSessionId": "up"}
        ),
        line("v1", "u9", "hologram"),
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert brief(session) == [
        ("user", "look at a.py", 1),
        ("system", "a shell ended", 2),
        ("system", "go on", 3),
        ("user", "and b.py", 4),
        ("user", "typed", 5),
        ("system", "<system-reminder>x</system-reminder>", 5),
        ("compaction", "", 6),
        ("system", "we did this", 6),
        ("api_error", "429", 7),
    ]
    assert (session.parent, session.metadata["title"]) == ("up", "T")
    assert [warning.reason for warning in session.warnings] == ["unknown line type 'hologram'"]


def test_sub_agents(tmp_path):
    side = {"agentId": "explore-7", "isSidechain": True}
    lines = [
        line("u1", None, "user", words("find it")),
        line("s1", None, "user", words("look for it"), **side),
        line("s2", "s1", "assistant", words("Found."), **side),
    ]
    main, child = read_all(lines_file(tmp_path / "s.jsonl", lines))
    assert (main.id, child.id, child.parent) == ("q-1", "explore-7", "q-1")
    assert child.goal == "look for it"
    assert brief(child) == [("system", "look for it", 2), ("assistant", "Found.", 3)]
    path = lines_file(tmp_path / "s.jsonl", lines[1:])
    path.write_text(path.read_text() + '{"uuid":')
    alone = read_one(path)
    assert (alone.id, [warning.line for warning in alone.warnings]) == ("explore-7", [3])


def test_hostile_shapes(tmp_path):
    value = [
        line("u1", None, "user", words("a"), systemPayload={"displayText": "b"}),
        line("u2", "u1", "assistant", call("c1"), isSidechain=False, agentId="x"),
        line("u3", "u2", "tool_result", response("c1", output="x"), toolCallResult={"status": "s"}),
        line("u4", "u1", "system", subtype="rewind", systemPayload={"targetUuid": "u1"}),
        line("u5", "u4", "system", subtype="chat_compression",
             systemPayload={"compressedHistory": [{"parts": [words("x")]}]}),
    ]  # fmt: skip
    path = tmp_path / "s.jsonl"
    for odd in bent(value):
        lines_file(path, odd)
        with Source(path) as source:
            assert 1 <= len(list(read_lines(source))) <= 2


@pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")
def test_sample():
    name = "jazzyalex__agent-sessions__qwen_019f0000-0000-7000-8000-000000000004.jsonl"
    session = read_one(sample(f"others/{name}"))
    assert [turn.undone for turn in session.turns()] == [1, 0]
    assert session.metadata["title"] == "Active branch title"
