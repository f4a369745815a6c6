"""SWE-agent trajectories."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from agentlearn.sessions.source import Source
from agentlearn.sessions.swe_agent import read_document
from tests.files import SAMPLES, bent, brief, document_file, read_one, sample

RULES = {"role": "system", "content": "You fix bugs.", "agent": "main"}
DEMO = {"role": "user", "content": "Here is how it is done: ls", "is_demo": True}
TASK = {"role": "user", "content": "Issue: it breaks.", "agent": "main"}


def file_id_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def step(action: str, observation: str, thought: str = "I look.", **more: Any) -> dict[str, Any]:
    return {
        "action": action + "\n",
        "observation": observation,
        "response": f"{thought}\n```\n{action}\n```",
        "thought": thought + "\n\n",
        "state": '{"open_file": "n/a", "working_dir": "/repo"}\n',
    } | more


def run(*steps: dict[str, Any], status: str | None = "submitted", **more: Any) -> dict[str, Any]:
    answer = {"role": "assistant", "content": "never read", "action": "never"}
    return {
        "environment": "main",
        "trajectory": list(steps),
        "history": [RULES, DEMO, TASK, answer, {"role": "user", "content": "never"}],
        "info": {"exit_status": status, "submission": "diff"},
    } | more


def test_steps_come_from_the_trajectory_and_the_prompt_from_the_history(tmp_path):
    path = document_file(
        tmp_path / "a.traj", run(step("ls", "a.py\n"), step("submit", "diff --git", "Done."))
    )
    session = read_one(path)
    assert (session.id, session.dialect) == (file_id_of(path), "swe-agent")
    assert (session.agent, session.cwd, session.unit) == ("swe-agent", "/repo", "entry")
    assert brief(session) == [
        ("system", "You fix bugs.", 1),
        ("user", "Issue: it breaks.", 3),
        ("assistant", "I look.", 4),
        ("call", "call-3", "bash", '{"command":"ls"}', 4),
        ("result", "call-3", "a.py\n", "ok", None, 4),
        ("assistant", "Done.", 5),
        ("call", "call-6", "bash", '{"command":"submit"}', 5),
        ("result", "call-6", "diff --git", "ok", None, 5),
    ]
    assert len(session.raws) == 5
    assert json.loads(bytes(session.raws[4]))["observation"] == "diff --git"
    assert session.metadata == {"exit_status": "submitted"}
    assert session.goal == "Issue: it breaks."


def test_settings_and_state_of_1x(tmp_path):
    config = {"agent": {"model": {"name": "m-1"}}, "problem_statement": {"id": "x__y-1"}}
    value = run(step("ls", "a", state={"working_dir": "/testbed"}, query=[TASK] * 50))
    value |= {"replay_config": json.dumps(config)}
    value["info"]["swe_agent_version"] = "1.1.0"
    session = read_one(document_file(tmp_path / "a.traj", value))
    assert (session.model, session.version, session.cwd) == ("m-1", "1.1.0", "/testbed")
    assert session.metadata["task"] == "x__y-1"
    assert session.counts().messages == 3


def test_a_response_that_could_not_be_used(tmp_path):
    odd = step("", "", "") | {
        "action": "",
        "response": "I think so.",
        "observation": "Use a block.",
    }
    session = read_one(document_file(tmp_path / "a.traj", run(odd, step("ls", "a"))))
    assert brief(session)[2:4] == [("assistant", "I think so.", 4), ("system", "Use a block.", 4)]
    assert session.counts().calls == 1


def test_commands_that_took_too_long(tmp_path):
    late = "The command 'sleep 99' was cancelled because it took more than 30 seconds."
    session = read_one(
        document_file(
            tmp_path / "a.traj", run(step("sleep 99", late), step("x", "EXECUTION TIMED OUT"))
        )
    )
    assert session.counts().errors == 2


def test_history_alone(tmp_path):
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "open", "arguments": '{"path": "a"}'},
    }
    history = [
        RULES,
        DEMO,
        {"role": "assistant", "content": "as shown", "action": "ls", "is_demo": True},
        TASK,
        {"role": "assistant", "content": "open it", "thought": "open it", "tool_calls": [call]},
        {"role": "tool", "content": "x = 1", "tool_call_ids": ["c1"]},
        {
            "role": "assistant",
            "content": "run\n```\npython a\n```",
            "thought": "run",
            "action": "python a\n",
        },
        {"role": "user", "content": "1"},
        {"role": "user", "content": "You have 3 steps left."},
    ]
    session = read_one(document_file(tmp_path / "a.traj", {"history": history}))
    assert brief(session) == [
        ("system", "You fix bugs.", 1),
        ("user", "Issue: it breaks.", 4),
        ("assistant", "open it", 5),
        ("call", "c1", "open", '{"path": "a"}', 5),
        ("result", "c1", "x = 1", "ok", None, 6),
        ("assistant", "run", 7),
        ("call", "call-6", "bash", '{"command":"python a"}', 7),
        ("result", "call-6", "1", "ok", None, 8),
        ("system", "You have 3 steps left.", 9),
    ]


def test_pitfall_15_submitted_is_not_success_swe_agent(tmp_path):
    folder = tmp_path / "x__y-1"
    folder.mkdir()
    path = document_file(folder / "x__y-1.traj", run(step("submit", "diff")))
    assert read_one(path).outcome == "unknown"
    document_file(tmp_path / "results.json", {"resolved": [], "unresolved": ["x__y-1"]})
    session = read_one(path)
    assert session.outcome == "failure"
    assert brief(session)[-1] == ("verdict", "results.json: x__y-1 not resolved", 0)


def test_a_run_that_was_stopped(tmp_path):
    path = document_file(tmp_path / "a.traj", run(step("ls", "a"), status="exit_cost"))
    assert (read_one(path).outcome, read_one(path).reason) == ("aborted", "exit_cost")
    document_file(tmp_path / "report.json", {"a": {"resolved": True}})
    assert (read_one(path).outcome, read_one(path).reason) == ("success", None)


def test_hostile_shapes(tmp_path):
    path = tmp_path / "a.traj"
    call = {"id": "c1", "function": {"name": "open", "arguments": '{"path": "a"}'}}
    history = [RULES, DEMO, TASK, {"role": "assistant", "content": "x", "tool_calls": [call]},
               {"role": "tool", "content": "y", "tool_call_ids": ["c1"]}]  # fmt: skip
    config = {"agent": {"model": {"name": "m"}}, "problem_statement": {"id": "i"}}
    for value in (run(step("ls", "a"), replay_config=config), {"history": history}):
        for odd in bent(value):
            document_file(path, odd)
            with Source(path) as source:
                assert len(list(read_document(source))) == 1


@pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")
@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("function_calling_simple", (7, 5, 5)),
        ("pydicom__pydicom-1458", (14, 12, 12)),
        ("swe-agent__test-repo-i1", (7, 5, 5)),
    ],
)
def test_samples(name, counts):
    session = read_one(sample(f"swe-agent/SWE-agent__SWE-agent__{name}.traj"))
    seen = session.counts()
    assert (seen.messages, seen.calls, seen.results) == counts
    assert (session.warnings, session.outcome) == ([], "unknown")
