"""ATIF trajectories, as Harbor and others write them."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from agentlearn.sessions.atif import read_document
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, document_file, read_all, read_one, sample

AGENT = {"name": "demo", "version": "1.0", "model_name": "m"}


def file_id_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def trajectory(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    numbered = [{"step_id": number} | step for number, step in enumerate(steps, start=1)]
    return {
        "schema_version": "ATIF-v1.8",
        "session_id": "r1",
        "agent": AGENT,
        "steps": numbered,
    } | more


def user(text: Any, **more: Any) -> dict[str, Any]:
    return {"source": "user", "message": text} | more


def agent(text: str, calls: Any = (), results: Any = (), **more: Any) -> dict[str, Any]:
    step: dict[str, Any] = {"source": "agent", "message": text}
    if calls:
        step["tool_calls"] = [
            {"tool_call_id": id, "function_name": name, "arguments": given}
            for id, name, given in calls
        ]
    if results:
        step["observation"] = {"results": list(results)}
    return step | more


def result(text: Any, id: str | None = None, **extra: Any) -> dict[str, Any]:
    named = {"source_call_id": id} if id else {}
    return {"content": text} | named | ({"extra": extra} if extra else {})


def read_steps(tmp_path: Path, *steps: dict[str, Any], **more: Any) -> list[tuple[Any, ...]]:
    return brief(read_one(document_file(tmp_path / "t.json", trajectory(*steps, **more))))


def test_calls_by_id(tmp_path):
    value = trajectory(
        {"source": "system", "message": "You are an agent."},
        user("run the tests", timestamp="2026-11-01T09:00:00Z"),
        agent("I will.", [("c1", "bash", {"cmd": "a"}), ("c2", "bash", {"cmd": "b"})],
              [result("two", "c2"), result("one", "c1")],
              timestamp="2026-11-01T09:00:05Z", reasoning_content="hm"),
        agent("One test fails."),
    )  # fmt: skip
    session = read_one(document_file(tmp_path / "trajectory.json", value))
    assert (session.id, session.dialect, session.unit) == ("r1", "atif", "entry")
    assert (session.agent, session.version, session.model) == ("demo", "1.0", "m")
    assert (session.started_at, session.ended_at) == (
        "2026-11-01T09:00:00Z",
        "2026-11-01T09:00:05Z",
    )
    assert brief(session) == [
        ("system", "You are an agent.", 1),
        ("user", "run the tests", 2),
        ("assistant", "I will.", 3),
        ("call", "c1", "bash", '{"cmd":"a"}', 3),
        ("call", "c2", "bash", '{"cmd":"b"}', 3),
        ("result", "c2", "two", "ok", None, 3),
        ("result", "c1", "one", "ok", None, 3),
        ("assistant", "One test fails.", 4),
    ]
    assert [turn.observation for turn in session.turns()] == ["one", "two", ""]
    assert {entry.step for entry in session.entries[2:5]} == {"3"}
    assert (len(session.raws), session.outcome) == (4, "unknown")


def test_no_id_at_all(tmp_path):
    path = document_file(tmp_path / "t.json", trajectory(user("x"), session_id=None))
    assert read_one(path).id == file_id_of(path)


def test_trajectory_id_comes_before_the_run(tmp_path):
    path = document_file(tmp_path / "t.json", trajectory(user("x"), trajectory_id="t9"))
    assert read_one(path).id == "t9"


def test_results_without_ids_go_by_place_or_to_the_last_call(tmp_path):
    calls = [("c1", "k", {}), ("c2", "k", {})]
    entries = read_steps(
        tmp_path,
        agent("a", calls, [result("one"), result("two")]),
        agent("b", [("c3", "k", {}), ("c4", "k", {})], [result("screen")]),
        agent("c", [("c5", "k", {}), ("c6", "k", {})], [result("five", "c5"), result("rest")]),
    )
    assert [entry[1:3] for entry in entries if entry[0] == "result"] == [
        ("c1", "one"), ("c2", "two"), ("c4", "screen"), ("c5", "five"), ("c6", "rest"),
    ]  # fmt: skip


def test_ids_that_begin_anew_in_each_step(tmp_path):
    entries = read_steps(
        tmp_path,
        agent("", [("call_0", "k", {})], [result("one", "call_0")]),
        agent("", [("call_0", "k", {})], [result("two", "call_0")]),
    )
    assert [entry[1:3] for entry in entries if entry[0] == "result"] == [
        ("call_0", "one"), ("call_0-2", "two"),
    ]  # fmt: skip


def test_commands_that_stand_in_the_message(tmp_path):
    raw = (
        '{"analysis": "empty", "plan": "make it", "commands": '
        '[{"keystrokes": "ls\\n", "duration": 0.1}], "task_complete": true}'
    )
    entries = read_steps(tmp_path, agent(raw, results=[result("$ ls")]))
    assert entries == [
        ("assistant", "Analysis: empty\nPlan: make it", 1),
        ("call", "call-1", "bash_command", '{"keystrokes":"ls\\n","duration":0.1}', 1),
        ("call", "call-2", "mark_task_complete", "{}", 1),
        ("result", "call-2", "$ ls", "ok", None, 1),
    ]


def test_a_message_with_an_observation_is_the_action(tmp_path):
    wrong = "Previous response had parsing errors:\nERROR: Missing required fields"
    entries = read_steps(tmp_path, agent("ls please", results=[result(wrong)]), agent("bye"))
    assert entries == [
        ("call", "call-0", "", "ls please", 1),
        ("result", "call-0", wrong, "error", None, 1),
        ("assistant", "bye", 2),
    ]


def test_an_observation_of_nothing(tmp_path):
    assert read_steps(tmp_path, agent("", results=[result("clock: 5")])) == [
        ("system", "clock: 5", 1)
    ]


def test_flags_that_converters_keep(tmp_path):
    entries = read_steps(
        tmp_path,
        agent("", [("c1", "Bash", {})], [result("x", "c1")], extra={"tool_result_is_error": True}),
        agent("", [("c2", "sh", {})], [result("x", "c2", exit_code=3)]),
        agent("", [("c3", "sh", {})], [result("x", "c3", is_error=True, exit_code=-1)]),
        agent("", [("c4", "sh", {})], [result("<returncode>1</returncode>\n<output>", "c4")]),
        agent("", [("c5", "sh", {})], [result("Exit code: 2\nWall time: 1 s", "c5")]),
        agent(
            "", [("c6", "sh", {})], [result("no\n[The command completed with exit code 4.]", "c6")]
        ),
        agent(
            "", [("c7", "sh", {})], [result("Chunk ID: a\nProcess exited with code 5\nout", "c7")]
        ),
        agent("", [("c8", "cat", {})], [result("a\nb\nExit code: 2 is what you want", "c8")]),
    )
    assert [entry[3:5] for entry in entries if entry[0] == "result"] == [
        ("error", None), ("ok", 3), ("error", None), ("ok", 1), ("ok", 2), ("ok", 4), ("ok", 5),
        ("ok", None),
    ]  # fmt: skip


def test_parts_with_images_and_sound(tmp_path):
    parts = [
        {"type": "text", "text": "see"},
        {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}},
        {"type": "audio", "source": {"media_type": "audio/wav", "path": "a.wav"}},
    ]
    assert read_steps(tmp_path, user(parts))[0][:2] == ("user", "see")


def test_pitfall_05_copied_context_and_compaction_atif(tmp_path):
    told = "You are about to hand off your work to another AI agent.\n Please summarise."
    entries = read_steps(
        tmp_path,
        user("make hello.txt", is_copied_context=True),
        agent("old", [("c1", "k", {})], [result("x")], is_copied_context=True),
        {"source": "system", "message": "Performed context summarization and handoff to continue."},
        user("You are picking up work from a previous AI agent on this task:\n"),
        user(told),
        agent("Here is what I did."),
    )
    assert entries == [
        ("compaction", "Performed context summarization and handoff to continue.", 3),
        ("system", "You are picking up work from a previous AI agent on this task:\n", 4),
        ("system", told, 5),
        ("assistant", "Here is what I did.", 6),
    ]
    assert read_one(tmp_path / "t.json").goal == "make hello.txt"


def test_steps_without_a_model_are_the_harness(tmp_path):
    entries = read_steps(
        tmp_path, agent("setup", [("c1", "bash", {"a": 1})], [result("ok", "c1")], llm_call_count=0)
    )
    assert entries == [("system", "setup", 1), ("system", 'bash {"a":1}', 1), ("system", "ok", 1)]


def test_sub_agents(tmp_path):
    ref = {"content": "found it", "source_call_id": "c1"} | {
        "subagent_trajectory_ref": [{"trajectory_id": "sub-1"}]
    }
    deeper = trajectory(user("deep"), session_id="r1")
    inner = trajectory(user("look for x"), agent("x"), trajectory_id="sub-1")
    inner["subagent_trajectories"] = [deeper]
    value = trajectory(
        user("fix"), agent("", [("c1", "task", {})], [ref]), subagent_trajectories=[inner]
    )
    sessions = read_all(document_file(tmp_path / "t.json", value))
    assert [(s.id, s.parent) for s in sessions] == [
        ("r1", None), ("sub-1", "r1"), ("sub-1-1", "sub-1"),
    ]  # fmt: skip
    assert sessions[0].entries[-1].child == "sub-1"
    assert brief(sessions[1]) == [("system", "look for x", 1), ("assistant", "x", 2)]
    assert sessions[1].goal == "look for x"


def test_a_sub_agent_in_a_file_of_its_own(tmp_path):
    about = AGENT | {"extra": {"parent_session_id": "r0"}}
    session = read_one(document_file(tmp_path / "t.json", trajectory(user("sum up"), agent=about)))
    assert (session.parent, brief(session)) == ("r0", [("system", "sum up", 1)])


def trial(tmp_path: Path, reward: float) -> Path:
    folder = tmp_path / "trial" / "agent"
    folder.mkdir(parents=True)
    judged = {"rewards": {"reward": reward}}
    value = {"trial_name": "t", "task_name": "hello", "verifier_result": judged}
    document_file(tmp_path / "trial" / "result.json", value)
    return folder


def test_the_reward_of_the_trial(tmp_path):
    path = document_file(
        trial(tmp_path, 1.0) / "trajectory.json", trajectory(user("x"), agent("y"))
    )
    session = read_one(path)
    assert (session.outcome, session.metadata) == ("success", {"task": "hello"})
    assert brief(session)[-1] == ("verdict", "result.json: reward 1", 0)
    assert session.entries[-1].value == 1.0


def test_part_of_a_reward_is_no_success(tmp_path):
    path = document_file(trial(tmp_path, 0.5) / "trajectory.json", trajectory(user("x")))
    session = read_one(path)
    assert (session.outcome, session.entries[-1].value) == ("failure", 0.5)


def test_one_verdict_for_all_parts_of_a_trial(tmp_path):
    folder = trial(tmp_path, 1.0)
    about = AGENT | {"extra": {"parent_session_id": "r1"}}
    first = document_file(
        folder / "trajectory.json", trajectory(user("x"), continued_trajectory_ref="cont-1.json")
    )
    helper = document_file(folder / "summary.json", trajectory(user("sum"), agent=about))
    assert read_one(first).outcome == "success"
    last = document_file(folder / "cont-1.json", trajectory(agent("y"), session_id="r2"))
    assert [read_one(path).outcome for path in (first, helper, last)] == [
        "unknown", "unknown", "success",
    ]  # fmt: skip
    assert read_one(first).metadata == {"continued_in": "cont-1.json"}


def test_a_trial_that_broke_is_aborted(tmp_path):
    path = document_file(trial(tmp_path, 1.0) / "trajectory.json", trajectory(user("x")))
    broken = {"trial_name": "t", "exception_info": {"exception_type": "AgentTimeoutError"}}
    document_file(tmp_path / "trial" / "result.json", broken)
    session = read_one(path)
    assert (session.outcome, session.reason) == ("aborted", "AgentTimeoutError")
    assert [entry[0] for entry in brief(session)] == ["user"]


def test_unknown_sources_are_said_once(tmp_path):
    value = trajectory({"source": "alien", "message": "x"}, {"source": "alien", "message": "y"})
    session = read_one(document_file(tmp_path / "t.json", value))
    assert [(w.line, w.reason, w.lost) for w in session.warnings] == [
        (1, "unknown step source 'alien'", False)
    ]


def test_infinite_log_probabilities_do_not_cost_the_file(tmp_path):
    path = tmp_path / "t.json"
    value = trajectory(user("x"), agent("y", metrics={"logprobs": [float("-inf"), float("nan")]}))
    session = read_one(document_file(path, value))
    assert "-Infinity" in path.read_text()
    assert [entry[0] for entry in brief(session)] == ["user", "assistant"]


def test_half_an_emoji_does_not_cost_the_file(tmp_path):
    path = document_file(
        tmp_path / "t.json", trajectory(user("cut \ud83d here"), agent("ok \U0001f600"))
    )
    assert "\\ud83d here" in path.read_text()
    assert brief(read_one(path)) == [
        ("user", "cut \ufffd here", 1),
        ("assistant", "ok \U0001f600", 2),
    ]


def test_a_broken_character_does_not_cost_the_file(tmp_path):
    path = document_file(tmp_path / "t.json", trajectory(user("caf@")))
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"@", b"\xe9"))
    assert brief(read_one(path)) == [("user", "caf\ufffd", 1)]


def test_hostile_shapes(tmp_path):
    path = tmp_path / "t.json"
    parts = [result([{"type": "text", "text": "x"}], "c1", is_error=True)]
    more = {"extra": {"a": 1}, "llm_call_count": 1, "is_copied_context": False}
    value = trajectory(
        user("x", timestamp="t"),
        agent("a", [("c1", "k", {"a": 1})], parts, **more),
        agent('{"commands": [{"keystrokes": "x"}]}', results=[result("y")]),
        subagent_trajectories=[trajectory(user("z"), trajectory_id="s")],
        continued_trajectory_ref="next.json",
    )
    for odd in bent(value):
        document_file(path, odd)
        with Source(path) as source:
            assert 1 <= len(list(read_document(source))) <= 2


@pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("15735640198__harbor__hello-world-timeout.trajectory.json", (4, 3, 3, 0)),
        ("15735640198__harbor__hello-world-invalid-json.trajectory.json", (4, 4, 4, 1)),
        ("meridianlabs-ai__inspect_scout__openhands_hello-world.trajectory.json", (6, 2, 1, 0)),
    ],
)
def test_samples(name, counts):
    session = read_one(sample(f"atif/{name}"))
    seen = session.counts()
    assert (seen.messages, seen.calls, seen.results, seen.errors) == counts
    assert (session.warnings, session.outcome) == ([], "unknown")
