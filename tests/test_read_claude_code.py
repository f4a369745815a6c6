"""Claude Code session files."""

from __future__ import annotations

import base64
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlearn.sessions.claude_code import read_lines
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import FIELD_CAP, Counts, Session
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

REJECTION = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it "
    "was a file edit, the new_string was NOT written to the file). "
)


class Writer:
    """Writes lines as the agent does: each line's parent is the one before."""

    def __init__(self, session: str = "s1") -> None:
        self.session = session
        self.lines: list[dict[str, Any]] = []
        self.last: str | None = None

    def add(self, kind: str, **fields: Any) -> str:
        uuid = fields.pop("uuid", f"u{len(self.lines) + 1}")
        line = {
            "type": kind,
            "uuid": uuid,
            "parentUuid": self.last,
            "isSidechain": False,
            "sessionId": self.session,
            "timestamp": f"2026-11-01T09:{len(self.lines):02d}:00.000Z",
            **fields,
        }
        self.lines.append(line)
        self.last = uuid
        return uuid

    def typed(self, text: Any, **fields: Any) -> str:
        return self.add("user", message={"role": "user", "content": text}, **fields)

    def answer(self, message: str, *blocks: dict[str, Any], **fields: Any) -> str:
        body = {"id": message, "role": "assistant", "model": "m-1", "content": list(blocks)}
        return self.add("assistant", message=body, **fields)

    def result(self, call: str, text: Any, is_error: bool = False, **fields: Any) -> str:
        block = {"type": "tool_result", "tool_use_id": call, "content": text}
        if is_error:
            block["is_error"] = True
        return self.typed([block], **fields)

    def side(self, kind: str, **fields: Any) -> None:
        """A line that is no part of the conversation."""
        self.lines.append({"type": kind, "sessionId": self.session, **fields})

    def file(self, tmp_path: Path, name: str = "s1.jsonl") -> Path:
        return lines_file(tmp_path / name, self.lines)

    def read(self, tmp_path: Path) -> Session:
        return read_one(self.file(tmp_path))


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def call(id: str, name: str = "Bash", **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": arguments}


def plain() -> Writer:
    made = Writer()
    made.typed("Run the tests", version="2.1.218", cwd="/w/app", gitBranch="main")
    made.answer("m1", text("Running them."))
    made.answer("m1", call("t1", command="pytest"))
    made.result("t1", "Exit code 1\n1 failed", is_error=True)
    made.answer("m2", text("One fails."))
    made.typed("Mend it")
    made.answer("m3", call("t2", "Edit", file_path="a.py"))
    made.result("t2", "edited")
    made.answer("m4", text("Done."))
    return made


def turns(session: Session) -> list[tuple[str, str]]:
    return [(turn.action, turn.observation) for turn in session.turns()]


def test_a_session(tmp_path):
    session = plain().read(tmp_path)
    assert (session.id, session.dialect, session.agent) == ("s1", "claude-code", "claude-code")
    assert (session.model, session.version, session.cwd) == ("m-1", "2.1.218", "/w/app")
    assert (session.goal, session.parent, session.outcome) == ("Run the tests", None, "unknown")
    assert session.started_at == "2026-11-01T09:00:00.000Z"
    assert session.ended_at == "2026-11-01T09:08:00.000Z"
    assert session.metadata == {"branch": "main"}
    assert session.warnings == []
    assert brief(session) == [
        ("user", "Run the tests", 1),
        ("assistant", "Running them.", 2),
        ("call", "t1", "Bash", '{"command": "pytest"}', 3),
        ("result", "t1", "Exit code 1\n1 failed", "error", 1, 4),
        ("assistant", "One fails.", 5),
        ("user", "Mend it", 6),
        ("call", "t2", "Edit", '{"file_path": "a.py"}', 7),
        ("result", "t2", "edited", "ok", None, 8),
        ("assistant", "Done.", 9),
    ]
    assert turns(session) == [
        ('Running them.\nBash {"command": "pytest"}', "Exit code 1\n1 failed"),
        ("One fails.", "Mend it"),
        ('Edit {"file_path": "a.py"}', "edited"),
        ("Done.", ""),
    ]
    assert session.counts() == Counts(5, 2, 2, 1, 0, 0)


def test_pitfall_01_the_first_line_is_no_conversation(tmp_path):
    made = Writer()
    made.lines.append({"type": "summary", "summary": "Of another session", "leafUuid": "x"})
    made.lines.append({"type": "file-history-snapshot", "messageId": "m0", "snapshot": {}})
    made.side("last-prompt", lastPrompt="Run")
    made.side("permission-mode", permissionMode="default")
    made.add("system", subtype="informational", content="Welcome")
    made.typed("Run")
    session = made.read(tmp_path)
    assert brief(session) == [("user", "Run", 6)]
    assert (session.goal, session.warnings) == ("Run", [])


def test_pitfall_01_junk_before_the_first_brace_claude_code(tmp_path):
    path = plain().file(tmp_path)
    path.write_bytes(b"> claude\n09:00 " + path.read_bytes())
    session = read_one(path)
    assert session.counts() == Counts(5, 2, 2, 1, 0, 0)
    assert [(w.line, w.reason) for w in session.warnings] == [(1, "not JSON")]
    assert session.entries[0].line == 2


def test_pitfall_02_one_response_in_many_lines(tmp_path):
    """Usage is repeated on each line of a response, and words belong to its first call only."""
    made = Writer()
    made.typed("Look at both")
    usage = {"input_tokens": 3, "output_tokens": 1}
    for block in (
        {"type": "thinking", "thinking": "both at once", "signature": "x"},
        text("Looking."),
        call("t1", "Read", file_path="a"),
    ):
        made.answer("m1", block, requestId="r1", usage=usage)
    made.result("t1", "text of a")
    made.answer("m1", call("t2", "Read", file_path="b"))
    made.result("t2", "text of b")
    session = made.read(tmp_path)
    assert turns(session) == [
        ('Looking.\nRead {"file_path": "a"}', "text of a"),
        ('Read {"file_path": "b"}', "text of b"),
    ]
    assert {entry.step for entry in session.entries if hasattr(entry, "step")} == {None, "m1"}


def test_pitfall_02_a_block_repeated_under_another_uuid_counts_once(tmp_path):
    made = plain()
    made.answer("m3", call("t2", "Edit", file_path="a.py"))
    made.result("t2", "edited")
    assert made.read(tmp_path).counts() == Counts(5, 2, 2, 1, 0, 0)


@pytest.mark.parametrize(
    "block",
    [
        {"type": "thinking", "thinking": "", "signature": "abc"},
        {"type": "thinking", "thinking": "I think", "signature": "abc"},
        {"type": "redacted_thinking", "data": "xyz"},
    ],
)
def test_pitfall_03_reasoning_is_not_read_claude_code(tmp_path, block):
    made = Writer()
    made.typed("Go")
    made.answer("m1", block)
    made.answer("m1", text("Gone."))
    assert brief(made.read(tmp_path)) == [("user", "Go", 1), ("assistant", "Gone.", 3)]


def test_pitfall_04_file_order_is_the_truth(tmp_path):
    """Parallel calls are siblings: the way up from the last line meets only one of them."""
    made = Writer()
    asked = made.typed("Look at three")
    for name in ("a", "b", "c"):
        made.last = asked
        made.answer("m1", call(f"t-{name}", "Read", file_path=name), uuid=f"call-{name}")
    for name in ("c", "a", "b"):
        made.last = f"call-{name}"
        made.result(f"t-{name}", f"text of {name}")
    made.last = "missing"
    made.answer("m2", text("Seen."))
    session = made.read(tmp_path)
    assert turns(session) == [
        ('Read {"file_path": "a"}', "text of a"),
        ('Read {"file_path": "b"}', "text of b"),
        ('Read {"file_path": "c"}', "text of c"),
        ("Seen.", ""),
    ]
    assert [entry.line for entry in session.entries] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_pitfall_04_a_child_may_come_before_its_parent(tmp_path):
    made = plain()
    made.lines[2], made.lines[3] = made.lines[3], made.lines[2]
    session = made.read(tmp_path)
    assert [entry.line for entry in session.entries] == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert session.counts().messages == 5


def test_pitfall_05_compaction_is_no_prompt_claude_code(tmp_path):
    made = plain()
    made.last = None
    made.add("system", subtype="compact_boundary", content="Conversation compacted")
    made.typed(
        "This session is being continued from a previous conversation. The person said: no, wrong",
        isCompactSummary=True,
    )
    made.answer("m5", text("Going on."))
    session = made.read(tmp_path)
    assert brief(session)[9:] == [
        ("compaction", "Conversation compacted", 10),
        (
            "system",
            "This session is being continued from a previous conversation. The person said: "
            "no, wrong",
            11,
        ),
        ("assistant", "Going on.", 12),
    ]
    assert turns(session)[3] == ("Done.", "")


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("Continue from where you left off.", {"isMeta": True}),
        ("A job is done", {"origin": {"kind": "task-notification"}}),
        ("<local-command-caveat>Caveat</local-command-caveat>", {}),
        ("<local-command-stdout>ok</local-command-stdout>", {}),
        ("<command-name>/clear</command-name>\n<command-args></command-args>", {}),
        ("<command-message>init is running</command-message>", {}),
        ("<bash-input>ls</bash-input>", {}),
        ("<bash-stdout>a.py</bash-stdout>", {}),
        ("  <task-notification><task-id>1</task-id></task-notification>", {}),
    ],
)
def test_pitfall_06_words_that_no_person_wrote_claude_code(tmp_path, words, fields):
    made = Writer()
    made.typed(words, **fields)
    made.typed([text(words)], **fields)
    made.typed("Mine", origin={"kind": "human"})
    session = made.read(tmp_path)
    assert brief(session) == [("system", words, 1), ("system", words, 2), ("user", "Mine", 3)]
    assert session.goal == "Mine"


