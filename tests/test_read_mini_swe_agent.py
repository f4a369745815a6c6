"""mini-swe-agent: the bare list, v1 and v2."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from agentlearn.sessions.mini_swe_agent import read_document
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, document_file, read_one, sample

RULES = {"role": "system", "content": "Answer with one bash code block."}
TASK = {"role": "user", "content": "Fix the parser."}


def file_id_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def user(text: Any, **extra: Any) -> dict[str, Any]:
    return {"role": "user", "content": text} | ({"extra": extra} if extra else {})


def bash(command: str, words: str = "THOUGHT: so", fence: str = "bash") -> dict[str, Any]:
    return {"role": "assistant", "content": f"{words}\n\n```{fence}\n{command}\n```"}


def printed(text: str, code: int = 0) -> dict[str, Any]:
    return user(f"<returncode>{code}</returncode>\n<output>\n{text}\n</output>")


def run(*messages: dict[str, Any], status: str | None = "Submitted", **more: Any) -> dict[str, Any]:
    info = {
        "exit_status": status,
        "submission": "diff",
        "mini_version": "1.15.0",
        "config": {"model": {"model_name": "m-1"}, "environment": {"cwd": "/testbed"}},
    }
    return {
        "info": info,
        "messages": [RULES, TASK, *messages],
        "trajectory_format": "mini-swe-agent-1",
        "instance_id": "demo__demo-1",
    } | more


def test_bare_list(tmp_path):
    path = document_file(
        tmp_path / "a.traj.json",
        [RULES, TASK, bash("ls", fence="mswea_bash_command"), printed("a.py"),
         bash("echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff"), user("diff --git a b")],
    )  # fmt: skip
    session = read_one(path)
    assert (session.id, session.dialect) == (file_id_of(path), "mini-swe-agent")
    assert session.unit == "entry"
    assert [len(session.raws), session.goal, session.outcome] == [6, "Fix the parser.", "unknown"]
    assert brief(session) == [
        ("system", "Answer with one bash code block.", 1),
        ("user", "Fix the parser.", 2),
        ("assistant", "THOUGHT: so", 3),
        ("call", "call-3", "bash", '{"command":"ls"}', 3),
        ("result", "call-3", "<returncode>0</returncode>\n<output>\na.py\n</output>", "ok", 0, 4),
        ("assistant", "THOUGHT: so", 5),
        ("call", "call-6", "bash",
         '{"command":"echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff"}', 5),
        ("result", "call-6", "diff --git a b", "ok", None, 6),
    ]  # fmt: skip


def test_head_of_v1(tmp_path):
    answer = bash("ls") | {"extra": {"response": {"created": 1793520000, "choices": [{}]}}}
    session = read_one(document_file(tmp_path / "x", run(answer, printed("a"))))
    assert (session.agent, session.model, session.version) == ("mini-swe-agent", "m-1", "1.15.0")
    assert (session.cwd, session.metadata) == (
        "/testbed",
        {"task": "demo__demo-1", "exit_status": "Submitted"},
    )
    assert session.started_at == "2026-11-01T08:00:00.000Z"


def test_failing_commands_and_counts(tmp_path):
    session = read_one(
        document_file(
            tmp_path / "x",
            run(bash("pytest"), printed("1 failed", 1), bash("sleep 99"),
                user("The last command <command>sleep 99</command> timed out and has been killed.\n"
                     "The output of the command was:\n <output>\n</output>\nPlease try another."),
                bash("ls"), [printed("")][0], bash("echo done"), user("")),
        )
    )  # fmt: skip
    results = [entry for entry in brief(session) if entry[0] == "result"]
    assert [(entry[3], entry[4]) for entry in results] == [
        ("ok", 1), ("error", None), ("ok", 0), ("ok", None),
    ]  # fmt: skip
    counts = session.counts()
    assert (counts.calls, counts.results, counts.errors) == (4, 4, 2)
    assert len(session.turns()) == 4


def test_two_blocks_are_no_action(tmp_path):
    two = {"role": "assistant", "content": "```bash\nls\n```\nor\n```bash\npwd\n```"}
    refusal = user("Please always provide EXACTLY ONE action in triple backticks, found 2 actions.")
    session = read_one(document_file(tmp_path / "x", run(two, refusal, bash("ls"), printed("a"))))
    assert brief(session)[2:] == [
        ("assistant", "```bash\nls\n```\nor\n```bash\npwd\n```", 3),
        ("system", refusal["content"], 4),
        ("assistant", "THOUGHT: so", 5),
        ("call", "call-5", "bash", '{"command":"ls"}', 5),
        ("result", "call-5", printed("a")["content"], "ok", 0, 6),
    ]


def test_a_fence_inside_the_command_does_not_end_it(tmp_path):
    command = "cat > a.md <<'E'\nuse ```x``` here\nE"
    words = "THOUGHT: like\n```python\nx = 1\n```\nso:"
    session = read_one(document_file(tmp_path / "x", run(bash(command, words), printed(""))))
    assert session.turns()[0].action.startswith(words + "\nbash ")
    assert session.turns()[0].call.arguments == (
        '{"command":"cat > a.md <<\'E\'\\nuse ```x``` here\\nE"}'
    )


def test_many_open_fences_are_read_in_one_go(tmp_path):
    text = "```bash\nx" * 200_000
    path = document_file(tmp_path / "x", run({"role": "assistant", "content": text}))
    assert read_one(path).counts().calls == 0


def test_content_in_parts(tmp_path):
    told = user([{"type": "text", "text": "<returncode>2</returncode>", "cache_control": {}}])
    session = read_one(
        document_file(tmp_path / "x", run(bash("ls"), told, bash("pwd"), printed("")))
    )
    assert brief(session)[4] == ("result", "call-3", "<returncode>2</returncode>", "ok", 2, 4)


def test_what_the_person_typed_in_v1(tmp_path):
    no = "Command not executed. The user rejected your command with the following message: "
    session = read_one(
        document_file(
            tmp_path / "x",
            run(bash("rm -r ."), user(no + "keep the files"), bash("ls"),
                user("Command not executed. Switching to human mode"),
                user("\n```bash\nls -l\n```"), printed("a.py"), bash("make"),
                user("Interrupted by user: use tox"), bash("tox"),
                user("Interrupted by user: Temporary interruption caught."), bash("echo done"),
                user("The user added a new task: also the docs"), bash("ls"), printed("b")),
        )
    )  # fmt: skip
    assert [entry for entry in brief(session)[2:] if entry[0] not in ("assistant", "call")] == [
        ("result", "call-3", no + "keep the files", "rejected", None, 4),
        ("rejection", "keep the files", 4),
        ("result", "call-7", "Command not executed. Switching to human mode", "rejected", None, 6),
        ("user", "```bash\nls -l\n```", 7),
        ("system", printed("a.py")["content"], 8),
        ("result", "call-12", "Interrupted by user: use tox", "interrupted", None, 10),
        ("interruption", "", 10),
        ("user", "use tox", 10),
        ("result", "call-17", "Interrupted by user: Temporary interruption caught.",
         "interrupted", None, 12),
        ("interruption", "", 12),
        ("user", "also the docs", 14),
        ("result", "call-24", printed("b")["content"], "ok", 0, 16),
    ]  # fmt: skip
    rejection = next(e for e in session.entries if getattr(e, "kind", "") == "rejection")
    assert rejection.call_id == "call-3"
    counts = session.counts()
    assert (counts.rejections, counts.interruptions, counts.errors) == (2, 2, 0)


def call_v2(id: str, command: str, at: float) -> dict[str, Any]:
    function = {"name": "bash", "arguments": f'{{"command": "{command}"}}'}
    return {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [{"id": id, "type": "function", "function": function}],
        "extra": {"actions": [{"command": command, "tool_call_id": id}], "timestamp": at},
    }


def tool_v2(id: str, text: str, code: int, at: float, **extra: Any) -> dict[str, Any]:
    about = {"raw_output": text, "returncode": code, "timestamp": at} | extra
    return {"role": "tool", "tool_call_id": id, "content": text, "extra": about}


def test_tool_calls_of_v2(tmp_path):
    ended = {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}}
    session = read_one(
        document_file(
            tmp_path / "x",
            run(call_v2("c1", "false", 1793520000.5), tool_v2("c1", "no", 1, 1793520001.5),
                call_v2("c2", "sleep 9", 1793520002.0),
                tool_v2("c2", "", -1, 1793520003.0, exception_info="timed out after 5 seconds"),
                call_v2("c3", "echo done", 1793520004.0), ended,
                trajectory_format="mini-swe-agent-1.1", status=None),
        )
    )  # fmt: skip
    assert brief(session)[2:] == [
        ("assistant", "I look.", 3),
        ("call", "c1", "bash", '{"command":"false"}', 3),
        ("result", "c1", "no", "ok", 1, 4),
        ("assistant", "I look.", 5),
        ("call", "c2", "bash", '{"command":"sleep 9"}', 5),
        ("result", "c2", "", "error", None, 6),
        ("assistant", "I look.", 7),
        ("call", "c3", "bash", '{"command":"echo done"}', 7),
        ("result", "c3", "diff", "ok", None, 8),
    ]
    assert session.entries[3].at == "2026-11-01T08:00:00.500Z"
    assert session.metadata["exit_status"] == "Submitted"
    assert session.entries[2].step == session.entries[3].step == "3"


def test_rejection_in_v2_stands_after_the_padded_results(tmp_path):
    answer = call_v2("c1", "rm a", 1.0)
    answer["extra"]["actions"].append({"command": "rm b", "tool_call_id": "c2"})
    skipped = {"exception_info": "action was not executed"}
    no = (
        "Commands not executed. The user rejected your commands with the following message: not now"
    )
    session = read_one(
        document_file(
            tmp_path / "x",
            run(answer, tool_v2("c1", "skipped", -1, 2.0, **skipped),
                tool_v2("c2", "skipped", -1, 2.0, **skipped),
                user(no, interrupt_type="UserRejection")),
        )
    )  # fmt: skip
    assert brief(session)[3:] == [
        ("call", "c1", "bash", '{"command":"rm a"}', 3),
        ("call", "c2", "bash", '{"command":"rm b"}', 3),
        ("result", "c1", "skipped", "rejected", None, 4),
        ("result", "c2", "skipped", "rejected", None, 5),
        ("rejection", "not now", 6),
    ]
    assert session.counts().rejections == 2


def test_what_comes_after_the_submission_was_not_run(tmp_path):
    answer = call_v2("c1", "echo done", 1.0)
    answer["extra"]["actions"].append({"command": "ls", "tool_call_id": "c2"})
    skipped = {"exception_info": "action was not executed"}
    ended = {"role": "exit", "content": "diff", "extra": {"exit_status": "Submitted"}}
    messages = [
        answer,
        tool_v2("c1", "-", -1, 2.0, **skipped),
        tool_v2("c2", "-", -1, 2.0, **skipped),
    ]
    session = read_one(document_file(tmp_path / "x", run(*messages, ended)))
    assert brief(session)[5:] == [
        ("result", "c1", "diff", "ok", None, 6),
        ("result", "c2", "-", "interrupted", None, 5),
    ]


def test_format_error_of_v2_holds_the_response(tmp_path):
    error = user("Found 0 actions.", interrupt_type="FormatError", model_response="I am done.")
    session = read_one(document_file(tmp_path / "x", run(error, bash("ls"), printed(""))))
    assert brief(session)[2:4] == [
        ("assistant", "I am done.", 3),
        ("system", "Found 0 actions.", 3),
    ]


def test_responses_api_of_v2(tmp_path):
    response = {
        "object": "response",
        "output": [
            {"type": "reasoning", "summary": [{"text": "secret"}]},
            {"type": "message", "content": [{"type": "output_text", "text": "I look."}]},
            {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"},
        ],
        "extra": {"actions": [{"command": "ls", "tool_call_id": "c1"}]},
    }
    output = {
        "type": "function_call_output",
        "call_id": "c1",
        "output": "a",
        "extra": {"returncode": 0},
    }
    session = read_one(document_file(tmp_path / "x", run(response, output, status=None)))
    assert brief(session)[2:] == [
        ("assistant", "I look.", 3),
        ("call", "c1", "bash", '{"command":"ls"}', 3),
        ("result", "c1", "a", "ok", 0, 4),
    ]


@pytest.mark.parametrize(
    ("status", "last", "entry"),
    [
        ("LimitsExceeded", user(""), ("note", "LimitsExceeded", 5)),
        ("RateLimitError", user("429"), ("api_error", "429", 5)),
    ],
)
def test_runs_that_were_stopped(tmp_path, status, last, entry):
    path = document_file(tmp_path / "x", run(bash("ls"), printed("a"), last, status=status))
    session = read_one(path)
    assert brief(session)[-1] == entry
    assert (session.outcome, session.reason) == ("aborted", status)


def test_a_command_that_broke_the_run(tmp_path):
    path = document_file(tmp_path / "x", run(bash("ls"), user("docker died"), status="DockerError"))
    assert brief(read_one(path))[-1] == ("result", "call-3", "docker died", "error", None, 4)


def test_a_run_that_still_goes_on(tmp_path):
    session = read_one(document_file(tmp_path / "x", run(bash("ls"), printed("a"), status=None)))
    assert (session.outcome, session.metadata) == ("unknown", {"task": "demo__demo-1"})
    assert brief(session)[-1][3:] == ("ok", 0, 4)


def test_pitfall_15_submitted_is_not_success_mini_swe_agent(tmp_path):
    path = document_file(tmp_path / "a.traj.json", run(bash("ls"), printed("a")))
    assert read_one(path).outcome == "unknown"
    document_file(tmp_path / "results_summary.json", {"unresolved_ids": ["demo__demo-1"]})
    session = read_one(path)
    assert session.outcome == "failure"
    assert brief(session)[-1] == (
        "verdict", "results_summary.json: demo__demo-1 not resolved", 0,
    )  # fmt: skip
    assert session.entries[-1].value == 0.0
    document_file(tmp_path / "results_summary.json", {"resolved_ids": ["demo__demo-1"]})
    assert read_one(path).outcome == "success"


def test_a_verdict_outweighs_a_limit(tmp_path):
    path = document_file(tmp_path / "x", run(bash("ls"), user(""), status="LimitsExceeded"))
    document_file(tmp_path / "report.json", {"demo__demo-1": {"resolved": True}})
    session = read_one(path)
    assert (session.outcome, session.reason) == ("success", None)


def test_hostile_shapes(tmp_path):
    path = tmp_path / "x"
    whole = run(
        bash("ls") | {"extra": {"response": {"created": 1.5}}},
        printed("a"),
        call_v2("c1", "ls", 2.0),
        tool_v2("c1", "a", -1, 3.0, exception_info="action was not executed"),
        {"object": "response", "output": [{"type": "message", "content": [{"text": "x"}]}]},
        {"role": "exit", "content": "d", "extra": {"exit_status": "Submitted"}},
    )
    for odd in bent(whole):
        document_file(path, odd)
        with Source(path) as source:
            assert len(list(read_document(source))) == 1
    for odd in bent(whole["messages"]):
        document_file(path, odd)
        with Source(path) as source:
            assert len(list(read_document(source))) == 1


@pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")
@pytest.mark.parametrize(
    ("task", "outcome", "calls"),
    [
        ("django__django-16801", "success", 19),
        ("pytest-dev__pytest-7521", "success", 28),
        ("astropy__astropy-12907", "success", 20),
        ("django__django-14140", "failure", 25),
        ("django__django-11141", "failure", 38),
        ("sympy__sympy-18199", "failure", 54),
    ],
)
def test_true_labels_of_the_samples(task, outcome, calls):
    name = f"mini-swe-agent/gruckion__mini-swe-agent__{task}.traj.json"
    session = read_one(sample(name))
    counts = session.counts()
    assert (session.outcome, counts.calls, counts.results) == (outcome, calls, calls)
    assert session.metadata == {"task": task, "exit_status": "Submitted"}
    assert session.warnings == []
