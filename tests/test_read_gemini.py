"""Gemini CLI: the document, and the log of changes that followed it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlearn.rewards.rules import Rules
from agentlearn.rewards.worth import score_session
from agentlearn.sessions.gemini import read_document, read_lines
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Message, Session, Signal
from tests.files import (
    SAMPLES,
    bent,
    brief,
    document_file,
    lines_file,
    read_all,
    read_one,
    sample,
)

OUTPUT = "Output: 1 failed\nError: (none)\nExit Code: 2"
NO = "[Operation Cancelled] Reason: User "
HEAD = {
    "sessionId": "g-1",
    "projectHash": "abcd",
    "startTime": "2026-11-01T09:00:00.000Z",
    "lastUpdated": "2026-11-01T09:00:00.000Z",
    "kind": "main",
}


def said(id: str, type: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": id,
        "timestamp": f"2026-11-01T09:00:{id[-1]}0Z",
        "type": type,
        "content": content,
        **more,
    }


def called(id: str, command: str, output: str, status: str = "success") -> dict[str, Any]:
    key = "output" if status == "success" else "error"
    response = {"id": id, "name": "run_shell_command", "response": {key: output}}
    return {
        "id": id,
        "name": "run_shell_command",
        "args": {"command": command},
        "status": status,
        "timestamp": "2026-11-01T09:01:00Z",
        "result": [{"functionResponse": response}],
    }


def test_document(tmp_path):
    messages = [
        said("m1", "user", "run the tests"),
        said("m2", "gemini", "I will.", model="gemini-3-pro", thoughts=[{"subject": "hm"}],
             toolCalls=[called("c1", "make test", OUTPUT)]),
        said("m3", "info", "Gemini CLI update available!"),
        said("m4", "gemini", [{"text": "hidden", "thought": True}, {"text": "One fails."}]),
    ]  # fmt: skip
    value = {**HEAD, "messages": messages, "summary": "Run tests"}
    session = read_one(document_file(tmp_path / "s.json", value))
    assert (session.id, session.dialect, session.agent) == ("g-1", "gemini-cli", "gemini-cli")
    assert (session.unit, session.model) == ("entry", "gemini-3-pro")
    assert session.metadata == {"title": "Run tests"}
    assert session.goal == "run the tests"
    assert session.started_at == "2026-11-01T09:00:00.000Z"
    assert session.ended_at == "2026-11-01T09:00:40Z"
    assert brief(session) == [
        ("user", "run the tests", 1),
        ("assistant", "I will.", 2),
        ("call", "c1", "run_shell_command", '{"command":"make test"}', 2),
        ("result", "c1", OUTPUT, "ok", 2, 2),
        ("assistant", "One fails.", 4),
    ]
    assert len(session.raws) == 4
    assert b"hidden" in bytes(session.raws[3])
    assert session.counts().errors == 1
    assert [turn.lines for turn in session.turns()] == [(2, 2), (4, 4)]


def test_pitfall_14_failing_command_flagged_success_gemini(tmp_path):
    output = "Exit Code: 0 is what the log said\nError: (none)\nExit Code: 1\nSignal: (none)"
    lines = [HEAD, said("m1", "gemini", "", toolCalls=[called("c1", "false", output)])]
    result = read_one(lines_file(tmp_path / "s.jsonl", lines)).entries[1]
    assert (result.status, result.exit_code, result.failed) == ("ok", 1, True)


def test_exit_code_of_a_command_only(tmp_path):
    call = called("c1", "", "a log\nExit Code: 1\n") | {"name": "read_file"}
    session = read_one(
        lines_file(tmp_path / "s.jsonl", [HEAD, said("m1", "gemini", "", toolCalls=[call])])
    )
    assert session.entries[1].exit_code is None


def test_same_id_replaces_in_its_place(tmp_path):
    running = called("c1", "ls", "") | {"status": "executing", "result": None}
    lines = [
        HEAD,
        said("m1", "user", [{"text": "list"}]),
        said("m2", "gemini", "", toolCalls=[running]),
        said("m3", "user", "quick"),
        said("m2", "gemini", "Listing.", toolCalls=[called("c1", "ls", "a.txt")]),
        {"$set": {"lastUpdated": "2026-11-01T10:00:00.000Z", "summary": "Listing"}},
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert brief(session) == [
        ("user", "list", 2),
        ("assistant", "Listing.", 5),
        ("call", "c1", "run_shell_command", '{"command":"ls"}', 5),
        ("result", "c1", "a.txt", "ok", None, 5),
        ("user", "quick", 4),
    ]
    assert session.metadata == {"title": "Listing"}


def test_call_without_a_result_stays(tmp_path):
    running = called("c1", "ls", "") | {"status": "executing", "result": None}
    session = read_one(
        lines_file(tmp_path / "s.jsonl", [HEAD, said("m1", "gemini", "", toolCalls=[running])])
    )
    assert [entry[0] for entry in brief(session)] == ["call"]


def test_pitfall_10_rewind_undoes_gemini(tmp_path):
    lines = [
        HEAD,
        said("m1", "user", "first"),
        said("m2", "gemini", "done"),
        said("m3", "user", "second"),
        said("m4", "gemini", "", toolCalls=[called("c1", "rm -r x", "")]),
        {"$rewindTo": "m3"},
        said("m5", "user", "other"),
        said("m6", "gemini", "fine"),
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert [entry[:2] for entry in brief(session)] == [
        ("user", "first"),
        ("assistant", "done"),
        ("user", "second"),
        ("call", "c1"),
        ("result", "c1"),
        ("rollback", 3),
        ("user", "other"),
        ("assistant", "fine"),
    ]
    turns = session.turns()
    assert [turn.undone for turn in turns] == [0, 1, 0]
    assert turns[1].action == 'run_shell_command {"command":"rm -r x"}'


def test_rewind_to_an_unknown_message_takes_all(tmp_path):
    lines = [HEAD, said("m1", "user", "a"), said("m2", "gemini", "b"), {"$rewindTo": "nobody"}]
    assert brief(read_one(lines_file(tmp_path / "s.jsonl", lines)))[-1] == ("rollback", 2, 4)


def test_rewind_twice(tmp_path):
    lines = [
        HEAD,
        said("m1", "user", "a"),
        said("m2", "gemini", "b"),
        {"$rewindTo": "m2"},
        said("m2", "gemini", "c"),
        {"$rewindTo": "m1"},
        {"$rewindTo": "m1"},
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert [entry[:2] for entry in brief(session)] == [
        ("user", "a"), ("assistant", "b"), ("rollback", 1), ("assistant", "c"), ("rollback", 4),
    ]  # fmt: skip
    assert [turn.undone for turn in session.turns()] == [2]


def test_pitfall_05_context_after_compression_is_no_new_turn_gemini(tmp_path):
    lines = [
        HEAD,
        {"$set": {"messages": [said("s0", "user", [{"text": "<session_context>\nToday"}])]}},
        said("m1", "user", "question"),
        said("m2", "gemini", "", toolCalls=[called("c1", "ls", "a.txt")]),
        said("m3", "gemini", "answer"),
        said("m4", "info", "Chat history compressed from 90 to 12 tokens."),
        {"$set": {"messages": [
            said("x1", "user", [{"text": "<state_snapshot>we listed</state_snapshot>"}]),
            said("x2", "gemini", [{"text": "Got it. Thanks for the additional context!"}]),
            said("x3", "gemini", [{"functionCall": {"id": "c1", "name": "run_shell_command"}}]),
            said("x4", "gemini", [{"text": "answer"}]),
        ]}},
        said("m5", "user", "next"),
        {"$rewindTo": "x4"},
    ]  # fmt: skip
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert brief(session) == [
        ("system", "<session_context>\nToday", 2),
        ("user", "question", 3),
        ("call", "c1", "run_shell_command", '{"command":"ls"}', 4),
        ("result", "c1", "a.txt", "ok", None, 4),
        ("assistant", "answer", 5),
        ("compaction", "Chat history compressed from 90 to 12 tokens.", 6),
        ("system", "<state_snapshot>we listed</state_snapshot>", 7),
        ("user", "next", 8),
        ("rollback", 4, 9),
    ]
    assert session.goal == "question"


def test_history_that_only_the_context_holds(tmp_path):
    call = {"functionCall": {"id": "f1", "name": "read_file", "args": {"path": "x"}}}
    response = {"functionResponse": {"id": "f1", "response": {"error": "no such file"}}}
    start = [said("a1", "user", [{"text": "look"}]), said("a2", "gemini", [{"text": "Yes."}, call])]
    lines = [
        HEAD,
        {"$set": {"messages": start}},
        {
            "$set": {
                "messages": [*start, said("a3", "user", [response]), said("a4", "user", "look")]
            }
        },
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert brief(session) == [
        ("user", "look", 2),
        ("assistant", "Yes.", 2),
        ("call", "f1", "read_file", '{"path":"x"}', 2),
        ("result", "f1", "no such file", "error", None, 3),
        ("user", "look", 3),
    ]


def read(tmp_path: Path, *lines: Any) -> Session:
    return read_one(lines_file(tmp_path / "s.jsonl", [HEAD, *lines]))


def checkpoint(*messages: Any) -> dict[str, Any]:
    return {"$set": {"messages": list(messages), "lastUpdated": "2026-11-01T09:09:00Z"}}


def test_a_checkpoint_replaces_the_list(tmp_path):
    first, third = said("m1", "user", "a"), said("m3", "user", "no, that is wrong")
    failing = called("c1", "make", "boom", "error")
    session = read(
        tmp_path,
        first,
        said("m2", "gemini", "b", toolCalls=[failing]),
        third,
        said("m4", "gemini", "d", toolCalls=[called("c2", "make", "boom", "error")]),
        checkpoint(third, said("n1", "gemini", "e"), first),
        said("m5", "gemini", "f"),
        said("m2", "gemini", "g"),
        said("m3", "user", "h"),
    )
    assert brief(session) == [
        ("user", "h", 9),
        ("assistant", "e", 6),
        ("user", "a", 2),
        ("assistant", "f", 7),
        ("assistant", "g", 8),
    ]
    assert score_session(session, Rules(), 1.0).worth.total_reward == 0
    assert session.counts().errors == 0
    assert not any(turn.undone for turn in session.turns())


def test_an_empty_checkpoint_leaves_nothing_but_a_head_may_say_so(tmp_path):
    asked = said("m1", "user", "a")
    assert brief(read(tmp_path, asked, checkpoint(), said("m2", "user", "b"))) == [("user", "b", 4)]
    assert brief(read(tmp_path, asked, {**HEAD, "messages": []})) == [("user", "a", 2)]
    assert brief(read(tmp_path, asked, {"$set": {"messages": "odd"}})) == [("user", "a", 2)]


def test_a_checkpoint_after_a_rewind_keeps_what_the_person_undid(tmp_path):
    first, answer = said("m1", "user", "a"), said("m2", "gemini", "b")
    undone = [said("m3", "user", "c"), said("m4", "gemini", "d"), {"$rewindTo": "m3"}]
    begin = [first, answer, *undone]
    expected = [
        ("user", "a", 2), ("assistant", "b", 3),
        ("user", "c", 4), ("assistant", "d", 5), ("rollback", 2, 6),
    ]  # fmt: skip
    again = said("m3", "user", "e")
    assert brief(read(tmp_path, *begin, checkpoint(first, answer), again)) == [
        *expected, ("user", "e", 8),
    ]  # fmt: skip
    # The message that it followed is gone: what was undone is told all the same.
    session = read(tmp_path, *begin, again, checkpoint(again, first))
    assert brief(session) == [
        ("user", "e", 7), ("user", "a", 2),
        ("user", "c", 4), ("assistant", "d", 5), ("rollback", 2, 6),
    ]  # fmt: skip
    assert [turn.undone for turn in session.turns()] == [1]


@pytest.mark.parametrize(("target", "undone"), [("m2", 1), ("m3", 2), ("nobody", 3), ("gone", 3)])
def test_a_rewind_after_a_checkpoint_goes_by_its_order(tmp_path, target, undone):
    one, two, three = (said(f"m{n}", "user", f"text {n}") for n in (1, 2, 3))
    lines = [said("gone", "user", "x"), one, two, three, checkpoint(one, three, two)]
    assert brief(read(tmp_path, *lines, {"$rewindTo": target})) == [
        ("user", "text 1", 3), ("user", "text 3", 5), ("user", "text 2", 4),
        ("rollback", undone, 7),
    ]  # fmt: skip


def test_thousands_of_rewinds(tmp_path):
    """Each takes back one message more: what was taken back before is not looked at again."""
    count = 20_000
    messages = [said(f"m{n}", "user", f"text {n}") for n in range(count)]
    rewinds = [{"$rewindTo": message["id"]} for message in reversed(messages)]
    entries = brief(read(tmp_path, *messages, *rewinds))
    assert [entry[1] for entry in entries[:count]] == [f"text {n}" for n in range(count)]
    assert [entry[1] for entry in entries[count:]] == list(range(1, 2 * count, 2))


def test_repeated_ids_in_a_checkpoint(tmp_path):
    one = said("m1", "user", "a")
    session = read(tmp_path, checkpoint(one, said("m2", "gemini", "b"), said("m1", "user", "c")))
    assert brief(session) == [("user", "c", 2), ("assistant", "b", 2)]


def test_a_checkpoint_may_give_new_ids_and_other_words(tmp_path):
    """What is known is told again by its words, each once; what was recorded is not overwritten."""
    lines = [
        said("m1", "user", "yes"),
        said("m2", "gemini", "", toolCalls=[called("c1", "ls", "a.txt")]),
        said("m3", "user", "yes"),
        checkpoint(
            said("x1", "user", [{"text": "yes"}]),
            said("x2", "gemini", [{"functionCall": {"id": "c1", "name": "run_shell_command"}}]),
            said("x3", "user", [{"functionResponse": {"id": "c1", "response": {"output": "-"}}}]),
            said("x4", "user", [{"text": "yes"}]),
            said("x5", "user", [{"text": "yes"}]),
            said("x6", "user", "first"),
        ),
    ]
    assert brief(read(tmp_path, *lines)) == [
        ("user", "yes", 2),
        ("call", "c1", "run_shell_command", '{"command":"ls"}', 3),
        ("result", "c1", "a.txt", "ok", None, 3),
        ("user", "yes", 4),
        ("user", "yes", 5),
        ("user", "first", 5),
    ]
    lines += [checkpoint(said("x1", "user", "masked"), said("x6", "user", "second"))]
    assert brief(read(tmp_path, *lines)) == [("user", "yes", 2), ("user", "second", 6)]


def test_notices_stay_with_the_message_they_follow(tmp_path):
    """The model's context never holds them, so that a checkpoint lacks them all."""
    cancelled = said("i1", "info", "Request cancelled.")
    one, two, three = (said(f"m{n}", "gemini", f"text {n}") for n in (1, 2, 3))
    early = said("i0", "error", "quota")
    lines = [early, one, cancelled, two, said("i2", "info", "Request cancelled."), three]
    session = read(tmp_path, *lines, checkpoint(three, one), {"$rewindTo": "i1"})
    assert brief(session) == [
        ("api_error", "quota", 2),
        ("assistant", "text 3", 7),
        ("assistant", "text 1", 3),
        ("interruption", "", 4),
        ("rollback", 1, 9),
    ]