def test_pitfall_06_what_is_typed_after_a_command_is_the_persons(tmp_path):
    made = Writer()
    made.typed(
        "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n"
        "<command-args>the new cache</command-args>"
    )
    assert brief(made.read(tmp_path)) == [("user", "/plan the new cache", 1)]


def test_pitfall_06_reminders_inside_a_prompt_are_stripped(tmp_path):
    made = Writer()
    made.typed("<system-reminder>\nBe good\n</system-reminder>\nRun it")
    made.typed([text("<system-reminder>x</system-reminder>"), text("Run that")])
    made.typed("<system-reminder>only this</system-reminder>")
    assert brief(made.read(tmp_path)) == [("user", "Run it", 1), ("user", "Run that", 2)]


def test_pitfall_06_a_session_without_an_answer(tmp_path):
    made = Writer()
    made.typed("<command-name>/login</command-name>")
    made.add("system", subtype="local_command", content="Login successful")
    session = made.read(tmp_path)
    assert brief(session) == [("system", "<command-name>/login</command-name>", 1)]
    assert (session.goal, session.turns(), session.id) == (None, [], "s1")


def test_pitfall_06_hooks_and_api_errors(tmp_path):
    made = Writer()
    made.add("system", subtype="stop_hook_summary", hookErrors=["lint failed", {"code": 2}])
    made.add("system", subtype="api_error", content="overloaded")
    made.add("attachment", attachment={"type": "hook_blocking_error", "stderr": "no commits"})
    made.add("attachment", attachment={"type": "skill_listing", "content": "many"})
    body = {"id": "e", "model": "<synthetic>", "content": [text("API Error: 500")]}
    made.add("assistant", message=body, isApiErrorMessage=True)
    made.add("assistant", message={**body, "content": [text("No response requested.")]})
    assert brief(made.read(tmp_path)) == [
        ("system", 'hook error: lint failed\n{"code": 2}', 1),
        ("api_error", "overloaded", 2),
        ("system", "hook error: no commits", 3),
        ("api_error", "API Error: 500", 5),
        ("note", "No response requested.", 6),
    ]


