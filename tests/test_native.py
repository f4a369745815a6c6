"""The native format: strict about rewards, forgiving about everything else."""

import json
from pathlib import Path

import msgspec
import pytest

from agentlearn.rewards.rules import Rules
from agentlearn.rewards.worth import score_session
from agentlearn.sessions.native import Line, Reading
from agentlearn.sessions.native_values import parse_outcome, parse_reward
from agentlearn.sessions.native_write import native_lines
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Reward
from tests.files import lines_file, read_all, read_one

HEAD = {"type": "session", "schema": "agentlearn-session/1", "id": "s1", "goal": "Fix it"}


def turn(action: str = "look", observation: str = "seen", **more: object) -> dict[str, object]:
    return {"type": "turn", "action": action, "observation": observation, **more}


def rewards_of(path: Path) -> list[float]:
    return score_session(read_one(path), Rules(), 0.9).worth.rewards


def test_the_example_of_the_format(tmp_path: Path):
    file = lines_file(
        tmp_path / "s.jsonl",
        [
            {
                **HEAD,
                "agent": "demo",
                "started_at": "2026-11-15T09:00:00Z",
                "metadata": {"task": "t1"},
            },
            {"type": "message", "role": "user", "text": "Fix it", "at": "2026-11-15T09:00:00Z"},
            turn("read_file main.py", "line 42", reward={"kind": "positive", "value": 0.1}),
            turn("run_tests", "15 passed", reward={"kind": "terminal", "value": 1.0}),
            {"type": "outcome", "outcome": "success", "ended_at": "2026-11-15T09:01:00Z"},
        ],
    )
    session = read_one(file)
    assert (session.id, session.goal, session.agent) == ("s1", "Fix it", "demo")
    assert (session.outcome, session.metadata) == ("success", {"task": "t1"})
    assert [(t.action, t.observation) for t in session.turns()] == [
        ("read_file main.py", "line 42"),
        ("run_tests", "15 passed"),
    ]
    assert rewards_of(file) == [0.1, 1.0]
    assert [entry.line for entry in session.entries] == [2, 3, 3, 4, 4]


def test_the_total_that_anyone_can_check(tmp_path: Path):
    kinds = [("positive", 0.1), ("negative", 0.2), ("neutral", 0.0), ("terminal", 1.0)]
    turns = [turn(reward={"kind": kind, "value": value}) for kind, value in kinds]
    worth = score_session(read_one(lines_file(tmp_path / "s", [HEAD, *turns])), Rules(), 1.0).worth
    assert worth.total_reward == 0.9
    assert worth.sources == {"stated": 0.9, "verdict": 0.0, "person": 0.0, "shaped": 0.0}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, Reward("positive", 0.5)),
        (-2, Reward("negative", 2.0)),
        (0, Reward("neutral", 0.0)),
        ({"kind": "terminal", "value": -1}, Reward("terminal", -1.0)),
        ({"kind": "neutral"}, Reward("neutral", 0.0)),
        ({"Positive": 0.1}, Reward("positive", 0.1)),
        ({"Negative": 0.2}, Reward("negative", 0.2)),
        ("Neutral", Reward("neutral", 0.0)),
        ({"Terminal": 1.0}, Reward("terminal", 1.0)),
        (None, None),
    ],
)
def test_rewards_that_are_read(value: object, expected: Reward | None):
    assert parse_reward(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        {"kind": "positive", "value": -0.1},
        {"kind": "negative", "value": -0.1},
        {"kind": "positive"},
        {"kind": "neutral", "value": 3},
        {"kind": "bonus", "value": 1},
        {"kind": "terminal", "value": float("inf")},
        {"kind": "terminal", "value": float("nan")},
        {"kind": "terminal", "value": "1"},
        {"Positive": 1, "Negative": 1},
        float("inf"),
        10**400,
        True,
        [1],
        "Positive",
        {},
    ],
)
def test_anything_else_is_a_bad_line(value: object):
    with pytest.raises(ValueError):
        parse_reward(value)


def test_a_bad_reward_loses_its_line_and_no_other(tmp_path: Path):
    file = lines_file(
        tmp_path / "s.jsonl",
        [HEAD, turn(reward=1), turn(reward={"kind": "positive", "value": -5}), turn(reward=2)],
    )
    session = read_one(file)
    assert rewards_of(file) == [1.0, 2.0]
    (warning,) = session.warnings
    assert (warning.line, warning.lost) == (3, True)
    assert warning.reason == "a positive reward has a value of 0 or more, not -5"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("success", ("success", None)),
        ("Success", ("success", None)),
        ("InProgress", ("in_progress", None)),
        ({"Aborted": "no money"}, ("aborted", "no money")),
        ("unknown", ("unknown", None)),
    ],
)
def test_outcomes(value: object, expected: tuple[str, str | None]):
    assert parse_outcome(value) == expected