def test_pitfall_05_a_summary_that_comes_again_counts_once_gemini(tmp_path):
    summary = said("x1", "user", [{"text": "<state_snapshot>we listed</state_snapshot>"}])
    old, new = said("m1", "user", "question"), said("m2", "user", "next")
    session = read(
        tmp_path,
        old,
        said("m9", "gemini", "answer"),
        checkpoint(summary, said("x2", "user", [{"text": "question"}])),
        new,
        checkpoint(summary, new, said("x3", "gemini", "later")),
    )
    assert brief(session) == [
        ("user", "question", 2),
        ("assistant", "answer", 3),
        ("compaction", "", 4),
        ("system", "<state_snapshot>we listed</state_snapshot>", 4),
        ("user", "next", 5),
        ("assistant", "later", 6),
    ]


IDS = st.sampled_from("abcdef")


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("message"), IDS),
            st.tuples(st.just("rewind"), IDS),
            st.tuples(st.just("checkpoint"), st.lists(IDS, unique=True)),
        ),
        max_size=14,
    )
)
def test_any_log_leaves_what_a_plain_replay_leaves(steps: list[tuple[str, Any]]) -> None:
    lines: list[Any] = []
    left: dict[str, dict[str, Any]] = {}
    for number, (kind, what) in enumerate(steps):
        if kind == "message":
            left[what] = said(what + "0", "user", f"text {number}")
            lines.append(left[what])
        elif kind == "rewind":
            names = list(left)
            for name in names[names.index(what) if what in left else 0 :]:
                del left[name]
            lines.append({"$rewindTo": what + "0"})
        else:
            left = {
                name: left.get(name) or said(name + "0", "user", f"text {number} {name}")
                for name in what
            }
            lines.append(checkpoint(*left.values()))
    with tempfile.TemporaryDirectory() as folder:
        session = read(Path(folder), said("z0", "user", "start"), {"$rewindTo": "z0"}, *lines)
    standing: list[str | None] = []
    for entry in session.entries:
        if isinstance(entry, Signal):
            standing[len(standing) - entry.undoes :] = [None] * entry.undoes
        standing.append(entry.text if isinstance(entry, Message) else None)
    assert [text for text in standing if text] == [said["content"] for said in left.values()]


