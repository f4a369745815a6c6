"""Claude stream-json: sub-agents inline, a result that is no verdict, other programs' noise."""

from __future__ import annotations

import json

import pytest

from agentlearn.sessions.claude_stream import KILLED, read_document, read_lines
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, document_file, lines_file, read_all, read_one, sample


def line(type, **more):
    return {"type": type, "session_id": "s1", "parent_tool_use_id": None, **more}


def init(session="s1"):
    return {
        "type": "system",
        "subtype": "init",
        "session_id": session,
        "cwd": "/w",
        "model": "m-1",
        "claude_code_version": "2.1.9",
        "tools": ["Bash"],
    }


def said(id, *blocks, **more):
    message = {"id": id, "role": "assistant", "model": "m-2", "content": list(blocks)}
    return line("assistant", message=message, **more)


def text(words):
    return {"type": "text", "text": words}


def use(id, name="Bash", **input):
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def back(id, content, is_error=False, extra=None, **more):
    block = {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error}
    message = {"role": "user", "content": [block]}
    return line("user", message=message, tool_use_result=extra, **more)


def result(subtype="success", **more):
    return line("result", **{"subtype": subtype, "is_error": False, "result": "Done.", **more})


RUN = [
    {"type": "system", "subtype": "hook_started", "session_id": "s1", "hook_name": "h"},
    init(),
    said("msg1", {"type": "thinking", "thinking": "hm", "signature": ""}),
    said("msg1", text("Testing.")),
    said("msg1", use("t1", command="make test")),
    said("msg1", use("t2", command="ls")),
    back("t2", "a.py", extra={"stdout": "a.py"}, timestamp="2026-11-01T09:00:00Z"),
    back("t1", "Exit code 2\n1 failed", True, extra="Error: Exit code 2"),
    said("msg2", text("Done.")),
    result(),
]


def test_a_run(tmp_path):
    session = read_one(lines_file(tmp_path / "out.jsonl", RUN))
    assert (session.id, session.dialect, session.agent) == (
        "s1",
        "claude-stream-json",
        "claude-code",
    )
    assert (session.model, session.version, session.cwd) == ("m-2", "2.1.9", "/w")
    assert brief(session) == [
        ("assistant", "Testing.", 4),
        ("call", "t1", "Bash", '{"command": "make test"}', 5),
        ("call", "t2", "Bash", '{"command": "ls"}', 6),
        ("result", "t2", "a.py", "ok", None, 7),
        ("result", "t1", "Exit code 2\n1 failed", "error", 2, 8),
        ("assistant", "Done.", 9),
    ]
    assert [turn.lines for turn in session.turns()] == [(4, 8), (6, 7), (9, 9)]
    assert session.turns()[0].action.startswith("Testing.\nBash ")
    assert (session.goal, session.warnings) == (None, [])


def test_pitfall_15_a_success_line_is_no_verdict_claude_stream_json(tmp_path):
    session = read_one(lines_file(tmp_path / "out.jsonl", RUN))
    assert (session.outcome, session.reason) == ("unknown", None)
    assert not [entry for entry in session.entries if type(entry).__name__ == "Signal"]


def test_without_a_result_the_run_was_killed(tmp_path):
    session = read_one(lines_file(tmp_path / "out.jsonl", RUN[:5]))
    assert (session.outcome, session.reason) == ("aborted", KILLED)
    counts = session.counts()
    assert (counts.calls, counts.results) == (1, 0)
    resumed = [*RUN, said("msg3", text("More."))]
    again = read_one(lines_file(tmp_path / "again.jsonl", resumed))
    assert (again.outcome, again.reason) == ("aborted", KILLED)