def test_an_outcome_that_is_none_is_reported(tmp_path: Path):
    session = read_one(
        lines_file(tmp_path / "s", [HEAD, turn(), {"type": "outcome", "outcome": "won"}])
    )
    assert session.outcome == "in_progress"
    assert [warning.line for warning in session.warnings] == [3]


def test_sessions_one_after_another(tmp_path: Path):
    rows = []
    for name in "abc":
        rows += [{**HEAD, "id": name}, turn(reward=1), {"type": "outcome", "outcome": "success"}]
    sessions = read_all(lines_file(tmp_path / "s.jsonl", rows))
    assert [(s.id, s.outcome, len(s.turns())) for s in sessions] == [
        ("a", "success", 1),
        ("b", "success", 1),
        ("c", "success", 1),
    ]


def test_sessions_written_at_once_are_told_apart(tmp_path: Path):
    rows = [
        {**HEAD, "id": "a"},
        {**HEAD, "id": "b"},
        turn("a1", session_id="a"),
        turn("b1", session_id="b"),
        turn("a2", session_id="a"),
        {"type": "outcome", "outcome": "failure", "session_id": "b"},
        turn("a3", session_id="a"),
    ]
    first, second = read_all(lines_file(tmp_path / "s.jsonl", rows))
    assert (first.id, [t.action for t in first.turns()]) == ("a", ["a1", "a2", "a3"])
    assert (second.id, [t.action for t in second.turns()]) == ("b", ["b1"])
    assert (first.outcome, second.outcome) == ("in_progress", "failure")


def test_a_line_of_no_session_is_reported(tmp_path: Path):
    rows = [{**HEAD, "id": "a"}, turn("a1", session_id="a"), turn("x", session_id="nobody")]
    session = read_one(lines_file(tmp_path / "s.jsonl", rows))
    assert [(w.line, w.reason) for w in session.warnings] == [
        (3, "no session 'nobody' is open at this line")
    ]


def test_calls_results_and_signals(tmp_path: Path):
    rows = [
        HEAD,
        {"type": "message", "role": "user", "text": "go"},
        {"type": "message", "role": "assistant", "text": "I look.", "step": "r1"},
        {"type": "call", "id": "c1", "tool": "bash", "arguments": {"command": "ls"}, "step": "r1"},
        {"type": "call", "id": "c2", "tool": "bash", "arguments": "not { json", "step": "r1"},
        {"type": "result", "call_id": "c2", "text": "no", "status": "rejected"},
        {"type": "signal", "kind": "rejection", "text": "not like this", "call_id": "c2"},
        {"type": "result", "call_id": "c1", "text": "boom", "status": "ok", "exit_code": 3},
        {"type": "signal", "kind": "interruption", "text": ""},
        {"type": "result", "call_id": "c9", "text": "", "status": "perhaps"},
        {"type": "dance"},
    ]
    session = read_one(lines_file(tmp_path / "s.jsonl", rows))
    one, two = session.turns()
    assert (one.action, one.observation) == ('I look.\nbash {"command": "ls"}', "boom")
    assert (two.action, two.observation) == ("bash not { json", "no")
    counts = session.counts()
    assert (counts.calls, counts.results, counts.errors) == (2, 2, 1)
    assert (counts.rejections, counts.interruptions) == (1, 1)
    assert [(w.line, w.lost) for w in session.warnings] == [(10, True), (11, False)]


def test_a_verdict_in_the_file_is_a_terminal_reward(tmp_path: Path):
    rows = [HEAD, turn("a"), turn("b"), {"type": "signal", "kind": "verdict", "value": 1.0}]
    worth = score_session(read_one(lines_file(tmp_path / "s", rows)), Rules(), 0.5).worth
    assert (worth.rewards, worth.returns, worth.outcome) == ([0.0, 1.0], [0.5, 1.0], "success")


