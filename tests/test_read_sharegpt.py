"""ShareGPT: turns by sender, calls as turns of their own or as tags."""

from __future__ import annotations

import pytest

from agentlearn.sessions.sharegpt import read_document, read_lines
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, document_file, lines_file, read_all, read_one, sample


def turns(*pairs):
    return [{"from": sender, "value": value} for sender, value in pairs]


CLOCK = turns(
    ("system", "Use tools."),
    ("human", "time in Oslo and Rome?"),
    ("gpt", "Asking."),
    ("function_call", '[{"name":"now","arguments":{"in":"Oslo"}},{"name":"now","arguments":{}}]'),
    ("observation", "12:00"),
    ("observation", '{"error": "no city"}'),
    ("gpt", "<think>noon</think>Noon."),
)
CLOCK_ENTRIES = [
    ("system", "Use tools.", 1),
    ("user", "time in Oslo and Rome?", 2),
    ("assistant", "Asking.", 3),
    ("call", "call-3", "now", '{"in":"Oslo"}', 4),
    ("call", "call-4", "now", "{}", 4),
    ("result", "call-3", "12:00", "ok", None, 5),
    ("result", "call-4", '{"error": "no city"}', "error", None, 6),
    ("assistant", "Noon.", 7),
]


def test_one_conversation(tmp_path):
    session = read_one(document_file(tmp_path / "c.json", {"conversations": CLOCK, "tools": "[]"}))
    assert (session.dialect, session.unit, session.goal) == (
        "sharegpt",
        "entry",
        "time in Oslo and Rome?",
    )
    assert brief(session) == CLOCK_ENTRIES
    assert len(session.raws) == 7
    first, second, last = session.turns()
    assert first.action == 'Asking.\nnow {"in":"Oslo"}'
    assert (first.observation, second.observation) == ("12:00", '{"error": "no city"}')
    assert (last.action, last.answer) == ("Noon.", None)


def test_pitfall_15_many_in_a_file_sharegpt(tmp_path):
    rows = [{"conversations": CLOCK}, {"other": 1}, {"id": "x4", "conversations": CLOCK[:2]}]
    first, second = read_all(document_file(tmp_path / "c.json", rows))
    assert brief(first) == CLOCK_ENTRIES
    assert first.id.endswith("-1")
    assert (second.id, len(second.entries)) == ("x4", 2)
    assert [w.reason for w in second.warnings] == ["unknown element without conversations"]
    lines = read_all(lines_file(tmp_path / "c.jsonl", rows))
    assert [sorted({e.line for e in s.entries}) for s in lines] == [[1], [3]]


def test_tags_in_the_text(tmp_path):
    call = '<tool_call>{"name":"ls","arguments":{"a":1}}</tool_call>'
    value = turns(
        ("human", "list"),
        ("gpt", f"<think>hm</think>Both.\n{call}\n{call}"),
        ("tool", "<tool_response>a.py</tool_response>\n<tool_response>b.py</tool_response>"),
        ("gpt", "<tool_call>{broken"),
        ("oracle", "?"),
    )
    session = read_one(document_file(tmp_path / "c.json", [{"conversations": value}]))
    assert brief(session) == [
        ("user", "list", 1),
        ("assistant", "Both.", 2),
        ("call", "call-2", "ls", '{"a":1}', 2),
        ("call", "call-3", "ls", '{"a":1}', 2),
        ("result", "call-2", "a.py", "ok", None, 3),
        ("result", "call-3", "b.py", "ok", None, 3),
        ("call", "call-6", "", "{broken", 4),
    ]
    assert [(w.line, w.reason, w.lost) for w in session.warnings] == [
        (5, "unknown sender 'oracle'", False)
    ]


def test_the_chosen_answer_and_a_verdict(tmp_path):
    row = {
        "system": "Be kind.",
        "conversations": turns(("human", "pick")),
        "chosen": {"from": "gpt", "value": "A"},
        "rejected": {"from": "gpt", "value": "B"},
        "resolved": True,
    }
    session = read_one(document_file(tmp_path / "c.json", [row]))
    assert brief(session) == [
        ("system", "Be kind.", 1),
        ("user", "pick", 1),
        ("assistant", "A", 2),
        ("verdict", "resolved: true", 3),
    ]
    assert session.outcome == "success"


def test_many_openings_without_a_close_take_no_time(tmp_path):
    value = turns(("gpt", "<tool_call>" * 50_000), ("tool", "<tool_response>" * 50_000))
    session = read_one(document_file(tmp_path / "c.json", [{"conversations": value}]))
    assert session.counts().calls == 1


@pytest.mark.parametrize("read", [read_lines, read_document])
def test_nothing_in_a_file_stops_the_reader(tmp_path, read):
    row = {"id": "x", "conversations": CLOCK[2:6], "chosen": CLOCK[6], "system": "s", "model": "m"}
    for value in (*bent(row), [row, 7, None]):
        path = lines_file(tmp_path / "c", [value])
        with Source(path) as source:
            assert list(read(source))


@pytest.mark.skipif(not SAMPLES, reason="needs AGENTLEARN_SAMPLES")
def test_sample():
    sessions = read_all(sample("sharegpt/hiyouga__LLaMA-Factory__glaive_toolcall_en_demo.json"))
    counts = [session.counts() for session in sessions]
    assert len(sessions) == len({session.id for session in sessions}) == 300
    assert sum(c.messages for c in counts) == 1492
    assert sum(c.calls for c in counts) == sum(c.results for c in counts) == 211


def test_a_list_of_one_needs_no_number(tmp_path):
    import hashlib
    import json

    from tests.files import read_one

    path = tmp_path / "one.json"
    path.write_text(json.dumps([{"conversations": [{"from": "human", "value": "hi"}]}]))
    assert read_one(path).id == hashlib.sha256(path.read_bytes()).hexdigest()[:12]
