"""Copilot CLI: one event a line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentlearn.sessions.copilot import read_lines
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, lines_file, read_all, read_one, sample


def events(*pairs: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {
            "type": kind,
            "data": data,
            "id": f"e{number}",
            "parentId": f"e{number - 1}" if number > 1 else None,
            "timestamp": f"2026-11-01T09:00:{number:02}Z",
        }
        for number, (kind, data) in enumerate(pairs, start=1)
    ]


START = (
    "session.start",
    {
        "sessionId": "p-1",
        "copilotVersion": "1.0.77",
        "startTime": "2026-11-01T08:59:59Z",
        "context": {"cwd": "/w", "branch": "main"},
    },
)


def asked(message: str, *calls: tuple[str, Any], words: str = "", **more: Any) -> Any:
    requests = [{"toolCallId": id, "name": "bash", "arguments": given} for id, given in calls]
    data = {"messageId": message, "model": "m", "content": words, "toolRequests": requests}
    return ("assistant.message", data | more)


def done(id: str, text: str, success: bool = True, **more: Any) -> Any:
    data = {"toolCallId": id, "success": success, "result": {"content": text}}
    return ("tool.execution_complete", data | more)


def test_events(tmp_path):
    lines = events(
        START,
        ("session.model_change", {"newModel": "first-model"}),
        ("system.message", {"content": "You are Copilot", "role": "system"}),
        ("hook.start", {"hookType": "preToolUse", "input": {"toolName": "bash"}}),
        ("user.message", {"content": "run", "transformedContent": "<now/>run<system_reminder/>"}),
        ("assistant.turn_start", {"turnId": "0"}),
        asked("m1", ("c1", {"command": "a"}), ("c2", '{"command":"b"}'), words="Both."),
        ("tool.execution_start", {"toolCallId": "c1", "toolName": "bash", "arguments": {}}),
        done("c2", "two\n<shellId: 1 completed with exit code 0>"),
        done("c1", "one"),
        ("assistant.reasoning", {"content": "hidden"}),
        asked("m2", words="Done."),
        ("session.shutdown", {"shutdownType": "routine"}),
    )
    session = read_one(lines_file(tmp_path / "events.jsonl", lines))
    assert (session.id, session.dialect, session.agent) == ("p-1", "copilot-cli", "copilot-cli")
    assert (session.model, session.version, session.cwd) == ("m", "1.0.77", "/w")
    assert (session.goal, session.metadata) == ("run", {"branch": "main"})
    assert session.started_at == "2026-11-01T08:59:59Z"
    assert session.ended_at == "2026-11-01T09:00:13Z"
    assert brief(session) == [
        ("user", "run", 5),
        ("assistant", "Both.", 7),
        ("call", "c1", "bash", '{"command":"a"}', 7),
        ("call", "c2", "bash", '{"command":"b"}', 7),
        ("result", "c2", "two\n<shellId: 1 completed with exit code 0>", "ok", 0, 9),
        ("result", "c1", "one", "ok", None, 10),
        ("assistant", "Done.", 12),
    ]
    assert [turn.lines for turn in session.turns()] == [(7, 10), (7, 9), (12, 12)]
    assert [turn.observation[:3] for turn in session.turns()] == ["one", "two", ""]
    assert session.warnings == []


def test_pitfall_14_success_with_exit_code_copilot(tmp_path):
    older = "log: completed with exit code 0>\n"
    lines = events(
        START,
        asked("m1", ("c1", {}), ("c2", {}), ("c3", {})),
        done("c1", older + "x" * 2000 + "\n<shellId: 0 completed with exit code 1>"),
        done(
            "c2", "", success=False, result=None, error={"message": "no such id", "code": "failure"}
        ),
        done("c3", "<command with shellId: 4 is still running after 30 seconds.>"),
    )
    session = read_one(lines_file(tmp_path / "events.jsonl", lines))
    results = [entry for entry in session.entries if hasattr(entry, "exit_code")]
    assert [(r.status, r.exit_code) for r in results] == [("ok", 1), ("error", None), ("ok", None)]
    assert results[1].text == "no such id"
    assert session.counts().errors == 2


def test_pitfall_07_denied_by_the_person_copilot(tmp_path):
    lines = events(
        START,
        asked("m1", ("c1", {}), ("c2", {}), ("c3", {}), ("c4", {})),
        ("permission.requested", {"requestId": "r1", "permissionRequest": {"toolCallId": "c1"}}),
        ("permission.completed", {"requestId": "r1", "toolCallId": "c1", "result": {
            "kind": "denied-interactively-by-user", "feedback": "use make"}}),
        done("c1", "", False, result=None, error={"message": "The user rejected this tool call."}),
        done("c2", "", False, result=None, error={"message": "Rejected. User feedback: not here",
                                                  "code": "rejected"}),
        ("permission.completed", {"toolCallId": "c3", "result": {"kind": "denied-by-rules"}}),
        done("c3", "", False, result=None, error={"message": "Denied by rule"}),
        ("permission.completed", {"toolCallId": "c4", "result": {"kind": "approved"}}),
        done("c4", "fine"),
        ("abort", {"reason": "user_initiated"}),
        ("abort", {"reason": "user_initiated"}),
    )  # fmt: skip
    session = read_one(lines_file(tmp_path / "events.jsonl", lines))
    kept = [entry for entry in brief(session) if entry[0] != "call"]
    assert kept == [
        ("result", "c1", "The user rejected this tool call.", "rejected", None, 5),
        ("rejection", "use make", 5),
        ("result", "c2", "Rejected. User feedback: not here", "rejected", None, 6),
        ("rejection", "not here", 6),
        ("result", "c3", "Denied by rule", "error", None, 8),
        ("result", "c4", "fine", "ok", None, 10),
        ("interruption", "", 11),
    ]
    counts = session.counts()
    assert (counts.rejections, counts.errors, counts.interruptions) == (2, 1, 1)


def test_what_happened_to_the_session(tmp_path):
    lines = events(
        START,
        ("session.error", {"errorType": "query", "message": "overloaded"}),
        ("session.truncation", {"tokenLimit": 1}),
        ("session.compaction_start", {}),
        ("session.compaction_complete", {"summaryContent": "We did this."}),
        ("system.notification", {"content": "A shell has completed"}),
        ("user.message", {"content": "# A skill", "source": "skill-pdf"}),
        ("session.title_changed", {"title": "Tests"}),
        ("galaxy.formed", {}),
        ("galaxy.formed", {}),
    )
    session = read_one(lines_file(tmp_path / "events.jsonl", lines))
    assert brief(session) == [
        ("api_error", "overloaded", 2),
        ("compaction", "", 3),
        ("compaction", "", 5),
        ("system", "We did this.", 5),
        ("system", "A shell has completed", 6),
        ("system", "# A skill", 7),
    ]
    assert session.metadata["title"] == "Tests"
    assert [(w.line, w.reason, w.lost) for w in session.warnings] == [
        (9, "unknown event type 'galaxy.formed'", False)
    ]


def test_sub_agent_is_a_session_of_its_own(tmp_path):
    lines = events(
        START,
        ("user.message", {"content": "find it"}),
        asked("m1", ("t1", {"prompt": "look for it", "agent_type": "explore"})),
        ("subagent.started", {"toolCallId": "t1", "agentName": "explore"}),
        asked("s1", ("x1", {"command": "grep"}), parentToolCallId="t1"),
        done("x1", "found", parentToolCallId="t1"),
        ("subagent.completed", {"toolCallId": "t1"}),
        done("t1", "it is here"),
    )
    main, child = read_all(lines_file(tmp_path / "events.jsonl", lines))
    assert [entry[:2] for entry in brief(main)] == [
        ("user", "find it"), ("call", "t1"), ("result", "t1"),
    ]  # fmt: skip
    assert main.entries[2].child == child.id == "t1"
    assert (child.parent, child.goal, child.cwd) == ("p-1", "look for it", "/w")
    assert [entry[:2] for entry in brief(child)] == [("call", "x1"), ("result", "x1")]


def test_pitfall_10_prompt_on_an_earlier_event_copilot(tmp_path):
    lines = events(
        START,
        ("user.message", {"content": "one"}),
        asked("m1", words="done"),
        ("user.message", {"content": "two"}),
        asked("m2", ("c1", {})),
        ("user.message", {"content": "three"}),
    )
    lines[5]["parentId"] = "e3"
    session = read_one(lines_file(tmp_path / "events.jsonl", lines))
    assert [entry[:2] for entry in brief(session)] == [
        ("user", "one"), ("assistant", "done"), ("user", "two"), ("call", "c1"),
        ("rollback", 2), ("user", "three"),
    ]  # fmt: skip


def test_call_that_is_only_said_to_start(tmp_path):
    start = {"toolCallId": "c1", "toolName": "view", "arguments": {"path": "x"}}
    session = read_one(lines_file(tmp_path / "e", events(START, ("tool.execution_start", start))))
    assert brief(session) == [("call", "c1", "view", '{"path":"x"}', 2)]


def test_hostile_shapes(tmp_path):
    value = events(
        START,
        ("user.message", {"content": "a", "source": "b"}),
        asked("m1", ("c1", {"prompt": "p"}), words="w"),
        ("permission.completed", {"toolCallId": "c1", "result": {"kind": "k", "feedback": "f"}}),
        done("c1", "x", error={"message": "m", "code": "rejected"}),
        asked("m2", ("c2", {}), parentToolCallId="c1"),
    )
    path = tmp_path / "events.jsonl"
    for odd in bent(value):
        lines_file(path, odd)
        with Source(path) as source:
            assert 1 <= len(list(read_lines(source))) <= 2


@pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")
def test_sample():
    path = sample("copilot-cli/EntityProcess__agentv__26_9e1b9e5502_0_full.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    finished = [line["data"] for line in lines if line["type"] == "tool.execution_complete"]
    session = read_one(path)
    counts = session.counts()
    assert (counts.calls, counts.results) == (len(finished), len(finished))
    assert counts.errors == 1 + 2  # one misused tool, two commands that failed as a `success`
    assert sum(not data["success"] for data in finished) == 1