def test_one_no_is_one_rejection(tmp_path):
    cancelled = NO + "cancelled the operation."
    calls = [called("c1", "a", cancelled, "cancelled"), called("c2", "b", cancelled, "cancelled")]
    lines = [
        HEAD,
        said("m1", "gemini", "", toolCalls=calls),
        said("m2", "gemini", "", toolCalls=[
            called("c3", "c", NO + "denied execution.", "cancelled"),
            called("c4", "d", "boom", "error"),
        ]),
        said("m3", "gemini", "", toolCalls=[
            called("c5", "e", NO + "cancelled tool execution.", "cancelled"),
        ]),
        said("m4", "info", "Request cancelled."),
        said("m5", "error", "[API Error: quota]"),
        said("m6", "warning", "careful"),
    ]  # fmt: skip
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    results = [entry for entry in brief(session) if entry[0] == "result"]
    assert [(entry[1], entry[3]) for entry in results] == [
        ("c1", "rejected"),
        ("c2", "interrupted"),
        ("c3", "rejected"),
        ("c4", "error"),
        ("c5", "interrupted"),
    ]
    assert brief(session)[-2:] == [("interruption", "", 5), ("api_error", "[API Error: quota]", 6)]
    counts = session.counts()
    assert (counts.rejections, counts.errors, counts.interruptions) == (2, 1, 1)


