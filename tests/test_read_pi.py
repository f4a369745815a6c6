"""Pi and OpenClaw: a tree of entries, of which the path to the last one counts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentlearn.sessions.pi import read_lines
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, lines_file, read_one, sample

HEAD = {
    "type": "session",
    "version": 3,
    "id": "pi-1",
    "timestamp": "2026-11-01T09:00:00Z",
    "cwd": "/w",
}


def entry(id: str, parent: str | None, kind: str = "message", **more: Any) -> dict[str, Any]:
    at = "2026-11-01T09:01:00Z"
    return {"type": kind, "id": id, "parentId": parent, "timestamp": at, **more}


def user(id: str, parent: str | None, text: Any) -> dict[str, Any]:
    return entry(id, parent, message={"role": "user", "content": text})


def agent(id: str, parent: str | None, *blocks: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": list(blocks), "model": "m", "stopReason": "stop"}
    return entry(id, parent, message=message | more)


def words(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def call(id: str, command: str) -> dict[str, Any]:
    return {"type": "toolCall", "id": id, "name": "bash", "arguments": {"command": command}}


def result(id: str, parent: str, call_id: str, text: str, **more: Any) -> dict[str, Any]:
    message = {"role": "toolResult", "toolCallId": call_id, "toolName": "bash", "isError": False}
    return entry(id, parent, message=message | {"content": [words(text)]} | more)


def test_session(tmp_path):
    lines = [
        HEAD,
        entry("a0", None, "model_change", modelId="first"),
        user("a1", "a0", "run the tests"),
        agent(
            "a2", "a1", {"type": "thinking", "thinking": "hm"}, words("Yes."), call("c1", "make")
        ),
        result("a3", "a2", "c1", "1 failed\n\nCommand exited with code 2", isError=True),
        agent("a4", "a3", words("One fails.")),
        entry("a5", "a4", "session_info", name="Tests"),
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert (session.id, session.dialect, session.agent) == ("pi-1", "pi", "pi")
    assert (session.model, session.cwd, session.goal) == ("m", "/w", "run the tests")
    assert (session.started_at, session.metadata) == ("2026-11-01T09:00:00Z", {"title": "Tests"})
    assert brief(session) == [
        ("user", "run the tests", 3),
        ("assistant", "Yes.", 4),
        ("call", "c1", "bash", '{"command":"make"}', 4),
        ("result", "c1", "1 failed\n\nCommand exited with code 2", "error", 2, 5),
        ("assistant", "One fails.", 6),
    ]
    assert [turn.lines for turn in session.turns()] == [(4, 5), (6, 6)]
    assert session.warnings == []


def test_pitfall_01_junk_before_the_first_brace_pi(tmp_path):
    path = lines_file(tmp_path / "s.jsonl", [HEAD, user("a1", None, "hi")])
    path.write_text("/speci" + path.read_text())
    session = read_one(path)
    assert (session.id, brief(session)) == ("pi-1", [("user", "hi", 2)])


def test_pitfall_10_left_branch_is_undone_pi(tmp_path):
    lines = [
        HEAD,
        user("a1", None, "first"),
        agent("a2", "a1", words("done")),
        user("b1", "a2", "second"),
        agent("b2", "b1", call("c1", "rm")),
        result("b3", "b2", "c1", ""),
        entry("s1", "a2", "branch_summary", summary="tried to delete", fromId="b3"),
        user("d1", "s1", "other"),
        agent("d2", "d1", words("fine")),
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert [entry[:2] for entry in brief(session)] == [
        ("user", "first"),
        ("assistant", "done"),
        ("user", "second"),
        ("call", "c1"),
        ("result", "c1"),
        ("rollback", 3),
        ("system", "tried to delete"),
        ("user", "other"),
        ("assistant", "fine"),
    ]
    assert brief(session)[5] == ("rollback", 3, 7)
    assert [turn.undone for turn in session.turns()] == [0, 1, 0]


def test_going_back_to_a_branch_that_was_left(tmp_path):
    """first → second, back to first → third, and on from second: only the third is undone."""
    lines = [
        HEAD,
        user("a1", None, "first"),
        user("b1", "a1", "second"),
        user("c1", "a1", "third"),
        user("d1", "b1", "fourth"),
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert [entry[:2] for entry in brief(session)] == [
        ("user", "first"),
        ("user", "second"),
        ("user", "third"),
        ("rollback", 1),
        ("user", "fourth"),
    ]


def test_going_back_to_the_start(tmp_path):
    lines = [HEAD, user("a1", None, "one"), agent("a2", "a1", words("b")), user("c1", None, "two")]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert [entry[:2] for entry in brief(session)][2] == ("rollback", 2)


def test_pitfall_04_a_parent_that_is_missing_undoes_nothing_pi(tmp_path):
    lines = [
        HEAD,
        user("a1", None, "one"),
        agent("a2", "lost", words("two")),
        entry("a3", None, "custom", customType="x"),
        agent("a4", "a3", words("three")),
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert [entry[1] for entry in brief(session)] == ["one", "two", "three"]


def test_old_files_have_no_ids(tmp_path):
    lines = [HEAD, user("x", None, "one"), agent("x", None, words("two")), user("x", None, "three")]
    for line in lines[1:]:
        del line["id"], line["parentId"]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert [entry[1] for entry in brief(session)] == ["one", "two", "three"]
    assert session.entries[1].step == "3"


def test_aborted_and_failed_responses(tmp_path):
    lines = [
        HEAD,
        user("a1", None, "go"),
        agent("a2", "a1", words("I will"), call("c1", "make"), stopReason="toolUse"),
        result("a3", "a2", "c1", "half\n\nCommand aborted", isError=True),
        agent("a4", "a3", stopReason="aborted", errorMessage="Request was aborted."),
        agent("a5", "a4", call("c2", "x"), stopReason="error", errorMessage="terminated"),
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert brief(session)[3:] == [
        ("result", "c1", "half\n\nCommand aborted", "interrupted", None, 4),
        ("interruption", "", 5),
        ("call", "c2", "bash", '{"command":"x"}', 6),
        ("api_error", "terminated", 6),
    ]
    counts = session.counts()
    assert (counts.calls, counts.results, counts.errors, counts.interruptions) == (2, 1, 0, 1)


def test_pitfall_14_openclaw_flags_pi(tmp_path):
    lines = [
        HEAD,
        agent("a1", None, call("c1", "ls"), call("c2", "cat"), call("c3", "true")),
        result("a2", "a1", "c1", "x\n\n(Command exited with code 2)", details={"exitCode": 2}),
        result("a3", "a2", "c2", "ENOENT", details={"status": "error"}),
        result("a4", "a3", "c3", "log: Command exited with code 1\nfine", details={"exitCode": 0}),
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    results = [entry for entry in session.entries if hasattr(entry, "exit_code")]
    assert [(r.status, r.exit_code) for r in results] == [("ok", 2), ("error", None), ("ok", 0)]
    assert session.counts().errors == 2


def test_pitfall_06_words_that_no_person_wrote_pi(tmp_path):
    meta = 'Conversation info (untrusted metadata):\n```json\n{"id": 1}\n```\n\nhello there'
    run = {"role": "bashExecution", "command": "ls", "output": "a.txt", "exitCode": 1}
    lines = [
        HEAD,
        user("a1", None, "A new session was started via /new or /reset. Greet the user."),
        agent("a2", "a1", words("✅ New session started"), model="delivery-mirror"),
        user("a3", "a2", meta),
        entry("a4", "a3", message=run),
        entry("a5", "a4", "custom_message", content="from an extension"),
        entry("a6", "a5", "compaction", summary="we said hello", firstKeptEntryId="a3"),
        entry("a7", "a6", message={"role": "compactionSummary", "summary": "again"}),
        entry("a8", "a7", "hologram"),
        entry("a9", "a8", message={"role": "ghost"}),
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert session.agent == "openclaw"
    assert session.goal == "hello there"
    assert brief(session) == [
        ("system", "A new session was started via /new or /reset. Greet the user.", 2),
        ("user", "hello there", 4),
        ("system", "$ ls\na.txt\n(exit code 1)", 5),
        ("system", "from an extension", 6),
        ("compaction", "", 7),
        ("system", "we said hello", 7),
        ("system", "again", 8),
    ]
    assert [warning.reason for warning in session.warnings] == [
        "unknown entry type 'hologram'",
        "unknown message role 'ghost'",
    ]


def test_parent_session(tmp_path):
    path = "/home/a/.pi/agent/sessions/--w--/2026-11-01T09-00-00-000Z_0b1c.jsonl"
    session = read_one(lines_file(tmp_path / "s.jsonl", [HEAD | {"parentSession": path}]))
    assert session.parent == "0b1c"
    session = read_one(lines_file(tmp_path / "s.jsonl", [HEAD | {"branchedFrom": "0b1d"}]))
    assert session.parent == "0b1d"


def test_hostile_shapes(tmp_path):
    value = [
        HEAD | {"parentSession": "x"},
        user("a1", None, [words("a"), {"type": "image", "data": "AAAA", "mimeType": "image/png"}]),
        agent("a2", "a1", words("b"), call("c1", "ls")),
        result("a3", "a2", "c1", "x", details={"exitCode": 1, "status": "error"}),
        entry("a4", "a1", "compaction", summary="s"),
        entry("a5", "a4", message={"role": "bashExecution", "command": "x", "output": "y"}),
        entry("a6", "a5", "custom_message", content=[words("z")]),
    ]
    path = tmp_path / "s.jsonl"
    for odd in bent(value):
        lines_file(path, odd)
        with Source(path) as source:
            assert len(list(read_lines(source))) == 1


@pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")
def test_sample():
    path = sample("pi/badlogic__pi-mono__large-session.jsonl")
    messages = [json.loads(line).get("message", {}) for line in path.read_text().splitlines()]
    counts = read_one(path).counts()
    blocks = [block for m in messages if m.get("role") == "assistant" for block in m["content"]]
    assert counts.calls == sum(block["type"] == "toolCall" for block in blocks) == 391
    assert counts.results == sum(m.get("role") == "toolResult" for m in messages) == 373
    assert counts.interruptions == sum(m.get("stopReason") == "aborted" for m in messages) == 21
    assert counts.errors == sum(m.get("isError") is True for m in messages) - 2  # two were aborted