def test_pitfall_07_rejections_hold_the_persons_reason(tmp_path):
    made = Writer()
    made.typed("Go")
    reasons = [
        "To tell you how to proceed, the user said:\nUse the other\n\nfile\n\n"
        "Note: The user's next message may contain a correction or preference. Pay attention.",
        "The user provided the following reason for the rejection:  not yet",
        "To tell you how to proceed, the user said:\nThe user wants to clarify these questions.",
        "STOP what you are doing and wait for the user to tell you how to proceed.",
    ]
    for number, reason in enumerate(reasons):
        made.answer(f"m{number}", call(f"t{number}"))
        made.result(f"t{number}", REJECTION + reason, is_error=True, toolUseResult="User rejected")
    session = made.read(tmp_path)
    assert [(kind, said, line) for kind, said, line in _signals(session)] == [
        ("rejection", "Use the other\n\nfile", 3),
        ("rejection", "not yet", 5),
    ]
    assert session.counts() == Counts(1, 4, 4, 0, 4, 0)


def _signals(session: Session) -> list[tuple[str, str, int]]:
    return [
        (entry.kind, entry.text, entry.line) for entry in session.entries if hasattr(entry, "kind")
    ]


@pytest.mark.parametrize("as_block", [True, False])
@pytest.mark.parametrize("why", ["", " for tool use"])
def test_pitfall_07_interruptions_are_plain_strings(tmp_path, as_block, why):
    said = f"[Request interrupted by user{why}]"
    made = Writer()
    made.typed("Go")
    made.answer("m1", call("t1"))
    made.result("t1", REJECTION, is_error=True)
    made.typed([text(said)] if as_block else said)
    made.typed("Rather this")
    session = made.read(tmp_path)
    assert _signals(session) == [("interruption", "", 4)]
    assert session.counts() == Counts(2, 1, 1, 0, 1, 1)


