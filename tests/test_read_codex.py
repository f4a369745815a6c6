"""Codex rollout files."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlearn.rewards.rules import Rules
from agentlearn.rewards.worth import score_session
from agentlearn.sessions.codex import read_lines
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Counts, Session
from tests.files import SAMPLES, bent, brief, document_file, lines_file, read_one, sample

START = datetime(2026, 11, 1, 9, tzinfo=UTC)


class Writer:
    """Writes lines as the agent does, a second apart unless a time is given."""

    def __init__(self, id: str | None = "th1", **meta: Any) -> None:
        self.lines: list[dict[str, Any]] = []
        self.step = 1.0
        self.now = START
        if id is not None:
            self.meta(id, **meta)

    def add(self, kind: str, payload: dict[str, Any]) -> None:
        stamp = self.now.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self.lines.append({"timestamp": stamp, "type": kind, "payload": payload})
        self.now += timedelta(seconds=self.step)

    def meta(self, id: str, **fields: Any) -> None:
        self.add("session_meta", {"id": id, "cwd": "/w/app", "cli_version": "0.145.0", **fields})

    def item(self, kind: str, **fields: Any) -> None:
        self.add("response_item", {"type": kind, **fields})

    def event(self, kind: str, **fields: Any) -> None:
        self.add("event_msg", {"type": kind, **fields})

    def message(self, role: str, *texts: Any) -> None:
        kind = "output_text" if role == "assistant" else "input_text"
        parts = [{"type": kind, "text": t} if isinstance(t, str) else t for t in texts]
        self.item("message", role=role, content=parts)

    def typed(self, text: str) -> None:
        """A prompt, as it is written: twice."""
        self.message("user", text)
        self.event("user_message", message=text, images=[])

    def answer(self, text: str) -> None:
        self.message("assistant", text)
        self.event("agent_message", message=text)

    def call(self, id: str, command: str = "ls", tool: str = "exec_command") -> None:
        self.item("function_call", name=tool, arguments=json.dumps({"cmd": command}), call_id=id)

    def output(self, id: str, text: Any) -> None:
        self.item("function_call_output", call_id=id, output=text)

    def ran(self, id: str, code: int, text: str = "") -> None:
        self.call(id)
        self.output(
            id,
            f"Chunk ID: 1f\nWall time: 2.1 seconds\nProcess exited with code {code}\n"
            f"Original token count: 9\nOutput:\n{text}",
        )

    def file(self, tmp_path: Path) -> Path:
        return lines_file(tmp_path / "rollout.jsonl", self.lines)

    def read(self, tmp_path: Path) -> Session:
        return read_one(self.file(tmp_path))


def plain() -> Writer:
    made = Writer(git={"branch": "main"})
    made.add("turn_context", {"model": "m-1", "cwd": "/w/app"})
    made.typed("Run the tests")
    made.answer("Running them.")
    made.ran("c1", 1, "1 failed")
    made.answer("One fails.")
    made.event("task_complete", last_agent_message="One fails.")
    return made


def turns(session: Session) -> list[tuple[str, str]]:
    return [(turn.action, turn.observation) for turn in session.turns()]


def statuses(session: Session) -> list[tuple[str, int | None]]:
    return [(entry[3], entry[4]) for entry in brief(session) if entry[0] == "result"]


def people(session: Session) -> list[tuple[str, int]]:
    return [(entry[1], entry[2]) for entry in brief(session) if entry[0] == "user"]


def test_a_session(tmp_path):
    session = plain().read(tmp_path)
    assert (session.id, session.dialect, session.agent) == ("th1", "codex", "codex")
    assert (session.model, session.version, session.cwd) == ("m-1", "0.145.0", "/w/app")
    assert (session.goal, session.parent, session.outcome) == ("Run the tests", None, "unknown")
    assert session.metadata == {"branch": "main"}
    output = (
        "Chunk ID: 1f\nWall time: 2.1 seconds\nProcess exited with code 1\n"
        "Original token count: 9\nOutput:\n1 failed"
    )
    assert brief(session) == [
        ("user", "Run the tests", 3),
        ("assistant", "Running them.", 5),
        ("call", "c1", "exec_command", '{"cmd": "ls"}', 7),
        ("result", "c1", output, "ok", 1, 8),
        ("assistant", "One fails.", 9),
    ]
    assert turns(session) == [
        ('Running them.\nexec_command {"cmd": "ls"}', output),
        ("One fails.", ""),
    ]
    assert session.counts() == Counts(3, 1, 1, 1, 0, 0)
    assert session.warnings == []


def test_pitfall_01_a_look_alike_without_payloads_is_refused(tmp_path):
    from agentlearn.sessions.read import NotATranscript

    rows = [{"type": "session_meta", "cwd": "/w"}, {"type": "event_msg", "text": "hi"}]
    with pytest.raises(NotATranscript):
        read_one(lines_file(tmp_path / "x.jsonl", rows))


def test_pitfall_03_reasoning_is_encrypted_codex(tmp_path):
    made = plain()
    made.item("reasoning", summary=[], content=None, encrypted_content="gAAAA")
    made.event("agent_reasoning", text="thinking")
    assert len(made.read(tmp_path).entries) == 5


def test_pitfall_05_replacement_history_is_not_new(tmp_path):
    made = plain()
    old = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "old"}]}
    made.add("compacted", {"message": "Summary so far", "replacement_history": [old]})
    made.event("context_compacted")
    made.item("compaction", encrypted_content="x")
    session = made.read(tmp_path)
    assert brief(session)[5:] == [("compaction", "Summary so far", 12)]
    assert people(session) == [("Run the tests", 3)]


@pytest.mark.parametrize(
    "words",
    [
        "<environment_context>\n<cwd>/w</cwd>\n</environment_context>",
        "# AGENTS.md instructions for /w\n\n<INSTRUCTIONS>\nbe good",
        "<skill>\n<name>x</name>",
        "<subagent_notification>{}</subagent_notification>",
        "<user_action>review</user_action>",
        "<recommended_plugins>",
    ],
)
def test_pitfall_06_words_that_no_person_wrote_codex(tmp_path, words):
    made = Writer()
    made.message("developer", "You are an agent")
    made.message("user", words)
    made.typed("Mine")
    session = made.read(tmp_path)
    assert brief(session) == [("system", words, 3), ("user", "Mine", 4)]
    assert session.goal == "Mine"


def test_pitfall_06_what_an_editor_puts_before_the_words(tmp_path):
    made = Writer()
    made.typed(
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nGo\n"
    )
    assert people(made.read(tmp_path)) == [("Go", 2)]


def test_pitfall_07_rejections_and_interruptions_codex(tmp_path):
    made = Writer()
    made.typed("Go")
    outputs = [
        "exec command rejected by user",
        "patch rejected by user",
        'exec_command failed for `rm -r x`: CreateProcess { message: "rejected by user" }',
        "exec_command failed for `"
        + "x" * 900
        + '`: CreateProcess { message: "rejected by user" }',
        "Script failed\nWall time 0.1 seconds\nOutput:\n"
        "Script error:\nexec command rejected by user",
        "aborted by user after 3.1s",
        "Wall time: 3.2 seconds\naborted by user",
    ]
    for number, text in enumerate(outputs):
        made.call(f"c{number}")
        made.output(f"c{number}", text)
    made.event("turn_aborted", reason="interrupted")
    made.message("user", "<turn_aborted>\nThe user interrupted the turn\n</turn_aborted>")
    session = made.read(tmp_path)
    assert statuses(session) == [("rejected", None)] * 5 + [("interrupted", None)] * 2
    assert session.counts() == Counts(1, 7, 7, 0, 5, 1)


def test_pitfall_07_a_text_that_speaks_of_rejections_is_none(tmp_path):
    made = Writer()
    texts = ["src/a.rs: rejected by user", "the run was\naborted by user\nyesterday"]
    for number, text in enumerate(texts):
        made.ran(f"c{number}", 0, text)
    for number, text in enumerate(texts, 2):
        made.call(f"c{number}")
        made.output(f"c{number}", text + "\n" + "a long file\n" * 100)
    assert statuses(made.read(tmp_path)) == [("ok", 0), ("ok", 0), ("ok", None), ("ok", None)]


@pytest.mark.parametrize("order", ["item", "event", "both", "event first"])
def test_pitfall_07_an_interruption_counts_once(tmp_path, order):
    made = Writer()
    for _ in range(2):
        made.typed("Go")
        made.call(f"c{len(made.lines)}")
        if order == "event first":
            made.event("turn_aborted", reason="interrupted")
        if order != "event":
            made.message("user", "<turn_aborted>\nx\n</turn_aborted>")
        if order in ("event", "both"):
            made.event("turn_aborted", reason="interrupted")
    assert made.read(tmp_path).counts() == Counts(2, 2, 0, 0, 0, 2)


@pytest.mark.parametrize(
    ("reason", "interruptions"), [(None, 1), ("interrupted", 1), ("budget_limited", 0)]
)
def test_pitfall_07_an_aborted_output_is_an_interruption_once(tmp_path, reason, interruptions):
    made = Writer()
    made.typed("Go")
    made.ran("c0", 0)
    for id in ("c1", "c2"):
        made.call(id)
    for id in ("c1", "c2"):
        made.output(id, "aborted by user after 3.0s")
    if reason is not None:
        made.event("turn_aborted", reason=reason)
        made.message("user", "<turn_aborted>\nx\n</turn_aborted>" if interruptions else "x")
    made.typed("Look at the log")
    made.ran("c3", 0)
    session = made.read(tmp_path)
    assert session.counts().interruptions == interruptions
    worth = score_session(session, Rules(), 1.0).worth
    assert worth.rewards == [0.0, 0.0, Rules().person.interruption * interruptions, 0.0]


def test_pitfall_07_an_aborted_output_ends_the_file(tmp_path):
    made = Writer()
    made.typed("Go")
    made.call("c1")
    made.output("c1", "aborted by user after 3.0s")
    assert brief(made.read(tmp_path))[-1] == ("interruption", "", 5)


def test_only_the_person_interrupts(tmp_path):
    made = Writer()
    for reason in ("replaced", "review_ended", "budget_limited"):
        made.event("turn_aborted", reason=reason)
    assert made.read(tmp_path).counts().interruptions == 0


def test_pitfall_07_a_declined_command_is_rejected(tmp_path):
    made = Writer()
    for number, kind in enumerate(("exec_command_end", "patch_apply_end")):
        made.call(f"c{number}")
        made.event(kind, call_id=f"c{number}", status="declined", success=False, exit_code=-1)
        made.output(f"c{number}", "not run")
    session = made.read(tmp_path)
    assert session.counts() == Counts(0, 2, 2, 0, 2, 0)


def test_pitfall_08_each_message_stands_twice(tmp_path):
    session = plain().read(tmp_path)
    assert people(session) == [("Run the tests", 3)]
    assert session.counts().messages == 3


@pytest.mark.parametrize("order", ["item, event", "event, item", "items only", "events only"])
def test_pitfall_08_the_same_prompt_typed_twice_is_two_messages(tmp_path, order):
    made = Writer()
    for _ in range(3):
        for side in order.split(", "):
            if side.startswith("item"):
                made.message("user", "go on")
            else:
                made.event("user_message", message="go on\n")
        made.answer("Going on.")
    session = made.read(tmp_path)
    assert [words for words, _ in people(session)] == ["go on"] * 3
    assert [turn.observation for turn in session.turns()] == ["go on", "go on", ""]


def test_pitfall_08_both_items_before_both_events(tmp_path):
    made = Writer()
    made.message("user", "one")
    made.message("user", "two")
    made.event("user_message", message="one")
    made.event("user_message", message="two")
    assert people(made.read(tmp_path)) == [("one", 2), ("two", 3)]


@pytest.mark.parametrize("event_first", [True, False])
def test_pitfall_08_an_image_stands_only_in_the_item(tmp_path, event_first):
    made = Writer()
    image = {"type": "input_image", "image_url": "data:image/png;base64," + "QUJD" * 40}
    if event_first:
        made.event("user_message", message="What is this?", images=["x"])
    made.message("user", "What is this?", image)
    if not event_first:
        made.event("user_message", message="What is this?", images=["x"])
    made.answer("A cat.")
    made.typed("What is this?")
    session = made.read(tmp_path)
    tag = "" if event_first else "\n<image image/png 120 bytes>"
    assert [words for words, _ in people(session)] == [f"What is this?{tag}", "What is this?"]


def test_pitfall_08_a_prompt_inside_a_later_prompt_is_no_echo(tmp_path):
    made = Writer()
    made.message("user", "go")
    made.answer("Gone.")
    made.event("user_message", message="let us go on")
    assert people(made.read(tmp_path)) == [("go", 2), ("let us go on", 5)]


def test_pitfall_08_an_echo_is_heard_once(tmp_path):
    made = Writer()
    made.typed("go")
    made.event("user_message", message="go on")
    made.event("user_message", message="")
    assert people(made.read(tmp_path)) == [("go", 2), ("go on", 4)]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from(["", "go", "go on", "let us go on", "stop"])),
        max_size=12,
    )
)
def test_pitfall_08_words_in_any_order_never_raise(tmp_path_factory, said):
    made = Writer()
    for is_event, words in said:
        if is_event:
            made.event("user_message", message=words)
        else:
            made.message("user", words)
    session = made.read(tmp_path_factory.mktemp("echoes"))
    asked = [words for _, words in said if words]
    assert (len(asked) + 1) // 2 <= len(people(session)) <= len(asked)


def test_pitfall_08_in_a_paginated_history_the_words_are_in_the_events(tmp_path):
    made = Writer(history_mode="paginated")

    def completed(kind: str, **fields: Any) -> None:
        made.event("item_completed", thread_id="th1", item={"type": kind, **fields})

    completed("UserMessage", id="i1", content=[{"type": "text", "text": "Go"}])
    completed("AgentMessage", id="i2", content=[{"type": "Text", "text": "Going."}])
    made.message("assistant", "Going.")
    made.call("c1")
    completed("CommandExecution", id="c1", exit_code=3, status="failed")
    made.output("c1", "no such file")
    completed("AgentMessage", id="i3", content=[{"type": "Text", "text": "It failed."}])
    session = made.read(tmp_path)
    assert brief(session) == [
        ("user", "Go", 2),
        ("assistant", "Going.", 3),
        ("call", "c1", "exec_command", '{"cmd": "ls"}', 5),
        ("result", "c1", "no such file", "ok", 3, 7),
        ("assistant", "It failed.", 8),
    ]
    assert session.counts().errors == 1


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("Chunk ID: a\nWall time: 1 seconds\nProcess exited with code 2\nOutput:\nx", 2),
        ("Wall time: 1 seconds\r\nProcess exited with code 3\r\nOutput:\r\nx", 3),
        ("Process exited with code -1", -1),
        ("Exit code: 4\nWall time: 1.2 seconds\nTotal output lines: 9\nOutput:\nx", 4),
        ("Warning: slow\nExit code: 0\nOutput:\nProcess exited with code 1", 0),
        ('{"output":"x\\n","metadata":{"exit_code":5,"duration_seconds":0.1}}', 5),
        ('{"metadata":{"exit_code":6},"output":"x"}', 6),
        ({"content": "x", "success": False, "metadata": {"exit_code": 7}}, 7),
        ({"output": "x", "metadata": {"exit_code": 7}}, 7),
        ([{"type": "input_text", "text": "Exit code: 8\nOutput:\nx"}], 8),
        ("Wall time: 1\nProcess running with session ID 77\nOutput:\nx", None),
        ("Script completed\nWall time 0.3 seconds\nOutput:\nProcess exited with code 1", None),
        ("Chunk ID: a\nProcess exited with code 0\nOutput:\nProcess exited with code 9", 0),
        ("the manual says:\nProcess exited with code 9", None),
        ("\nExit code: 9", None),
        ('{"output":"x","metadata":{"exit_code":true}}', None),
        ('{"output":7,"metadata":{"exit_code":9}}', None),
        ('{"exit_code": 9', None),
        (None, None),
        ("", None),
    ],
)
def test_pitfall_09_exit_codes_hide_in_many_places(tmp_path, output, code):
    made = Writer()
    made.call("c1")
    made.output("c1", output)
    session = made.read(tmp_path)
    assert statuses(session) == [("ok", code)]
    assert session.counts().errors == (1 if code else 0)


@pytest.mark.parametrize("late", [True, False])
def test_pitfall_09_until_0_128_the_exit_code_is_an_event(tmp_path, late):
    made = Writer()
    made.call("c1")
    if not late:
        made.event("exec_command_end", call_id="c1", exit_code=2, status="failed")
    made.output("c1", "no header at all")
    if late:
        made.event("exec_command_end", call_id="c1", exit_code=2, status="failed")
    made.ran("c2", 0)
    made.event("exec_command_end", call_id="c2", exit_code=1)
    made.event("exec_command_end", call_id="nobody", exit_code=1)
    session = made.read(tmp_path)
    assert statuses(session) == [("ok", 2), ("ok", 0)]
    assert session.counts().errors == 1


def test_pitfall_09_a_running_command_ends_in_a_later_call(tmp_path):
    made = Writer()
    made.call("c1")
    made.output("c1", "Wall time: 1\nProcess running with session ID 7\nOutput:\n")
    made.call("c2", tool="write_stdin")
    made.output("c2", "Wall time: 9\nProcess exited with code 1\nOutput:\nbroken")
    session = made.read(tmp_path)
    assert statuses(session) == [("ok", None), ("ok", 1)]
    assert session.counts().errors == 1


def test_pitfall_09_in_code_mode_nothing_is_made_up(tmp_path):
    made = Writer()
    made.item("custom_tool_call", name="exec", input="await tools.exec_command({})", call_id="c1")
    head = {"type": "input_text", "text": "Script completed\nWall time 0.2 seconds\nOutput:\n"}
    body = {"type": "input_text", "text": "tests failed, exit code 1"}
    made.item("custom_tool_call_output", call_id="c1", output=[head, body])
    session = made.read(tmp_path)
    assert statuses(session) == [("ok", None)]
    assert session.counts().errors == 0
    assert session.turns()[0].action == "exec await tools.exec_command({})"


@pytest.mark.parametrize(
    ("printed", "code"),
    [
        ('{"chunk_id":"a1","wall_time_seconds":0.06,"exit_code":1,"output":"FAIL"}', 1),
        ('{"chunk_id":"a1","wall_time_seconds":0,"exit_code":0,"output":"ok"}', 0),
        (
            '{\n  "chunk_id": "a1",\n  "wall_time_seconds": 0,\n  "exit_code": 3,\n'
            '  "output": "no"\n}',
            3,
        ),
        (
            '[{"chunk_id":"a1","wall_time_seconds":0,"exit_code":0,"output":"ok"},'
            '{"chunk_id":"a2","wall_time_seconds":0,"exit_code":2,"output":"no"}]',
            2,
        ),
        ('{"chunk_id":"a1","wall_time_seconds":30.1,"session_id":7,"output":"exit_code"}', None),
        (
            '{"chunk_id":"a1","wall_time_seconds":0,"output":'
            '"{\\"chunk_id\\":\\"b\\",\\"wall_time_seconds\\":0,\\"exit_code\\":9"}',
            None,
        ),
    ],
)
def test_pitfall_09_in_code_mode_a_script_may_print_exit_codes(tmp_path, printed, code):
    made = Writer()
    made.item("custom_tool_call", name="exec", input="text(await run())", call_id="c1")
    head = {"type": "input_text", "text": "Script completed\nWall time 0.2 seconds\nOutput:\n"}
    body = {"type": "input_text", "text": printed}
    made.item("custom_tool_call_output", call_id="c1", output=[head, body])
    assert statuses(made.read(tmp_path)) == [("ok", code)]


@pytest.mark.parametrize(
    "output",
    [
        "apply_patch verification failed: no such line",
        "exec_command failed for `x`: not found",
        "collab spawn failed: limit",
        "failed to parse function arguments: EOF",
        "unsupported call: nothing",
        "Script failed\nWall time 0.0 seconds\nOutput:\nScript error:\nboom",
    ],
)
def test_calls_that_failed_without_an_exit_code(tmp_path, output):
    made = Writer()
    made.call("c1")
    made.output("c1", output)
    assert statuses(made.read(tmp_path)) == [("error", None)]


@pytest.mark.parametrize(
    ("kind", "fields", "status"),
    [
        ("patch_apply_end", {"success": False}, "error"),
        ("patch_apply_end", {"success": True}, "ok"),
        ("mcp_tool_call_end", {"result": {"Err": "no server"}}, "error"),
        ("mcp_tool_call_end", {"result": {"Ok": {"content": [], "isError": True}}}, "error"),
        ("mcp_tool_call_end", {"result": {"Ok": {"content": [], "isError": False}}}, "ok"),
        ("mcp_tool_call_end", {"result": None}, "ok"),
    ],
)
@pytest.mark.parametrize("late", [True, False])
def test_calls_that_failed_by_their_event(tmp_path, kind, fields, status, late):
    made = Writer()
    made.call("c1")
    if not late:
        made.event(kind, call_id="c1", **fields)
    made.output("c1", "text")
    if late:
        made.event(kind, call_id="c1", **fields)
    assert statuses(made.read(tmp_path)) == [(status, None)]


def test_pitfall_10_a_rollback_undoes_the_last_prompts(tmp_path):
    made = Writer()
    made.typed("one")
    made.ran("c1", 0)
    made.answer("One.")
    made.typed("two")
    made.ran("c2", 0)
    made.ran("c3", 0)
    made.answer("Two.")
    made.event("thread_rolled_back", num_turns=1)
    made.typed("three")
    made.ran("c4", 0)
    session = made.read(tmp_path)
    assert [(turn.action[:12], turn.undone) for turn in session.turns()] == [
        ("exec_command", 0),
        ("One.", 0),
        ("exec_command", 3),
        ("exec_command", 0),
    ]
    assert session.turns()[2].observation == "undone by the person, 3 turns"
    assert ("rollback", 6, 16) in brief(session)


def test_pitfall_10_what_is_undone_is_not_undone_again(tmp_path):
    made = Writer()
    for number in (1, 2, 3):
        made.typed(f"prompt {number}")
        made.ran(f"c{number}", 0)
    made.event("thread_rolled_back", num_turns=1)
    made.event("thread_rolled_back", num_turns=1)
    session = made.read(tmp_path)
    assert [turn.undone for turn in session.turns()] == [0, 2]
    made.typed("prompt 4")
    made.ran("c4", 0)
    made.event("thread_rolled_back", num_turns=2)
    assert [turn.undone for turn in made.read(tmp_path).turns()] == [4]


@pytest.mark.parametrize("count", [3, 99])
def test_pitfall_10_more_than_there_is(tmp_path, count):
    made = plain()
    made.event("thread_rolled_back", num_turns=count)
    assert [turn.undone for turn in made.read(tmp_path).turns()] == [2]


@pytest.mark.parametrize("count", [0, -1, None, "two"])
def test_pitfall_10_a_rollback_of_nothing_codex(tmp_path, count):
    made = plain()
    made.event("thread_rolled_back", num_turns=count)
    assert [turn.undone for turn in made.read(tmp_path).turns()] == [0, 0]


def test_pitfall_11_a_resumed_session_has_several_heads(tmp_path):
    made = plain()
    made.now += timedelta(hours=3)
    made.meta("th1")
    made.typed("And now?")
    session = made.read(tmp_path)
    assert people(session) == [("Run the tests", 3), ("And now?", 13)]
    assert "forked_from" not in session.metadata


def forked(burst: bool, named: bool) -> Writer:
    """A fork: its head, its parent's head and history, then its own lines."""
    parent = plain().lines
    fields = {"forked_from_id": "th1"} if named else {}
    made = Writer(None)
    made.now += timedelta(hours=1)
    made.step = 0.001
    made.meta("th2", **fields)
    for line in parent:
        made.add(line["type"], line["payload"])
        if not burst:
            made.lines[-1]["timestamp"] = line["timestamp"]
    made.step = 1.0
    made.now += timedelta(seconds=20)
    return made