def test_how_a_run_failed(tmp_path):
    turns = read_one(
        lines_file(tmp_path / "a.jsonl", [*RUN[:-1], result("error_max_turns", result=None)])
    )
    assert (turns.outcome, turns.reason) == ("aborted", "error_max_turns")
    limit = "You've hit your limit"
    last = result(is_error=True, api_error_status=429, result=limit)
    failed = read_one(lines_file(tmp_path / "b.jsonl", [init(), last]))
    assert (failed.outcome, failed.reason) == ("aborted", limit)
    assert brief(failed) == [("api_error", limit, 2)]
    said_too = said("x", text(limit), error="rate_limit")
    said_too["message"]["model"] = "<synthetic>"
    once = read_one(lines_file(tmp_path / "c.jsonl", [init(), said_too, last]))
    assert brief(once) == [("api_error", limit, 2)]
    assert once.model == "m-1"


def test_words_that_only_the_result_has(tmp_path):
    session = read_one(lines_file(tmp_path / "out.jsonl", [init(), result(result="42")]))
    assert brief(session) == [("assistant", "42", 2)]


def test_pitfall_11_sub_agents_stand_inline_claude_stream_json(tmp_path):
    def inside(call):
        return {"parent_tool_use_id": call}

    prompt = line(
        "user", message={"role": "user", "content": [text("count files")]}, **inside("t1")
    )
    lines = [
        init(),
        said("m1", use("t1", "Task", prompt="count files"), use("t2", "Task", prompt="other")),
        prompt,
        said("m2", use("u1", command="ls"), **inside("t1")),
        said("m9", use("v1", "Task", prompt="deeper"), **inside("t2")),
        back("u1", "a b", **inside("t1")),
        said("n1", text("deep"), **inside("v1")),
        back("v1", "deep", **inside("t2")),
        back("t1", "two", extra={"agentId": "agent7", "status": "completed"}),
        back("t2", "Error: no", True, extra="Error: no"),
        said("m3", text("Two.")),
        result(),
    ]
    main, counter, other, deeper = read_all(lines_file(tmp_path / "out.jsonl", lines))
    assert [(s.id, s.parent) for s in (main, counter, other, deeper)] == [
        ("s1", None),
        ("agent7", "s1"),
        ("t2", "s1"),
        ("v1", "t2"),
    ]
    assert [entry.line for entry in main.entries] == [2, 2, 9, 10, 11]
    children = {e.call_id: e.child for e in main.entries if type(e).__name__ == "Result"}
    assert children == {"t1": "agent7", "t2": "t2"}
    assert brief(counter) == [
        ("system", "count files", 3),
        ("call", "u1", "Bash", '{"command": "ls"}', 4),
        ("result", "u1", "a b", "ok", None, 6),
    ]
    assert (counter.cwd, counter.version, counter.outcome) == ("/w", "2.1.9", "unknown")
    assert [e.child for e in other.entries if type(e).__name__ == "Result"] == ["v1"]
    assert main.outcome == "unknown"


def test_pitfall_11_several_sessions_in_one_stream_claude_stream_json(tmp_path):
    second = [{**value, "session_id": "s2"} for value in RUN[1:5]]
    killed_then = read_all(lines_file(tmp_path / "out.jsonl", [*RUN, *second]))
    assert [(s.id, s.outcome) for s in killed_then] == [("s1", "unknown"), ("s2", "aborted")]
    assert [entry.line for entry in killed_then[1].entries] == [13, 14]
    assert killed_then[1].cwd == "/w"


def test_pitfall_07_denied_calls_are_rejected_claude_stream_json(tmp_path):
    denied = "Claude requested permissions to use Bash, but you haven't granted it yet."
    lines = [
        init(),
        said("m1", use("t1", command="rm x")),
        back("t1", denied, True),
        result(permission_denials=[{"tool_name": "Bash", "tool_use_id": "t1", "tool_input": {}}]),
    ]
    session = read_one(lines_file(tmp_path / "out.jsonl", lines))
    assert brief(session)[1] == ("result", "t1", denied, "rejected", None, 3)
    assert (session.counts().errors, session.counts().rejections) == (0, 1)