def test_pitfall_07_words_beside_an_interruption_are_kept(tmp_path):
    made = Writer()
    made.typed("Go")
    made.typed([text("[Request interrupted by user]"), text("do the other thing")])
    made.typed([text("and this"), text("[Request interrupted by user for tool use]")])
    session = made.read(tmp_path)
    assert brief(session) == [
        ("user", "Go", 1),
        ("interruption", "", 2),
        ("user", "do the other thing", 2),
        ("interruption", "", 3),
        ("user", "and this", 3),
    ]


def test_pitfall_10_an_edited_prompt_undoes_what_came_of_the_first(tmp_path):
    made = Writer()
    made.typed("Begin")
    above = made.answer("m1", text("What shall I do?"))
    made.typed("Rewrite it all")
    made.answer("m2", call("t1"))
    made.result("t1", "done")
    made.answer("m3", text("Rewritten."))
    made.last = above
    made.typed("Mend the typo")
    made.answer("m4", call("t2"))
    made.result("t2", "mended")
    session = made.read(tmp_path)
    assert ("rollback", 4, 7) in brief(session)
    assert turns(session) == [
        ("What shall I do?", "Rewrite it all"),
        ("Bash {}", "undone by the person, 2 turns"),
        ("Bash {}", "mended"),
    ]


def test_pitfall_10_going_back_twice_and_then_further(tmp_path):
    made = Writer()
    top = made.answer("m0", text("Ready."))
    made.typed("First")
    middle = made.answer("m1", call("t1"))
    for number in (2, 3):
        made.last = middle
        made.typed(f"Try {number}")
        made.answer(f"m{number}", call(f"t{number}"))
    made.last = top
    made.typed("All over")
    made.answer("m9", call("t9"))
    session = made.read(tmp_path)
    assert [(turn.observation, turn.undone) for turn in session.turns()] == [
        ("First", 0),
        ("undone by the person, 3 turns", 3),
        ("", 0),
    ]


def test_siblings_that_are_no_prompts_undo_nothing(tmp_path):
    """Results of parallel calls, and reminders beside them, hang on the same line."""
    made = Writer()
    made.typed("Go")
    above = made.answer("m1", call("t1"), call("t2"))
    for name in ("t1", "t2"):
        made.last = above
        result = {"type": "tool_result", "tool_use_id": name, "content": "ok"}
        made.typed([result, text("<system-reminder>tidy up</system-reminder>")])
    for _ in range(2):
        made.last = above
        made.typed("<task-notification>x</task-notification>")
    made.last = None
    made.typed("After a clear")
    session = made.read(tmp_path)
    assert [entry for entry in brief(session) if entry[0] == "rollback"] == []
    assert turns(session) == [("Bash {}", "ok"), ("Bash {}", "ok")]


def test_pitfall_11_two_session_ids_on_one_thread(tmp_path):
    made = plain()
    made.session = "s2"
    made.add("progress", data={"type": "hook_progress"})
    made.typed("Go on")
    for number in range(9):
        made.answer(f"n{number}", call(f"n{number}"))
    session = made.read(tmp_path)
    assert session.id == "s2"
    assert session.counts().calls == 11
    assert session.goal == "Run the tests"


def test_pitfall_11_a_resumed_session_after_a_line_of_the_harness(tmp_path):
    made = plain()
    made.add("system", subtype="turn_duration", durationMs=5)
    made.add("attachment", attachment={"type": "date_change"})
    made.session = "s2"
    made.typed("Go on")
    session = made.read(tmp_path)
    assert (session.id, session.counts().messages) == ("s1", 6)


