"""Cursor CLI: blocks without ids, matched by place."""

from __future__ import annotations

import pytest

from agentlearn.sessions.cursor import read_lines
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, lines_file, read_one, sample


def line(role, *blocks):
    return {"role": role, "message": {"content": list(blocks)}}


def text(words):
    return {"type": "text", "text": words}


def use(command):
    return {"type": "tool_use", "name": "Shell", "input": {"command": command}}


def back(id, words, **more):
    return {"type": "tool_result", "tool_use_id": id, "content": [text(words)], **more}


RUN = [
    line("user", text("<open_files>a.py</open_files>\n<user_query>\nlist and test\n</user_query>")),
    line("assistant", {"type": "thinking", "thinking": "hm"}, text("Both.")),
    line("assistant", use("ls"), use("make test")),
    line("user", back("t1", "a.py")),
    line("user", back("t2", "[Process exited with code 2]", is_error=True)),
    line("assistant", text("It fails.")),
    line("user", text("fix it")),
]


def test_a_session(tmp_path):
    session = read_one(lines_file(tmp_path / "c.jsonl", RUN))
    assert (session.dialect, session.agent, session.unit) == ("cursor", "cursor", "line")
    with Source(tmp_path / "c.jsonl") as source:
        assert session.id == source.id_from_bytes()
    assert brief(session) == [
        ("user", "list and test", 1),
        ("assistant", "Both.", 2),
        ("call", "call-2", "Shell", '{"command": "ls"}', 3),
        ("call", "call-3", "Shell", '{"command": "make test"}', 3),
        ("result", "call-2", "a.py", "ok", None, 4),
        ("result", "call-3", "[Process exited with code 2]", "error", 2, 5),
        ("assistant", "It fails.", 6),
        ("user", "fix it", 7),
    ]
    first, _, last = session.turns()
    assert first.action == 'Both.\nShell {"command": "ls"}'
    assert last.observation == "fix it"
    assert session.goal == "list and test"


def test_unknown_roles_are_told_once(tmp_path):
    odd = [line("ghost", text("boo")), line("ghost", text("boo"))]
    session = read_one(lines_file(tmp_path / "c.jsonl", [*RUN, *odd]))
    assert [(w.line, w.reason, w.lost) for w in session.warnings] == [
        (8, "unknown role 'ghost'", False)
    ]


def test_nothing_in_a_file_stops_the_reader(tmp_path):
    for value in bent(RUN[:5]):
        path = lines_file(tmp_path / "c.jsonl", value)
        with Source(path) as source:
            assert list(read_lines(source))


@pytest.mark.skipif(not SAMPLES, reason="needs AGENTLEARN_SAMPLES")
def test_sample():
    session = read_one(sample("others/jazzyalex__agent-sessions__cursor_large.jsonl"))
    counts = session.counts()
    assert (counts.messages, counts.calls, counts.results) == (7, 2, 2)
