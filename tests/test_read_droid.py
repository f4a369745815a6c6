"""Factory Droid: a start line, then Anthropic messages."""

from __future__ import annotations

import pytest

from agentlearn.sessions.droid import read_lines
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, lines_file, read_one, sample

START = {"type": "session_start", "id": "d-1", "title": "Tests", "cwd": "/w", "version": "0.81.0"}


def message(id, role, *blocks):
    return {
        "type": "message",
        "id": id,
        "timestamp": f"2026-11-01T09:00:0{id[-1]}Z",
        "message": {"role": role, "content": list(blocks)},
    }


def text(words):
    return {"type": "text", "text": words}


RUN = [
    START,
    message("m1", "user", text("<system-reminder>note</system-reminder>\ntest it")),
    message("m2", "assistant", text("Testing.")),
    message("m3", "assistant", {"type": "tool_use", "id": "t1", "name": "Execute", "input": {}}),
    message(
        "m4",
        "user",
        {"type": "tool_result", "tool_use_id": "t1", "content": "Error: exit", "is_error": True},
    ),
    {"type": "todo_state", "todos": {}},
    {"type": "compaction_state", "summaryText": "so far", "timestamp": "2026-11-01T09:00:05Z"},
    message("m4", "user", text("a copy")),
    {"type": "agent_turn_outcome", "resultKind": "success"},
    {"type": "aura"},
    message("m6", "assistant", text("It fails.")),
]


def test_a_session(tmp_path):
    path = lines_file(tmp_path / "d-1.jsonl", RUN)
    (tmp_path / "d-1.settings.json").write_text('{"model": "m-1"}')
    session = read_one(path)
    assert (session.id, session.dialect, session.agent) == ("d-1", "droid", "droid")
    assert (session.model, session.version, session.cwd) == ("m-1", "0.81.0", "/w")
    assert session.metadata == {"title": "Tests"}
    assert brief(session) == [
        ("user", "test it", 2),
        ("assistant", "Testing.", 3),
        ("call", "t1", "Execute", "{}", 4),
        ("result", "t1", "Error: exit", "error", None, 5),
        ("compaction", "so far", 7),
        ("assistant", "It fails.", 11),
    ]
    assert [turn.action for turn in session.turns()] == ["Testing.\nExecute {}", "It fails."]
    assert [(w.line, w.reason, w.lost) for w in session.warnings] == [
        (10, "unknown line type 'aura'", False)
    ]
    assert session.outcome == "unknown"
    assert (session.started_at, session.ended_at) == (
        "2026-11-01T09:00:01Z",
        "2026-11-01T09:00:06Z",
    )


def test_nothing_in_a_file_stops_the_reader(tmp_path):
    (tmp_path / "d.settings.json").write_text("[]")
    for value in bent(RUN[:7]):
        path = lines_file(tmp_path / "d.jsonl", value)
        with Source(path) as source:
            assert list(read_lines(source))


@pytest.mark.skipif(not SAMPLES, reason="needs AGENTLEARN_SAMPLES")
def test_sample():
    session = read_one(sample("others/jazzyalex__agent-sessions__droid_session_store_large.jsonl"))
    counts = session.counts()
    assert (counts.messages, counts.calls, counts.results) == (5, 1, 1)
    assert session.id == "droid_large"