def test_pitfall_06_words_of_the_harness_gemini(tmp_path):
    image = {"mimeType": "image/png", "data": "A" * 400}
    lines = [
        HEAD,
        said("m1", "user", [{"text": "look at @a.py"},
                            {"text": "--- Content from referenced files ---"},
                            {"text": "secret = 1"}]),
        said("m2", "user", "System: Please continue."),
        said("m3", "user", [{"text": "<hook_context>be kind</hook_context>"}, {"text": "mine"}]),
        said("m4", "user", [{"text": "expanded text"}], displayContent=[{"text": "/typed"}]),
        said("m5", "user", [{"inlineData": image}, {"text": "see"}]),
        said("m6", "mystery", "x"),
    ]  # fmt: skip
    session = read_one(lines_file(tmp_path / "s.jsonl", lines))
    assert brief(session) == [
        ("user", "look at @a.py", 2),
        ("system", "System: Please continue.", 3),
        ("system", "<hook_context>be kind</hook_context>", 4),
        ("user", "mine", 4),
        ("user", "/typed", 5),
        ("user", "<image image/png 300 bytes>\nsee", 6),
    ]
    assert [(w.line, w.reason, w.lost) for w in session.warnings] == [
        (7, "unknown message type 'mystery'", False)
    ]


def test_subagent_has_a_parent_and_no_person(tmp_path):
    lines = [HEAD | {"kind": "subagent", "directories": ["/w"]}, said("m1", "user", "find the bug")]
    session = read_one(lines_file(tmp_path / "chats" / "parent-7" / "g-1.jsonl", lines))
    assert (session.parent, session.goal, session.cwd) == ("parent-7", "find the bug", "/w")
    assert brief(session) == [("system", "find the bug", 2)]