@pytest.mark.parametrize("burst", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_pitfall_11_a_fork_does_not_repeat_its_parent(tmp_path, burst, named):
    made = forked(burst, named)
    made.typed("Another way")
    made.ran("c9", 0)
    session = made.read(tmp_path)
    assert (session.id, session.metadata["forked_from"]) == ("th2", "th1")
    assert session.metadata["inherited_lines"] == 9
    assert session.goal == "Another way"
    assert session.counts() == Counts(1, 1, 1, 0, 0, 0)
    assert [turn.lines for turn in session.turns()] == [(15, 16)]


def test_pitfall_11_a_forked_sub_agent_keeps_its_own_task(tmp_path):
    """It is given in the moment of the fork, right after the copied lines."""
    made = forked(burst=True, named=True)
    made.lines[0]["payload"]["source"] = {
        "subagent": {"thread_spawn": {"parent_thread_id": "th1", "depth": 1}}
    }
    made.now -= timedelta(seconds=20)
    made.typed("Look at the docs")
    made.now += timedelta(seconds=5)
    made.ran("c9", 0)
    session = made.read(tmp_path)
    assert (session.id, session.parent, session.goal) == ("th2", "th1", "Look at the docs")
    assert brief(session)[0] == ("system", "Look at the docs", 13)
    assert session.counts() == Counts(1, 1, 1, 0, 0, 0)


def test_pitfall_11_a_foreign_head_late_in_a_file_costs_nothing(tmp_path):
    made = plain()
    made.meta("somebody-else")
    made.lines[-1]["timestamp"] = "unknown"
    made.meta("somebody-else")
    made.typed("And now?")
    session = made.read(tmp_path)
    assert session.id == "th1"
    assert people(session) == [("Run the tests", 3), ("And now?", 14)]


@pytest.mark.parametrize(
    ("meta", "parent"),
    [
        ({"parent_thread_id": "p1"}, "p1"),
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p2"}}}}, "p2"),
        ({"source": {"subagent": "review"}}, None),
    ],
)
def test_pitfall_11_what_a_sub_agent_is_told_is_no_persons_word(tmp_path, meta, parent):
    made = Writer("sub", **meta)
    made.typed("Review it")
    made.answer("Fine.")
    made.typed("Now the docs")
    made.ran("c1", 0)
    made.event("thread_rolled_back", num_turns=1)
    session = made.read(tmp_path)
    assert (session.id, session.parent, session.goal) == ("sub", parent, "Review it")
    assert people(session) == []
    assert [(turn.action[:12], turn.undone) for turn in session.turns()] == [
        ("Fine.", 0),
        ("exec_command", 1),
    ]


@pytest.mark.parametrize("source", ["cli", None, 7, [], {"subagent": []}, {"subagent": {"x": 1}}])
def test_odd_sources(tmp_path, source):
    made = Writer("th1", source=source)
    made.typed("Go")
    assert made.read(tmp_path).parent is None


def test_pitfall_12_glued_cut_and_unknown_lines_codex(tmp_path):
    made = plain()
    made.add("from_the_future", {"type": "x"})
    made.item("new_kind")
    rows = [json.dumps(line) for line in made.lines]
    path = tmp_path / "rollout.jsonl"
    path.write_text("\n".join([*rows[:2], rows[2] + rows[3], *rows[4:], rows[2][:-9]]))
    session = read_one(path)
    assert session.counts() == Counts(3, 1, 1, 1, 0, 0)
    assert people(session) == [("Run the tests", 3)]
    assert [(w.line, w.reason, w.lost) for w in session.warnings] == [
        (13, "not JSON: unterminated string starting at", True),
        (11, "unknown line type 'from_the_future'", False),
        (12, "unknown line type 'new_kind'", False),
    ]


def test_pitfall_13_a_zstd_file_with_an_image_of_megabytes(tmp_path):
    made = Writer()
    made.typed("Look")
    made.call("c1", tool="view_image")
    url = "data:image/png;base64," + "QUJD" * 400_000
    made.output("c1", [{"type": "input_image", "image_url": url}])
    path = made.file(tmp_path)
    packed = tmp_path / "rollout.jsonl.zst"
    packed.write_bytes(zstandard.compress(path.read_bytes()))
    session = read_one(packed)
    assert session.turns()[0].observation == "<image image/png 1200000 bytes>"
    assert session.id == "th1"


def test_pitfall_14_an_ok_flag_beside_a_failing_exit_code_codex(tmp_path):
    made = Writer()
    made.call("c1")
    made.event("exec_command_end", call_id="c1", exit_code=1, status="completed")
    made.output("c1", "tests failed")
    assert made.read(tmp_path).counts().errors == 1


def test_pitfall_15_task_complete_is_no_success(tmp_path):
    session = plain().read(tmp_path)
    assert session.outcome == "unknown"


def test_a_task_that_ended_badly(tmp_path):
    made = plain()
    made.event("task_complete", error={"message": "quota exceeded"})
    made.event("error", message="stream lost")
    made.event("stream_error", message="retrying")
    assert brief(made.read(tmp_path))[5:] == [
        ("api_error", "quota exceeded", 12),
        ("api_error", "stream lost", 13),
        ("api_error", "retrying", 14),
    ]


def test_arguments_are_kept_as_the_model_wrote_them(tmp_path):
    made = Writer()
    made.item("function_call", name="run", arguments='{"cmd": "cut of', call_id="a")
    made.item("function_call", name="run", arguments=None, call_id="b")
    made.item("custom_tool_call", name="apply_patch", input="*** Begin Patch\n", call_id="c")
    made.item("local_shell_call", call_id="d", action={"type": "exec", "command": ["ls"]})
    made.item("tool_search_call", call_id="e", arguments={"query": "git"})
    made.item("web_search_call", id="f", action={"type": "search", "query": "x"})
    made.item("web_search_call", action={"type": "search", "query": "y"})
    made.item("image_generation_call", id="g")
    session = made.read(tmp_path)
    assert [turn.action for turn in session.turns()] == [
        'run {"cmd": "cut of',
        "run",
        "apply_patch *** Begin Patch",
        'local_shell {"type": "exec", "command": ["ls"]}',
        'tool_search {"query":"git"}',
        'web_search {"type": "search", "query": "x"}',
        'web_search {"type": "search", "query": "y"}',
        "image_generation",
    ]
    assert session.warnings == []


def test_parallel_calls_and_outputs_in_any_order(tmp_path):
    made = Writer()
    made.typed("Go")
    made.message("assistant", "Both at once.")
    for name in ("a", "b", "c"):
        made.call(name, name)
    made.output("c", "of c")
    made.output("nobody", "orphan")
    made.output("a", "of a")
    session = made.read(tmp_path)
    assert turns(session) == [
        ('Both at once.\nexec_command {"cmd": "a"}', "of a"),
        ('exec_command {"cmd": "b"}', ""),
        ('exec_command {"cmd": "c"}', "of c"),
    ]
    assert session.counts() == Counts(2, 3, 2, 0, 0, 0)


def test_a_call_written_twice_counts_once(tmp_path):
    made = Writer()
    for _ in range(2):
        made.ran("c1", 1)
    assert made.read(tmp_path).counts() == Counts(0, 1, 1, 1, 0, 0)


def test_a_broken_character_costs_a_character(tmp_path):
    made = plain()
    made.ran("c2", 3, "HALF")
    path = made.file(tmp_path)
    for broken in (b"\xff", b"\\ud83d"):
        path.write_bytes(
            path.read_bytes()
            .replace(b"HALF", broken)
            .replace(b"One fails.", b"One " + broken)
            .replace(b"Run the tests", b"Run " + broken)
        )
        session = read_one(path)
        assert people(session) == [("Run \ufffd", 3)]
        assert statuses(session) == [("ok", 1), ("ok", 3)]
        assert session.entries[4].text == "One \ufffd"
        assert session.warnings == []
        path = made.file(tmp_path)


def test_crlf_and_byte_order_mark_codex(tmp_path):
    path = plain().file(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    session = read_one(path)
    assert (session.id, session.counts()) == ("th1", Counts(3, 1, 1, 1, 0, 0))
    assert session.warnings == []


def test_bare_items_of_2025(tmp_path):
    made = plain()
    rows: list[dict[str, Any]] = [
        {"id": "old", "timestamp": "2025-05-01T09:00:00Z", "instructions": None, "git": {}}
    ]
    rows += [line["payload"] for line in made.lines if line["type"] == "response_item"]
    rows.insert(2, {"record_type": "state"})
    session = read_one(lines_file(tmp_path / "rollout.jsonl", rows))
    assert (session.id, session.started_at) == ("old", "2025-05-01T09:00:00Z")
    assert session.counts() == Counts(3, 1, 1, 1, 0, 0)


def test_the_first_program_wrote_one_json_value(tmp_path):
    items = [line["payload"] for line in plain().lines if line["type"] == "response_item"]
    value = {"session": {"id": "first", "timestamp": "2025-04-17T09:00:00Z"}, "items": items}
    session = read_one(document_file(tmp_path / "rollout.json", value))
    assert (session.id, session.unit, len(session.raws)) == ("first", "entry", len(items))
    assert session.counts() == Counts(3, 1, 1, 1, 0, 0)


def test_whatever_stands_in_a_line_nothing_is_raised_codex(tmp_path):
    made = plain()
    made.event("exec_command_end", call_id="c1", exit_code=1, status="x")
    made.event("mcp_tool_call_end", call_id="c1", result={"Ok": {"isError": True}})
    made.event("thread_rolled_back", num_turns=1)
    made.event("task_complete", error={"message": "x"})
    made.event("item_completed", item={"type": "UserMessage", "content": [{"text": "x"}]})
    path = tmp_path / "bent.jsonl"
    for number, line in enumerate(made.lines):
        for odd in bent(line):
            lines_file(path, [*made.lines[:number], odd, *made.lines[number + 1 :]])
            with Source(path) as source:
                for session in read_lines(source):
                    session.turns()
                    session.counts()


@settings(max_examples=120, deadline=None)
@given(seed=st.integers(0, 1_000_000), changes=st.integers(1, 5))
def test_changed_bytes_cost_only_their_lines_codex(tmp_path_factory, seed, changes):
    chance = random.Random(seed)
    made = Writer()
    for number in range(8):
        made.message("user", f"prompt {number} café")
        made.ran(f"c{number}", number, "\U0001f600")
    path = made.file(tmp_path_factory.mktemp("mutated"))
    whole = {entry[-1]: entry for entry in brief(read_one(path))}
    rows = path.read_bytes().split(b"\n")[:-1]
    touched = set()
    for _ in range(changes):
        number = chance.randrange(1, len(rows))
        row, at = rows[number], chance.randrange(len(rows[number]) + 1)
        new = bytes([chance.randrange(256)]).replace(b"\n", b" ")
        rows[number] = chance.choice(
            [
                row[:at] + new + row[at + 1 :],
                row[:at],
                row[:at] + row[at + 1 :],
                b"",
                row[:at] + new,
            ]
        )
        touched.add(number + 1)
    path.write_bytes(b"\n".join(rows) + b"\n")
    session = read_one(path)
    found = {entry[-1]: entry for entry in brief(session)}
    for line, entry in whole.items():
        if line not in touched:
            assert found[line] == entry
    assert all(warning.line in touched for warning in session.warnings)


@pytest.mark.skipif(SAMPLES is None, reason="AGENTLEARN_SAMPLES is not set")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("entireio__git-sync__34_56387d7a8a_14_full", (4, 4, 0, 0, 0)),
        ("entireio__git-sync__19_1ffd473fdb_0_full", (18, 18, 0, 0, 0)),
        ("entireio__entire-graph__a3_b944375aa8_0_full", (77, 77, 2, 0, 0)),
        ("entireio__entire-graph__03_0f3d39319d_0_full", (333, 333, 7, 0, 0)),
        ("entireio__skills__31_b0208052bc_0_raw_transcript", (44, 44, 4, 0, 0)),
        ("jazzyalex__agent-sessions__small", (5, 4, 1, 0, 1)),
    ],
)
def test_counts_of_real_files_codex(name, expected):
    """Counted with a few lines that share no code with the reader."""
    session = read_one(sample(f"codex/{name}.jsonl"))
    counts = session.counts()
    found = (
        counts.calls,
        counts.results,
        counts.errors,
        counts.rejections,
        counts.interruptions,
    )
    assert found == expected
    assert sum(turn.call is not None for turn in session.turns()) == counts.calls
    assert [warning for warning in session.warnings if warning.lost] == []