def test_pitfall_11_two_sessions_that_have_nothing_in_common(tmp_path):
    first, second = plain(), Writer("s2")
    second.typed("Something else", uuid="x1")
    second.answer("k1", text("Yes."), uuid="x2")
    path = lines_file(tmp_path / "two.jsonl", first.lines + second.lines)
    one, two = read_all(path)
    assert (one.id, one.counts().messages) == ("s1", 5)
    assert (two.id, brief(two)) == (
        "s2",
        [("user", "Something else", 10), ("assistant", "Yes.", 11)],
    )


def test_pitfall_11_copied_lines_count_once(tmp_path):
    made = plain()
    copied = [{**line, "sessionId": "s2"} for line in made.lines]
    session = read_one(lines_file(tmp_path / "s.jsonl", made.lines + copied))
    assert session.counts() == Counts(5, 2, 2, 1, 0, 0)


def test_pitfall_11_a_sub_agent_knows_its_parent_by_its_folder(tmp_path):
    made = Writer("other")
    made.typed("Search for it", isSidechain=True, agentId="ab12")
    made.answer("m1", call("t1"), isSidechain=True, agentId="ab12")
    folder = tmp_path / "parent-uuid" / "subagents"
    session = read_one(lines_file(folder / "agent-ab12.jsonl", made.lines))
    assert (session.id, session.parent) == ("ab12", "parent-uuid")
    assert brief(session)[0] == ("system", "Search for it", 1)
    assert session.goal == "Search for it"


def test_pitfall_11_a_sub_agent_knows_its_parent_by_its_lines(tmp_path):
    made = Writer("parent-id")
    made.typed("Search for it", isSidechain=True, agentId="ab12")
    session = read_one(lines_file(tmp_path / "agent-ab12.jsonl", made.lines))
    assert (session.id, session.parent) == ("ab12", "parent-id")


def test_pitfall_11_sub_agents_stand_inline(tmp_path):
    """Version 1.0 writes them between the lines of their parent, without an agent's id."""
    made = Writer()
    made.typed("Search twice")
    made.answer("m1", call("a", "Task"), call("b", "Task"))
    above = made.last
    for name in ("a", "b"):
        made.last = None
        made.typed(f"Task {name}", isSidechain=True, uuid=f"side-{name}")
    for name in ("a", "b"):
        made.last = f"side-{name}"
        made.answer(f"m-{name}", text(f"Found {name}"), isSidechain=True)
    made.last = above
    made.result("a", "Found a", toolUseResult={"agentId": "side-a", "status": "completed"})
    main, one, two = read_all(made.file(tmp_path))
    assert main.counts() == Counts(1, 2, 1, 0, 0, 0)
    assert main.entries[-1].child == "side-a"
    assert [(s.id, s.parent, s.goal) for s in (one, two)] == [
        ("side-a", "s1", "Task a"),
        ("side-b", "s1", "Task b"),
    ]
    assert brief(one) == [("system", "Task a", 3), ("assistant", "Found a", 5)]
    assert brief(two) == [("system", "Task b", 4), ("assistant", "Found b", 6)]


def test_pitfall_11_a_sub_agents_child_line_before_its_parent(tmp_path):
    made = Writer()
    made.typed("Search")
    made.last = None
    made.typed("Task", isSidechain=True, uuid="side")
    made.answer("m1", text("Found"), isSidechain=True)
    made.lines[1], made.lines[2] = made.lines[2], made.lines[1]
    main, sub = read_all(made.file(tmp_path))
    assert brief(main) == [("user", "Search", 1)]
    assert brief(sub) == [("assistant", "Found", 2), ("system", "Task", 3)]


def test_pitfall_12_glued_cut_and_unknown_lines_claude_code(tmp_path):
    made = plain()
    made.side("from-the-future", news=1)
    made.side("from-the-future", news=2)
    made.typed("Last words")
    rows = [json.dumps(line) for line in made.lines]
    glued = "\n".join([*rows[:3], rows[3] + rows[4], *rows[5:-1], rows[-1][:-30]])
    path = tmp_path / "s.jsonl"
    path.write_text(glued)
    session = read_one(path)
    assert session.counts() == Counts(5, 2, 2, 1, 0, 0)
    assert [entry.line for entry in session.entries] == [1, 2, 3, 4, 4, 5, 6, 7, 8]
    assert [(w.line, w.reason, w.lost) for w in session.warnings] == [
        (11, "not JSON: unterminated string starting at", True),
        (9, "unknown line type 'from-the-future'", False),
    ]


