"""Antigravity: one step a line, calls and results without ids."""

from __future__ import annotations

from typing import Any

import pytest

from agentlearn.sessions.antigravity import read_lines
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, lines_file, read_one, sample


def step(kind: str, content: Any = None, source: str = "MODEL", **more: Any) -> dict[str, Any]:
    return {
        "step_index": 0,
        "source": source,
        "type": kind,
        "status": "DONE",
        "created_at": "2026-11-01T09:00:00Z",
        **({"content": content} if content is not None else {}),
        **more,
    }


def calls(*names: str) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "args": {"path": '"x"'}} for name in names]}


ASKED = (
    "<USER_REQUEST>\nrun the tests\n</USER_REQUEST>\n<USER_SETTINGS_CHANGE>\nThe user changed "
    "setting `Model Selection` from None to Gemini 3.5 Flash (Medium). No need to comment.\n"
    "</USER_SETTINGS_CHANGE>"
)


def test_steps(tmp_path):
    lines = [
        step("USER_INPUT", ASKED, "USER_EXPLICIT"),
        step("CONVERSATION_HISTORY", "# old", "SYSTEM"),
        step("PLANNER_RESPONSE", "Looking.", **calls("list_dir", "run_command")),
        step("LIST_DIRECTORY", "a.txt"),
        step("RUN_COMMAND", "\tThe command failed with exit code: 2\nOutput:\nwith exit code 7"),
        step("RUN_COMMAND", "later", status="RUNNING"),
        step("PLANNER_RESPONSE", "One fails.", thinking="hm"),
    ]
    session = read_one(lines_file(tmp_path / "t.jsonl", lines))
    assert (session.dialect, session.agent) == ("antigravity", "antigravity")
    assert (session.model, session.goal) == ("Gemini 3.5 Flash (Medium)", "run the tests")
    first, second = (entry.id for entry in session.entries if hasattr(entry, "tool"))
    assert brief(session) == [
        ("user", "run the tests", 1),
        ("assistant", "Looking.", 3),
        ("call", first, "list_dir", '{"path":"\\"x\\""}', 3),
        ("call", second, "run_command", '{"path":"\\"x\\""}', 3),
        ("result", first, "a.txt", "ok", None, 4),
        ("result", second, lines[4]["content"], "ok", 2, 5),
        ("assistant", "One fails.", 7),
    ]
    assert [turn.lines for turn in session.turns()] == [(3, 4), (3, 5), (7, 7)]


def test_statuses_and_orphans(tmp_path):
    lines = [
        step("PLANNER_RESPONSE", **calls("view_file", "edit")),
        step("VIEW_FILE", "no such file", status="ERROR"),
        step("PLANNER_RESPONSE", "Again.", **calls("edit")),
        step("CODE_ACTION", "stopped", status="CANCELED"),
        step("RUN_COMMAND", "The command completed successfully.\nOutput:\nexit code 3"),
        step("PLANNER_RESPONSE", "I was", status="CANCELED"),
        step("ERROR_MESSAGE", "overloaded", "SYSTEM"),
        step("CHECKPOINT", "# what we did", "SYSTEM"),
        step("SYSTEM_MESSAGE", "a task ended", "SYSTEM"),
        step("USER_INPUT", "hook", "SYSTEM"),
    ]
    session = read_one(lines_file(tmp_path / "t.jsonl", lines))
    kept = [entry for entry in brief(session) if entry[0] not in ("call", "assistant")]
    assert [entry[2:] for entry in kept if entry[0] == "result"] == [
        ("no such file", "error", None, 2),
        ("stopped", "interrupted", None, 4),
        (lines[4]["content"], "ok", 0, 5),
    ]
    assert kept[3:] == [
        ("interruption", "", 6),
        ("api_error", "overloaded", 7),
        ("compaction", "", 8),
        ("system", "# what we did", 8),
        ("system", "a task ended", 9),
        ("system", "hook", 10),
    ]
    counts = session.counts()
    assert (counts.calls, counts.results, counts.errors) == (4, 3, 1)
    assert [entry[2] for entry in brief(session) if entry[0] == "call"][-1] == "run_command"


def test_id_is_the_folder_of_the_conversation(tmp_path):
    logs = tmp_path / "brain" / "conv-7" / ".system_generated" / "logs"
    path = lines_file(logs / "transcript.jsonl", [step("USER_INPUT", "hi", "USER_EXPLICIT")])
    assert read_one(path).id == "conv-7"


def test_hostile_shapes(tmp_path):
    value = [
        step("USER_INPUT", ASKED, "USER_EXPLICIT"),
        step("PLANNER_RESPONSE", {"text": "a"}, **calls("x")),
        step("RUN_COMMAND", "x"),
        step("CHECKPOINT", "x", "SYSTEM"),
    ]
    path = tmp_path / "t.jsonl"
    for odd in bent(value):
        lines_file(path, odd)
        with Source(path) as source:
            assert len(list(read_lines(source))) == 1


@pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")
def test_sample():
    session = read_one(sample("others/jazzyalex__agent-sessions__antigravity_cli_small.jsonl"))
    assert (session.counts().calls, session.counts().results) == (10, 10)
