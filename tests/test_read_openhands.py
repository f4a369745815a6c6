"""OpenHands: events of V1 and V0, and the runs of an evaluation."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from agentlearn.sessions.openhands import read_document, read_lines
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, document_file, lines_file, read_all, read_one, sample


def file_id_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def event(kind: str, source: str = "environment", **more: Any) -> dict[str, Any]:
    base = {"id": f"e-{kind}", "timestamp": "2026-11-01T09:00:00", "source": source, "kind": kind}
    return base | more


def message(source: str, text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return event("MessageEvent", source, llm_message={"role": source, "content": content})


def action(id: str, response: str, words: str = "", **given: Any) -> dict[str, Any]:
    thought = [{"type": "text", "text": words}] if words else []
    return event(
        "ActionEvent", "agent", thought=thought, action=given | {"kind": "TerminalAction"},
        tool_name="terminal", tool_call_id=id, llm_response_id=response,
    )  # fmt: skip


def seen(id: str, text: str, code: int | None, error: bool = False, **more: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    inside = {
        "content": content,
        "is_error": error,
        "exit_code": code,
        "kind": "TerminalObservation",
    }
    return event(
        "ObservationEvent", tool_name="terminal", tool_call_id=id, observation=inside | more
    )


def read_events(tmp_path: Path, *events: dict[str, Any]) -> list[tuple[Any, ...]]:
    return brief(read_one(lines_file(tmp_path / "events.jsonl", list(events))))


def test_events_of_v1(tmp_path):
    events = [
        event("SystemPromptEvent", "agent", system_prompt={"type": "text", "text": "You are OH."}),
        message("user", "run the tests"),
        action("c1", "r1", "I run them.", command="make"),
        action("c2", "r1", command="ls"),
        seen("c2", "a.py", 0),
        seen("c1", "1 failed", 2),
        message("agent", "One fails."),
    ]
    path = lines_file(tmp_path / "events.jsonl", events)
    session = read_one(path)
    assert (session.id, session.dialect) == (file_id_of(path), "openhands")
    assert (session.unit, session.started_at) == ("line", "2026-11-01T09:00:00")
    assert brief(session) == [
        ("system", "You are OH.", 1),
        ("user", "run the tests", 2),
        ("assistant", "I run them.", 3),
        ("call", "c1", "terminal", '{"command":"make"}', 3),
        ("call", "c2", "terminal", '{"command":"ls"}', 4),
        ("result", "c2", "a.py", "ok", 0, 5),
        ("result", "c1", "1 failed", "ok", 2, 6),
        ("assistant", "One fails.", 7),
    ]
    assert {entry.step for entry in session.entries[2:5]} == {"r1"}
    listed = read_one(document_file(tmp_path / "events.json", events))
    assert brief(listed) == brief(session)
    assert (listed.unit, len(listed.raws)) == ("entry", 7)


def test_pitfall_14_ok_flag_beside_a_failing_exit_code_openhands(tmp_path):
    entries = [
        message("user", "x"),
        action("c1", "r1", command="a"),
        seen("c1", "no", 1),
        action("c2", "r2", command="b"),
        seen("c2", "still going", -1),
        action("c3", "r3", command="c"),
        seen("c3", "bad input", None, error=True, metadata={"exit_code": -1}),
        action("c4", "r4", command="d"),
        seen("c4", "x", None, metadata={"exit_code": 3}),
    ]
    session = read_one(lines_file(tmp_path / "e.jsonl", entries))
    results = [entry for entry in brief(session) if entry[0] == "result"]
    assert [entry[3:5] for entry in results] == [
        ("ok", 1), ("ok", None), ("error", None), ("ok", 3),
    ]  # fmt: skip
    assert session.counts().errors == 3


def test_the_arguments_as_the_model_wrote_them(tmp_path):
    written = {"id": "c1", "name": "terminal", "arguments": '{"command": "ls", "why": "see"}'}
    entries = read_events(tmp_path, action("c1", "r", command="ls") | {"tool_call": written})
    assert entries[0][3] == '{"command": "ls", "why": "see"}'


def test_reasoning_inside_the_words_is_not_kept(tmp_path):
    entries = read_events(
        tmp_path, action("c1", "r", "<think>hm\n</think>\n\nI look.", command="ls")
    )
    assert entries[0] == ("assistant", "I look.", 1)


def test_what_the_person_did(tmp_path):
    def reject(id: str, reason: str, by: str) -> dict[str, Any]:
        return event("UserRejectObservation", tool_call_id=id, rejection_reason=reason,
                     rejection_source=by)  # fmt: skip

    entries = read_events(
        tmp_path,
        message("user", "go"),
        action("c1", "r1", command="rm"),
        reject("c1", "keep it", "user"),
        action("c2", "r2", command="rm"),
        reject("c2", "User rejected the action", "user"),
        action("c3", "r3", command="rm"),
        reject("c3", "blocked by policy", "hook"),
        event("PauseEvent", "user"),
        action("c4", "r4", command="x"),
        event("AgentErrorEvent", "agent", tool_call_id="c4", error="no such tool"),
    )
    assert [entry for entry in entries if entry[0] != "call"][1:] == [
        ("result", "c1", "keep it", "rejected", None, 3),
        ("rejection", "keep it", 3),
        ("result", "c2", "User rejected the action", "rejected", None, 5),
        ("result", "c3", "blocked by policy", "error", None, 7),
        ("interruption", "", 8),
        ("result", "c4", "no such tool", "error", None, 10),
    ]


def test_compaction_errors_and_what_is_left_out(tmp_path):
    path = lines_file(
        tmp_path / "e.jsonl",
        [
            event("Condensation", summary="so far: nothing"),
            event("CondensationRequest"),
            event("StreamingDeltaEvent", content="x"),
            event("ConversationErrorEvent", detail="429"),
            event("NewEvent"),
            event("NewEvent"),
            message("hook", "be careful"),
        ],
    )
    session = read_one(path)
    assert brief(session) == [
        ("compaction", "", 1),
        ("system", "so far: nothing", 1),
        ("api_error", "429", 4),
        ("system", "be careful", 7),
    ]
    assert [(w.line, w.reason, w.lost) for w in session.warnings] == [
        (5, "unknown event kind 'NewEvent'", False)
    ]


def test_finished_proves_nothing_and_stuck_is_aborted(tmp_path):
    def read_status(status: str) -> tuple[str, str | None]:
        state = event("ConversationStateUpdateEvent", key="execution_status", value=status)
        session = read_one(lines_file(tmp_path / "e.jsonl", [message("user", "x"), state]))
        assert session.metadata == {"execution_status": status}
        return session.outcome, session.reason

    assert read_status("finished") == ("unknown", None)
    assert read_status("stuck") == ("aborted", "stuck")


def test_the_state_of_the_conversation(tmp_path):
    state = {
        "id": "conv-1",
        "agent": {"llm": {"model": "m-1", "api_key": "**********"}},
        "workspace": {"working_dir": "/w"},
        "execution_status": "error",
    }
    inside = event("ConversationStateUpdateEvent", key="full_state", value=state)
    first = read_one(lines_file(tmp_path / "a" / "e.jsonl", [message("user", "x"), inside]))
    path = lines_file(tmp_path / "b" / "e.jsonl", [message("user", "x")])
    document_file(tmp_path / "b" / "base_state.json", state)
    for session in (first, read_one(path)):
        assert (session.id, session.model, session.cwd) == ("conv-1", "m-1", "/w")
        assert (session.outcome, session.reason) == ("aborted", "error")


def old(number: int, source: str, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "timestamp": "2026-11-01T09:00:00",
        "source": source,
        "message": "m",
    } | more


def about(id: str) -> dict[str, Any]:
    response = {"id": f"r-{id}", "model": "m-1", "choices": [{"message": {"content": "again"}}]}
    return {"function_name": "execute_bash", "tool_call_id": id, "model_response": response}


V0 = [
    old(0, "agent", action="system", args={"content": "You are OH.", "tools": []}),
    old(1, "user", action="message", args={"content": "run the tests"}),
    old(2, "user", action="recall", args={"query": "run the tests"}),
    old(3, "environment", observation="recall", content="Added context", cause=2, extras={}),
    old(4, "agent", action="run", args={"command": "make", "thought": "I run.", "hidden": False},
        tool_call_metadata=about("c1")),
    old(5, "agent", observation="run", content="1 failed", cause=4, success=False,
        extras={"metadata": {"exit_code": 2}}, tool_call_metadata=about("c1")),
    old(6, "agent", action="read", args={"path": "a.py"}),
    old(8, "agent", action="read", args={"path": "b.py"}),
    old(9, "agent", observation="read", content="b", cause=8, extras={}),
    old(10, "agent", observation="error", content="no a.py", cause=6, extras={}),
    old(11, "agent", action="run", args={"command": "rm -r ."}),
    old(12, "user", observation="user_rejected", content="User rejected", cause=11, extras={}),
    old(13, "user", action="change_agent_state", args={"agent_state": "stopped"}),
    old(14, "environment", observation="agent_state_changed", content="",
        extras={"agent_state": "error", "reason": "budget"}),
    old(15, "user", action="message", args={"content": "Please continue working on the task."}),
    old(16, "agent", action="message", args={"content": "Sorry."}),
    old(17, "agent", action="condensation", args={"summary": "short"}),
    old(18, "agent", action="finish", args={"final_thought": "done", "outputs": {}}),
]  # fmt: skip


def test_events_of_v0(tmp_path):
    session = read_one(document_file(tmp_path / "t.json", V0))
    assert brief(session) == [
        ("system", "You are OH.", 1),
        ("user", "run the tests", 2),
        ("assistant", "I run.", 5),
        ("call", "c1", "execute_bash", '{"command":"make"}', 5),
        ("result", "c1", "1 failed", "ok", 2, 6),
        ("call", "event-6", "read", '{"path":"a.py"}', 7),
        ("call", "event-8", "read", '{"path":"b.py"}', 8),
        ("result", "event-8", "b", "ok", None, 9),
        ("result", "event-6", "no a.py", "error", None, 10),
        ("call", "event-11", "run", '{"command":"rm -r ."}', 11),
        ("result", "event-11", "User rejected", "rejected", None, 12),
        ("interruption", "", 13),
        ("api_error", "budget", 14),
        ("system", "Please continue working on the task.", 15),
        ("assistant", "Sorry.", 16),
        ("compaction", "", 17),
        ("system", "short", 17),
        ("call", "event-18", "finish", '{"final_thought":"done"}', 18),
    ]
    assert (session.model, session.outcome, len(session.raws)) == ("m-1", "unknown", 18)
    assert session.entries[2].step == session.entries[3].step == "r-c1"
    wrapped = read_one(document_file(tmp_path / "w.json", {"trajectory": V0}))
    assert brief(wrapped) == brief(session)
    lines = read_one(lines_file(tmp_path / "t.jsonl", V0))
    assert (brief(lines), lines.unit) == (brief(session), "line")


def instance(name: str, history: list[Any], **more: Any) -> dict[str, Any]:
    settings = {"llm_config": {"model": "m-2"}}
    return {
        "instance_id": name,
        "instruction": "fix it",
        "metadata": settings,
        "history": history,
    } | more


FLAT = [
    {"action": "message", "content": "fix it"},
    {"action": "run", "command": "ls", "thought": "I look.", "is_confirmed": "confirmed"},
    {"observation": "run", "content": "a.py", "command": "ls", "exit_code": 1},
    {"action": "finish", "outputs": {}, "thought": "Done."},
]


def test_runs_of_an_evaluation(tmp_path):
    pairs = [[FLAT[0], {"observation": "null", "content": ""}], [FLAT[1], FLAT[2]]]
    path = lines_file(
        tmp_path / "output.jsonl",
        [
            instance("a", FLAT, test_result={"git_patch": "x", "report": {"resolved": True}}),
            instance("b", pairs, test_result={"git_patch": "x"}, success=True, error="max\nmore"),
            {"issue": {"owner": "o", "repo": "r", "number": 5}, "history": FLAT, "success": True},
            instance("d", V0, report={"resolved": False}, error="late"),
        ],
    )
    first, second, third, fourth = read_all(path)
    file_id = file_id_of(path)
    assert [s.id for s in (first, second, third, fourth)] == [
        f"{file_id}-{n}" for n in (1, 2, 3, 4)
    ]
    assert brief(first) == [
        ("user", "fix it", 1),
        ("assistant", "I look.", 1),
        ("call", "call-2", "run", '{"command":"ls"}', 1),
        ("result", "call-2", "a.py", "ok", 1, 1),
        ("assistant", "Done.", 1),
        ("call", "call-5", "finish", "{}", 1),
        ("verdict", "test report: resolved", 1),
    ]
    assert (first.outcome, first.model, first.metadata) == ("success", "m-2", {"task": "a"})
    assert [turn.action for turn in first.turns()] == [
        'I look.\nrun {"command":"ls"}', "Done.\nfinish {}",
    ]  # fmt: skip
    assert brief(second) == [(*entry[:-1], 2) for entry in brief(first)[:4]]
    assert (second.outcome, second.reason) == ("aborted", "max")
    assert (third.outcome, third.metadata) == ("unknown", {"task": "o/r#5"})
    assert (fourth.outcome, fourth.reason, fourth.model) == ("failure", None, "m-1")


def test_a_file_with_one_run(tmp_path):
    path = lines_file(tmp_path / "output.jsonl", [instance("a", FLAT)])
    session = read_one(path)
    assert (session.dialect, session.id) == ("openhands", file_id_of(path))
    assert (session.unit, len(session.raws), session.counts().calls) == ("entry", 4, 2)


def test_broken_lines_are_told(tmp_path):
    path = lines_file(tmp_path / "e.jsonl", [message("user", "x"), message("agent", "y")])
    path.write_text(path.read_text() + '{"kind": "Mess')
    session = read_one(path)
    assert (len(session.entries), session.warnings[0].line) == (2, 3)


@pytest.mark.slow
def test_hostile_shapes(tmp_path):
    path = tmp_path / "x"
    v1 = [
        message("user", "x"),
        action("c1", "r1", "w", command="ls") | {"tool_call": {"arguments": "{}"}},
        seen("c1", "y", 1, metadata={"exit_code": 1}),
        event("UserRejectObservation", tool_call_id="c", rejection_reason="n"),
        event("ConversationStateUpdateEvent", key="full_state", value={"agent": {"llm": {}}}),
        event("ConversationStateUpdateEvent", key="stats",
              value={"usage_to_metrics": {"d": {"model_name": "m"}}}),
        event("Condensation", summary="s"),
    ]  # fmt: skip
    runs = [instance("a", FLAT, test_result={"report": {"resolved": True}}, issue={"owner": "o"})]
    for value in (v1, V0[4:8], V0[10:], runs):
        for odd in bent(value):
            document_file(path, odd)
            with Source(path) as source:
                assert len(list(read_document(source))) == 1
            lines_file(path, odd)
            with Source(path) as source:
                assert len(list(read_lines(source))) == 1
    for odd in bent(runs[0]):
        document_file(path, odd)
        with Source(path) as source:
            assert len(list(read_document(source))) == 1


@pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")
def test_samples():
    v1 = read_one(sample("openhands/OpenHands__software-agent-sdk__events.jsonl"))
    assert (v1.counts().calls, v1.counts().results, v1.counts().errors) == (2, 2, 2)
    v0 = read_one(sample("openhands/15735640198__harbor__openhands_trajectory.json"))
    assert (v0.counts().messages, v0.counts().calls, v0.counts().results) == (2, 2, 1)
    runs = read_all(sample("openhands/OpenHands__OpenHands__mock_output_output.jsonl"))
    assert [(s.counts().calls, s.counts().results, s.outcome) for s in runs] == [
        (4, 3, "unknown"), (22, 21, "unknown"),
    ]  # fmt: skip
    assert [session.warnings for session in (v1, v0, *runs)] == [[], [], [], []]


def test_a_conversation_that_is_a_folder_of_events(tmp_path: Path):
    """The agent keeps an event a file, pretty-printed; the folder is one session."""
    import json

    from typer.testing import CliRunner

    from agentlearn.cli.app import app

    folder = tmp_path / "conversations" / "abc"
    (folder / "events").mkdir(parents=True)
    (folder / "base_state.json").write_text(json.dumps({"id": "abc", "execution_status": "x"}))
    said = {"role": "user", "content": [{"type": "text", "text": "run\nthe tests"}]}
    common = {"timestamp": "2026-11-01T09:00:00"}
    events = [
        {"id": "e1", **common, "source": "user", "llm_message": said, "kind": "MessageEvent"},
        {"id": "e2", **common, "source": "agent", "tool_name": "terminal", "tool_call_id": "c1",
         "action": {"command": "pytest", "kind": "TerminalAction"}, "kind": "ActionEvent"},
        {"id": "e3", **common, "source": "environment", "tool_name": "terminal",
         "tool_call_id": "c1", "action_id": "e2", "kind": "ObservationEvent",
         "observation": {"content": [{"type": "text", "text": "bad"}], "exit_code": 1}},
    ]  # fmt: skip
    for number, each in enumerate(events):
        path = folder / "events" / f"event-{number:05}-{each['id']}.json"
        path.write_text(json.dumps(each, indent=2))
    for name in (folder, folder / "events", tmp_path):
        result = CliRunner().invoke(app, ["sessions", str(name), "--json"])
        assert result.exit_code == 0, result.stderr
        (found,) = json.loads(result.stdout)
        assert (found["id"], found["dialect"]) == ("abc", "openhands")
        assert (found["goal"], found["calls"], found["errors"]) == ("run\nthe tests", 1, 1)


def test_v0_a_result_that_names_only_its_cause(tmp_path):
    meta = {"function_name": "execute_bash", "tool_call_id": "c1"}
    events = [
        {"id": 0, "source": "user", "action": "message", "args": {"content": "go"}},
        {"id": 1, "source": "agent", "action": "run", "args": {"command": "make"},
         "tool_call_metadata": meta},
        {"id": 2, "source": "agent", "observation": "run", "content": "bad", "cause": 1,
         "extras": {"metadata": {"exit_code": 3}}},
    ]  # fmt: skip
    session = read_one(document_file(tmp_path / "v0.json", events))
    assert (session.counts().results, session.counts().errors) == (1, 1)