def test_pitfall_13_an_image_of_megabytes_becomes_a_tag(tmp_path):
    data = random.Random(1).randbytes(1_100_000)
    encoded = base64.b64encode(data).decode()
    source = {"type": "base64", "media_type": "image/png", "data": encoded}
    made = Writer()
    made.typed([{"type": "image", "source": source}, text("What is this?")])
    made.answer("m1", call("t1"))
    made.result("t1", [{"type": "image", "source": source}, text("a picture")])
    made.result("t1", "x")
    path = made.file(tmp_path)
    assert path.stat().st_size > 2 * 1_466_000
    session = read_one(path)
    tag = "<image image/png 1100000 bytes>"
    assert session.goal == f"{tag}\nWhat is this?"
    assert turns(session) == [("Bash {}", f"{tag}\na picture")]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_pitfall_13_an_image_has_its_exact_size(tmp_path, size):
    encoded = base64.b64encode(b"x" * size).decode()
    source = {"type": "base64", "media_type": "image/gif", "data": encoded}
    made = Writer()
    made.typed([{"type": "image", "source": source}])
    made.typed([{"type": "image", "source": {"type": "url", "url": "https://x.example/a.gif"}}])
    assert brief(made.read(tmp_path)) == [
        ("user", f"<image image/gif {size} bytes>", 1),
        ("user", "<image https://x.example/a.gif>", 2),
    ]


def test_pitfall_13_long_fields_are_cut_with_their_length(tmp_path):
    long = "a" * 70_000 + "\U0001f600" + "b" * 100_000
    made = Writer()
    made.typed(long)
    made.answer("m1", text(long))
    made.answer("m1", call("t1", command=long, keep="this"))
    made.result("t1", long)
    session = made.read(tmp_path)
    for entry in session.entries:
        assert len(entry.text) <= FIELD_CAP + 20
        assert "characters, the" in entry.text
    assert "…(170001 characters, the middle is left out)…" in session.entries[0].text
    arguments = json.loads(session.entries[2].arguments)
    assert arguments["keep"] == "this"
    assert session.entries[3].text.endswith("bbb")


def test_pitfall_14_collateral_failures_are_nobodys_fault(tmp_path):
    made = Writer()
    made.typed("Go")
    outcomes = [
        ("<tool_use_error>Cancelled: parallel tool call Bash(x) errored</tool_use_error>", True),
        ("Cancelled: parallel tool call Read(y) errored", True),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", True),
        ("<tool_use_error>File has not been read yet</tool_use_error>", True),
        ("Exit code 2", True),
        ("Exit code 2 is what it said", False),
    ]
    for number, (said, is_error) in enumerate(outcomes):
        made.answer("m1", call(f"t{number}"))
        made.result(f"t{number}", said, is_error)
    made.answer("m2", call("t9"))
    made.result("t9", "partial", toolUseResult={"stdout": "partial", "interrupted": True})
    session = made.read(tmp_path)
    statuses = [(entry[3], entry[4]) for entry in brief(session) if entry[0] == "result"]
    assert statuses == [
        ("interrupted", None),
        ("interrupted", None),
        ("interrupted", None),
        ("error", None),
        ("error", 2),
        ("ok", None),
        ("interrupted", None),
    ]
    assert session.counts() == Counts(1, 7, 7, 2, 0, 0)


def test_an_exit_code_is_read_at_the_start_only(tmp_path):
    made = Writer()
    made.answer("m1", call("t1"))
    made.result(
        "t1", "the log was long\n" + "Exit code 7 was printed by something.".ljust(40), True
    )
    assert made.read(tmp_path).entries[-1].exit_code is None


def test_pitfall_15_a_claim_of_success_is_no_outcome_claude_code(tmp_path):
    made = plain()
    made.side("pr-link", prNumber=7, prUrl="https://git.example/pull/7")
    made.side("pr-link", prNumber=7, prUrl="https://git.example/pull/7")
    session = made.read(tmp_path)
    assert session.outcome == "unknown"
    assert _signals(session) == [("note", "pull request https://git.example/pull/7", 10)]


def test_a_corrected_edit_is_a_signal(tmp_path):
    made = Writer()
    made.answer("m1", call("t1", "Edit"))
    made.result("t1", "ok", toolUseResult={"userModified": True, "filePath": "a"})
    assert _signals(made.read(tmp_path)) == [("edited", "", 2)]