def test_pitfall_06_lines_that_no_person_wrote_claude_stream_json(tmp_path):
    hook = {"type": "system", "subtype": "hook_response", "session_id": "s1"}
    lines = [
        init(),
        line("user", message={"role": "user", "content": "hello there"}),
        line("user", message={"role": "user", "content": [text("keep going")]}, isSynthetic=True),
        {**hook, "exit_code": 0, "stderr": "", "output": "long"},
        {**hook, "exit_code": 2, "stderr": "lint failed"},
        line("user", message={"role": "user", "content": [text("[Request interrupted by user]")]}),
        result(),
    ]
    session = read_one(lines_file(tmp_path / "out.jsonl", lines))
    assert brief(session)[:4] == [
        ("user", "hello there", 2),
        ("system", "keep going", 3),
        ("system", "hook error: lint failed", 5),
        ("interruption", "", 6),
    ]
    assert session.goal == "hello there"


def test_pitfall_05_compaction_and_retries_claude_stream_json(tmp_path):
    retry = {"subtype": "api_retry", "error_status": 529, "error": "overloaded"}
    lines = [
        init(),
        line("system", subtype="compact_boundary", compact_metadata={"trigger": "auto"}),
        line("system", **retry),
        line("stream_event", event={"type": "content_block_delta"}),
        line("telepathy"),
        line("telepathy"),
        result(),
    ]
    session = read_one(lines_file(tmp_path / "out.jsonl", lines))
    assert brief(session)[:2] == [
        ("compaction", '{"trigger": "auto"}', 2),
        ("api_error", "529 overloaded", 3),
    ]
    assert [(w.line, w.reason, w.lost) for w in session.warnings] == [
        (5, "unknown line type 'telepathy'", False)
    ]


def test_pitfall_12_noise_between_the_lines_claude_stream_json(tmp_path):
    path = tmp_path / "claude-code.txt"
    rows = [json.dumps(value) for value in RUN]
    rows[2:2] = ["npm warn deprecated", "(node:12) warning"]
    rows[-1] = "12:00:01 " + rows[-1]
    path.write_text("\n".join(rows) + '\n{"type":"assis')
    session = read_one(path)
    assert [entry.line for entry in session.entries] == [6, 7, 8, 9, 10, 11]
    assert session.outcome == "unknown"
    assert [(w.line, w.lost) for w in session.warnings] == [(13, True), (3, False)]
    assert session.warnings[1].reason == "2 lines are not JSON: other output"


def test_a_stream_kept_as_one_list(tmp_path):
    session = read_one(document_file(tmp_path / "execution-output.json", RUN))
    assert (session.id, session.unit, session.outcome) == ("s1", "entry", "unknown")
    assert brief(session)[1] == ("call", "t1", "Bash", '{"command":"make test"}', 5)
    assert session.counts().calls == 2
    assert json.loads(bytes(session.raws[9])) == RUN[9]


@pytest.mark.parametrize("layout", ["lines", "document"])
def test_nothing_in_a_stream_stops_the_reader(tmp_path, layout):
    denials = [{"tool_use_id": "t1"}]
    rows = [
        init(),
        said("m1", text("a"), use("t1", command="x"), uuid="u"),
        back("t1", [text("b")], True, extra={"agentId": "a"}, parent_tool_use_id="t0"),
        line("system", subtype="hook_response", exit_code=2, stderr="e"),
        result("error_x", permission_denials=denials, errors=["e"], error="x"),
    ]
    path = tmp_path / "x"
    for value in bent(rows):
        if layout == "lines":
            lines_file(path, value)
        else:
            document_file(path, value)
        with Source(path) as source:
            read = read_lines if layout == "lines" else read_document
            assert list(read(source))


@pytest.mark.skipif(not SAMPLES, reason="needs AGENTLEARN_SAMPLES")
def test_sample():
    session = read_one(sample("claude-stream-json/marquex__trackgentic__mp9r437x.jsonl"))
    counts = session.counts()
    assert (counts.messages, counts.calls, counts.results, counts.errors) == (4, 18, 18, 0)
    assert (session.version, session.model, session.outcome) == ("2.1.143", "glm-5.1", "unknown")
    assert not [e for e in session.entries if getattr(e, "role", "") == "user"]