def test_the_same_session_as_one_object(tmp_path: Path):
    value = {
        "id": "x",
        "goal": "g",
        "turns": [
            {"action": "a", "observation": "o", "reward": {"Positive": 0.1}, "timestamp": 1.8e9},
            {"action": "b", "observation": "p", "reward": {"Negative": 0.2}},
            {"action": "c", "observation": "q", "reward": "Neutral"},
            {"action": "d", "observation": "r", "reward": {"Terminal": 1.0}},
        ],
        "outcome": {"Aborted": "why"},
        "total_reward": 7.5,
        "metadata": {},
    }  # fmt: skip
    document = tmp_path / "one.json"
    document.write_text(json.dumps(value, indent=2))
    for path in (document, lines_file(tmp_path / "lines.jsonl", [value, {**value, "id": "y"}])):
        session = read_all(path)[0]
        worth = score_session(session, Rules(), 1.0).worth
        assert (session.dialect, session.id, worth.rewards) == (
            "native",
            "x",
            [0.1, -0.2, 0.0, 1.0],
        )
        assert (session.outcome, session.reason) == ("aborted", "why")
        (warning,) = session.warnings
        assert warning.reason == "the stored total_reward 7.5 is not the sum of the rewards, 0.9"
        assert not warning.lost


def test_converting_a_native_file_keeps_its_turn_lines(tmp_path: Path):
    rows = [
        {**HEAD, "started_at": "2026-11-15T09:00:00Z"},
        turn("a", "b", reward={"kind": "positive", "value": 0.25}),
        {"type": "turn", "action": "no answer"},
        {"type": "outcome", "outcome": "success"},
    ]
    written = b"".join(native_lines(read_one(lines_file(tmp_path / "s.jsonl", rows))))
    assert [json.loads(line) for line in written.splitlines()] == rows


def test_ids_are_made_where_there_are_none(tmp_path: Path):
    anonymous = {key: value for key, value in HEAD.items() if key != "id"}
    sessions = read_all(lines_file(tmp_path / "s", [anonymous, turn(), anonymous, turn()]))
    first, second = (session.id for session in sessions)
    assert first.endswith("-1") and second.endswith("-2")
    assert first[:12] == second[:12] and len(first) == 14


def test_a_cut_last_line_is_read_up_to_there(tmp_path: Path):
    file = lines_file(tmp_path / "s.jsonl", [HEAD, turn(reward=1), turn(reward=1)])
    file.write_bytes(file.read_bytes()[:-20])
    session = read_one(file)
    assert len(session.turns()) == 1
    assert [warning.line for warning in session.warnings] == [3]


def tagged(name: str, *actions: str, outcome: str | None = "success") -> list[dict[str, object]]:
    """A session as `record` writes it: every line says whose it is."""
    rows: list[dict[str, object]] = [{**HEAD, "id": name, "session_id": name}]
    rows += [turn(action, session_id=name) for action in actions]
    if outcome:
        rows.append({"type": "outcome", "outcome": outcome, "session_id": name})
    return rows


def test_sessions_that_say_whose_each_line_is_are_handed_on_when_they_have_ended(tmp_path: Path):
    rows = [*tagged("a", "a1"), *tagged("b", "b1"), *tagged("c", "c1")]
    with Source(lines_file(tmp_path / "s.jsonl", rows)) as source:
        reading = Reading(source)
        taken = [
            [session.id for session in reading.take(number, msgspec.convert(row, Line))]
            for number, row in enumerate(rows, start=1)
        ]
        assert taken == [[], [], [], ["a"], [], [], ["b"], [], []]
        assert [session.id for session in reading.rest()] == ["c"]


def test_sessions_written_at_once_come_in_the_order_of_their_heads(tmp_path: Path):
    a, b, c = tagged("a", "a1", "a2"), tagged("b", "b1"), tagged("c", "c1", outcome=None)
    rows = [a[0], *b, a[1], *tagged("d", "d1"), a[2], a[3], *c, *tagged("e")]
    found = read_all(lines_file(tmp_path / "s.jsonl", rows))
    assert [(s.id, len(s.turns()), s.outcome) for s in found] == [
        ("a", 2, "success"),
        ("b", 1, "success"),
        ("d", 1, "success"),
        ("c", 1, "in_progress"),
        ("e", 0, "success"),
    ]


def test_a_line_after_its_session_ended_is_reported_wherever_it_stands(tmp_path: Path):
    late = turn("late", session_id="a")
    reason = "no session 'a' is open at this line"
    for rows in ([*tagged("a", "a1"), late], [*tagged("a", "a1"), *tagged("b", "b1"), late]):
        found = read_all(lines_file(tmp_path / "s.jsonl", rows))
        assert [t.action for s in found for t in s.turns()] == ["a1", "b1"][: len(found)]
        warnings = [(w.line, w.reason, w.lost) for s in found for w in s.warnings]
        assert warnings == [(len(rows), reason, True)]