@pytest.mark.parametrize(
    "odd", [None, "Error: x", 5, [], [{"a": 1}], {"agentId": 5}, {"interrupted": "no"}, True]
)
def test_a_structured_result_may_be_anything(tmp_path, odd):
    made = plain()
    made.lines[3]["toolUseResult"] = odd
    session = made.read(tmp_path)
    assert session.counts() == Counts(5, 2, 2, 1, 0, 0)
    assert session.warnings == []


def enqueue(made: Writer, operation: str, content: str | None = None) -> None:
    fields = {} if content is None else {"content": content}
    made.side("queue-operation", operation=operation, timestamp="2026-11-01T10:00:00Z", **fields)


def test_words_typed_while_the_agent_works_in_older_files(tmp_path):
    made = Writer()
    made.typed("Go")
    enqueue(made, "enqueue", "mind the cache")
    made.answer("m1", call("t1"))
    enqueue(made, "remove")
    made.result("t1", "ok")
    assert brief(made.read(tmp_path))[2] == ("user", "mind the cache", 4)


def test_words_typed_while_the_agent_works_in_newer_files(tmp_path):
    made = Writer()
    made.typed("Go")
    enqueue(made, "enqueue", "mind the cache")
    enqueue(made, "remove", "mind the cache")
    made.add(
        "attachment",
        attachment={
            "type": "queued_command",
            "prompt": "mind the cache",
            "origin": {"kind": "human"},
        },
    )
    made.add(
        "attachment",
        attachment={
            "type": "queued_command",
            "prompt": [text("a job ended")],
            "origin": {"kind": "task"},
        },
    )
    assert brief(made.read(tmp_path)) == [
        ("user", "Go", 1),
        ("user", "mind the cache", 4),
        ("system", "a job ended", 5),
    ]


def test_queued_words_that_become_a_prompt_are_said_once(tmp_path):
    made = Writer()
    made.typed("Go")
    enqueue(made, "enqueue", "again")
    enqueue(made, "enqueue", "again")
    for _ in range(2):
        enqueue(made, "dequeue")
        made.typed("again")
    assert brief(made.read(tmp_path)) == [
        ("user", "Go", 1),
        ("user", "again", 5),
        ("user", "again", 7),
    ]


def test_queued_words_that_were_taken_back_or_are_not_the_persons(tmp_path):
    made = Writer()
    made.typed("Go")
    enqueue(made, "enqueue", '{"task_id":"b1","status":"done"}')
    enqueue(made, "enqueue", "no, wait")
    enqueue(made, "remove")
    enqueue(made, "popAll", "no, wait")
    assert brief(made.read(tmp_path)) == [("user", "Go", 1)]


def test_queued_words_that_the_agent_never_came_to(tmp_path):
    made = Writer()
    made.typed("Go")
    made.answer("m1", text("Done."))
    enqueue(made, "enqueue", "no, that is wrong")
    session = made.read(tmp_path)
    assert brief(session)[-1] == ("user", "no, that is wrong", 3)
    assert turns(session) == [("Done.", "no, that is wrong")]


def test_the_last_title_wins(tmp_path):
    made = plain()
    made.side("ai-title", aiTitle="One")
    made.side("custom-title", customTitle="Two")
    assert made.read(tmp_path).metadata["title"] == "Two"


def test_a_web_session_is_one_json_value(tmp_path):
    session = read_one(document_file(tmp_path / "web.json", {"loglines": plain().lines}))
    assert (session.id, session.unit, len(session.raws)) == ("s1", "entry", 9)
    assert session.counts() == Counts(5, 2, 2, 1, 0, 0)
    assert session.entries[-1].line == 9


def test_lines_without_any_id(tmp_path):
    made = plain()
    for line in made.lines:
        del line["sessionId"]
    path = lines_file(tmp_path / "s.jsonl", made.lines)
    with Source(path) as source:
        (session,) = read_lines(source)
    assert len(session.id) == 12
    assert session.counts() == Counts(5, 2, 2, 1, 0, 0)


def test_results_without_a_call_are_not_counted(tmp_path):
    made = Writer()
    made.result("nobody", "Exit code 1", is_error=True)
    made.typed([{"type": "tool_result", "content": "no id at all"}])
    session = made.read(tmp_path)
    assert session.turns() == []
    assert session.counts() == Counts(0, 0, 0, 0, 0, 0)


