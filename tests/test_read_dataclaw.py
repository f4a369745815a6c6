"""DataClaw exports: calls with their results inside the message."""

from __future__ import annotations

import pytest

from agentlearn.sessions.dataclaw import read_document, read_lines
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, document_file, lines_file, read_all, read_one, sample

NO = (
    "The user doesn't want to proceed with this tool use. The user provided the following reason "
    "for the rejection:  not on main"
)


def used(tool, output, status="success"):
    return {"tool": tool, "input": {"command": tool}, "output": output, "status": status}


ROW = {
    "session_id": "s-1",
    "model": "m-1",
    "git_branch": "main",
    "start_time": "2026-11-01T09:00:00Z",
    "end_time": "2026-11-01T09:10:00Z",
    "project": "shop",
    "source": "claude",
    "stats": {"tool_uses": 3},
    "messages": [
        {"role": "user", "content": "run it", "timestamp": "2026-11-01T09:00:01Z"},
        {"role": "assistant", "thinking": "hm", "timestamp": None},
        {"role": "assistant", "content": "Running."},
        {"role": "assistant", "tool_uses": [used("Bash", {"text": "Exit code 1\nboom"}, "error")]},
        {"role": "assistant", "tool_uses": [used("Push", {"text": NO}, "error")]},
        {"role": "assistant", "tool_uses": [used("Wait", {}, None), used("Read", "text")]},
        {"role": "user", "content": "Base directory for this skill: /x\n\n# Skill"},
        {"role": "assistant", "tool_uses": [{"tool": "Bash", "input": {}}]},
    ],
}


def test_a_session(tmp_path):
    session = read_one(document_file(tmp_path / "e.jsonl", ROW))
    assert (session.id, session.agent, session.model) == ("s-1", "claude-code", "m-1")
    assert session.metadata == {"branch": "main", "project": "shop"}
    assert (session.started_at, session.ended_at) == (ROW["start_time"], ROW["end_time"])
    assert brief(session) == [
        ("user", "run it", 1),
        ("assistant", "Running.", 3),
        ("call", "call-2", "Bash", '{"command":"Bash"}', 4),
        ("result", "call-2", "Exit code 1\nboom", "error", 1, 4),
        ("call", "call-4", "Push", '{"command":"Push"}', 5),
        ("result", "call-4", NO, "rejected", None, 5),
        ("rejection", "not on main", 5),
        ("call", "call-7", "Wait", '{"command":"Wait"}', 6),
        ("result", "call-7", "", "ok", None, 6),
        ("call", "call-9", "Read", '{"command":"Read"}', 6),
        ("result", "call-9", "text", "ok", None, 6),
        ("system", "Base directory for this skill: /x\n\n# Skill", 7),
        ("call", "call-12", "Bash", "{}", 8),
    ]
    assert session.turns()[0].action == 'Running.\nBash {"command":"Bash"}'
    assert len(session.raws) == 8


def test_a_session_a_line(tmp_path):
    other = {**ROW, "session_id": "s-2", "source": "codex"}
    first, second = read_all(lines_file(tmp_path / "e.jsonl", [ROW, other]))
    assert [(s.id, s.agent, s.unit) for s in (first, second)] == [
        ("s-1", "claude-code", "line"),
        ("s-2", "codex", "line"),
    ]
    assert {entry.line for entry in second.entries} == {2}
    assert len(second.turns()) == 5


@pytest.mark.parametrize("read", [read_lines, read_document])
def test_nothing_in_a_file_stops_the_reader(tmp_path, read):
    for value in (*bent(ROW), [ROW, 7, None]):
        path = lines_file(tmp_path / "e", [value])
        with Source(path) as source:
            assert list(read(source))


@pytest.mark.skipif(not SAMPLES, reason="needs AGENTLEARN_SAMPLES")
def test_sample():
    session = read_one(sample("claude-other/cxcscmu__SkillLearnBench__claude-code.dataclaw.jsonl"))
    counts = session.counts()
    assert (counts.messages, counts.calls, counts.results, counts.errors) == (13, 43, 43, 1)
    assert session.goal is None
