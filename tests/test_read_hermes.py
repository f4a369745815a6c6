"""Hermes sessions: chat messages with facts around them."""

from __future__ import annotations

import pytest

from agentlearn.sessions.hermes import read_document
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, document_file, read_one, sample

FAILED = '{"output": "no tests", "exit_code": 5, "error": null}'
SESSION = {
    "session_id": "h-1",
    "model": "m-1",
    "platform": "cli",
    "session_start": "2026-11-01T09:00:00Z",
    "last_updated": "2026-11-01T09:01:00Z",
    "model_config": {"cwd": "/w"},
    "system_prompt": "You are Hermes.",
    "tools": [],
    "messages": [
        {"role": "user", "content": "test it"},
        {
            "role": "assistant",
            "content": "Testing.",
            "reasoning": "hm",
            "tool_calls": [
                {"id": "c1", "call_id": "c1", "function": {"name": "sh", "arguments": '{"a":1}'}}
            ],
        },
        {"role": "tool", "content": FAILED, "tool_call_id": "c1", "tool_name": "sh"},
        {"role": "session_meta"},
        {"role": "assistant", "content": "It fails.", "finish_reason": "stop"},
    ],
}


def test_a_session(tmp_path):
    session = read_one(document_file(tmp_path / "h.json", SESSION))
    assert (session.id, session.dialect, session.agent) == ("h-1", "hermes", "hermes")
    assert (session.model, session.cwd) == ("m-1", "/w")
    assert (session.started_at, session.ended_at) == (
        "2026-11-01T09:00:00Z",
        "2026-11-01T09:01:00Z",
    )
    assert session.metadata == {"platform": "cli"}
    assert brief(session) == [
        ("system", "You are Hermes.", 1),
        ("user", "test it", 1),
        ("assistant", "Testing.", 2),
        ("call", "c1", "sh", '{"a":1}', 2),
        ("result", "c1", FAILED, "ok", 5, 3),
        ("assistant", "It fails.", 5),
    ]
    assert (session.counts().errors, session.outcome, session.warnings) == (1, "unknown", [])


def test_nothing_in_a_file_stops_the_reader(tmp_path):
    for value in (*bent(SESSION), [7]):
        path = document_file(tmp_path / "h.json", value)
        with Source(path) as source:
            assert list(read_document(source))


@pytest.mark.skipif(not SAMPLES, reason="needs AGENTLEARN_SAMPLES")
def test_sample():
    session = read_one(sample("others/jazzyalex__agent-sessions__hermes_large.json"))
    counts = session.counts()
    assert (counts.messages, counts.calls, counts.results, counts.errors) == (4, 1, 1, 0)