def test_no_id_takes_the_bytes(tmp_path):
    path = lines_file(tmp_path / "s.jsonl", [said("m1", "user", "a"), {"$rewindTo": "m9"}])
    with Source(path) as source:
        assert read_one(path).id == source.id_from_bytes()


def test_pitfall_12_a_cut_line_gemini(tmp_path):
    path = lines_file(tmp_path / "s.jsonl", [HEAD, said("m1", "user", "a")])
    path.write_text(path.read_text() + '{"id":"m2","type":"gem')
    session = read_one(path)
    assert brief(session) == [("user", "a", 2)]
    assert [warning.line for warning in session.warnings] == [3]


def test_hostile_shapes(tmp_path):
    message = said(
        "m1",
        "gemini",
        [{"text": "a"}, {"functionCall": {"id": "f", "name": "n", "args": {}}}],
        toolCalls=[called("c1", "ls", "a.txt")],
        displayContent=[{"text": "b"}],
    )
    value = [
        HEAD,
        message,
        {"$set": {"messages": [message, said("m2", "user", "u")]}},
        {"$rewindTo": "m1"},
    ]
    path = tmp_path / "s"
    for odd in bent(value):
        lines_file(path, odd)
        with Source(path) as source:
            assert len(list(read_lines(source))) == 1
    for odd in bent({**HEAD, "messages": [message, said("m2", "info", "Request cancelled.")]}):
        document_file(path, odd)
        with Source(path) as source:
            assert len(list(read_document(source))) == 1


@pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")
def test_samples():
    (session,) = read_all(sample("gemini-cli/jazzyalex__agent-sessions__large.json"))
    counts = session.counts()
    assert (counts.calls, counts.results, counts.errors, counts.interruptions) == (2, 2, 1, 1)
    (session,) = read_all(sample("gemini-cli/entireio__cli__9c_53780d06b7_0_full.json"))
    assert (session.counts().calls, session.counts().errors, len(session.turns())) == (4, 0, 6)