def test_whatever_stands_in_a_line_nothing_is_raised(tmp_path):
    made = Writer()
    made.typed("Go", origin={"kind": "human"})
    made.answer("m1", text("Yes."), call("t1"))
    made.result("t1", [text("ok")], toolUseResult={"agentId": "x"})
    made.add("attachment", attachment={"type": "queued_command", "prompt": "p", "origin": {}})
    enqueue(made, "enqueue", "words")
    path = tmp_path / "bent.jsonl"
    for number, line in enumerate(made.lines):
        for odd in bent(line):
            rows = [*made.lines[:number], odd, *made.lines[number + 1 :]]
            lines_file(path, rows)
            with Source(path) as source:
                for session in read_lines(source):
                    session.turns()
                    session.counts()


def mutated(data: bytes, changes: list[tuple[int, int, int]]) -> tuple[bytes, set[int]]:
    """The data with bytes changed, removed or added, and the lines that were touched."""
    rows = data.split(b"\n")[:-1]
    touched: set[int] = set()
    for place, kind, byte in changes:
        number = place % len(rows)
        row = rows[number]
        at = (place // len(rows)) % (len(row) + 1)
        new = bytes([byte]).replace(b"\n", b" ")
        if kind == 0:
            rows[number] = row[:at] + new + row[at + 1 :]
        elif kind == 1:
            rows[number] = row[:at] + row[at + 1 :]
        elif kind == 2:
            rows[number] = row[:at] + new + row[at:]
        else:
            rows[number] = row[:at]
        touched.add(number + 1)
    return b"\n".join(rows) + b"\n", touched


CHANGES = st.lists(
    st.tuples(st.integers(0, 100_000), st.integers(0, 3), st.integers(0, 255)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=250, deadline=None)
@given(changes=CHANGES)
def test_changed_bytes_cost_only_their_lines(tmp_path_factory, changes):
    made = Writer()
    made.typed("Run it, café \U0001f600")
    for number in range(8):
        made.answer(f"m{number}", text(f"Step {number}"), call(f"t{number}", command="x"))
        made.result(f"t{number}", f"Exit code {number}", is_error=True)
    path = made.file(tmp_path_factory.mktemp("mutated"))
    whole = {entry[-1]: entry for entry in brief(read_one(path))}
    data, touched = mutated(path.read_bytes(), changes)
    path.write_bytes(data)
    sessions = read_all(path)
    found = {entry[-1]: entry for session in sessions for entry in brief(session)}
    for line, entry in whole.items():
        if line not in touched:
            assert found[line] == entry
    for session in sessions:
        assert all(warning.line in touched for warning in session.warnings)
        session.turns()
        session.counts()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_lines_dropped_doubled_or_moved_never_raise(tmp_path_factory, seed):
    chance = random.Random(seed)
    made = plain()
    made.typed("Aside", isSidechain=True, agentId="x")
    rows = list(made.lines)
    for _ in range(3):
        rows.insert(chance.randrange(len(rows)), chance.choice(rows))
        rows.pop(chance.randrange(len(rows)))
    chance.shuffle(rows)
    path = lines_file(tmp_path_factory.mktemp("shuffled") / "s.jsonl", rows)
    distinct = {line["uuid"] for line in rows}
    sessions = read_all(path)
    assert all(session.warnings == [] for session in sessions)
    lines = {entry.line for session in sessions for entry in session.entries}
    assert len(lines) - len([e for s in sessions for e in brief(s) if e[0] == "rollback"]) <= len(
        distinct
    )


@pytest.mark.skipif(SAMPLES is None, reason="AGENTLEARN_SAMPLES is not set")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("PackmindHub__context-evaluator__5e_d6fd664d05_0_full", (14, 12, 0, 0, 0)),
        ("entireio__cli__37_995ebed6e4_2_full", (41, 41, 1, 1, 1)),
        ("entireio__cli__4c_02af2759b6_0_full", (1, 0, 0, 0, 0)),
        ("entireio__cli__63_bd3f9b02f2_1_full", (83, 83, 1, 10, 0)),
        ("entireio__cli__8c_fa910f8ef9_5_full", (58, 58, 1, 1, 1)),
        ("entireio__cli__cd_95adddad32_0_full", (206, 206, 11, 1, 6)),
        ("entireio__entire-graph__b9_713a917b91_0_full", (116, 116, 3, 0, 0)),
    ],
)
def test_counts_of_real_files(name, expected):
    """Counted with a few lines that share no code with the reader."""
    session = read_one(sample(f"claude-code/{name}.jsonl"))
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
    assert session.warnings == []
