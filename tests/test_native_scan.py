"""The scan gives what the full reader gives, to the last bit, at any number of processes."""

import os
import pickle
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from agentlearn.cli.app import app
from agentlearn.cli.score import SCAN_FROM
from agentlearn.rewards.rules import NATIVE, Rules
from agentlearn.rewards.scanned import scan_worth
from agentlearn.rewards.worth import score_session
from agentlearn.sessions import native_scan
from tests.files import lines_file, read_all

HEAD = {"type": "session", "schema": "agentlearn-session/1"}


def in_full(path: Path, gamma: float, rules: Rules) -> list[object]:
    return [score_session(session, rules, gamma).worth for session in read_all(path)]


def scanned(path: Path, gamma: float, jobs: int = 1, stated_only: bool = False) -> list[object]:
    return list(scan_worth(path, jobs, gamma, stated_only))


amounts = st.floats(0, 1e6, allow_nan=False)
rewards = st.one_of(
    st.floats(-1e6, 1e6, allow_nan=False),
    st.builds(lambda v: {"kind": "positive", "value": v}, amounts),
    st.builds(lambda v: {"kind": "negative", "value": v}, amounts),
    st.just({"kind": "neutral"}),
    st.builds(lambda v: {"kind": "terminal", "value": v}, st.floats(-1e6, 1e6, allow_nan=False)),
)
texts = st.text(max_size=30)
turns = st.builds(
    lambda a, o, r: {"type": "turn", "action": a, "observation": o, "reward": r},
    texts,
    texts,
    rewards,
)
sessions = st.lists(
    st.tuples(st.lists(turns, min_size=1, max_size=6), st.sampled_from(["success", "failure"])),
    min_size=1,
    max_size=5,
)


@settings(max_examples=60, deadline=None)
@given(sessions, st.floats(0, 1))
def test_scan_equals_reading(tmp_path_factory, found, gamma: float):
    rows = []
    for number, (some, outcome) in enumerate(found):
        rows += [{**HEAD, "id": f"s{number}", "goal": "g", "metadata": {"task": number}}, *some]
        rows.append({"type": "outcome", "outcome": outcome})
    path = lines_file(tmp_path_factory.mktemp("scan") / "s.jsonl", rows)
    assert scanned(path, gamma) == in_full(path, gamma, Rules())
    assert scanned(path, gamma, stated_only=True) == in_full(path, gamma, NATIVE)


def large_file(path: Path, size: int) -> Path:
    chance = random.Random(7)
    rows = []
    written = 0
    while written < size:
        rows.append({**HEAD, "id": f"s{len(rows)}", "goal": "änderung ✓"})
        for _ in range(chance.randint(1, 40)):
            text = "x" * chance.randint(10, 30_000)
            rows.append(
                {
                    "type": "turn",
                    "action": "a",
                    "observation": text,
                    "reward": chance.uniform(-1, 1),
                }
            )
            written += len(text)
        rows.append({"type": "outcome", "outcome": "success"})
    return lines_file(path, rows)  # fmt: skip


def test_pieces_of_any_size_give_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = large_file(tmp_path / "s.jsonl", 3_000_000)
    whole = in_full(path, 0.97, Rules())
    size = path.stat().st_size
    for part in (1000, 65_536, 1_000_003, size - 1, size, size + 1):
        pieces = [
            native_scan.scan_piece(path, start, start + part) for start in range(0, size, part)
        ]
        turns = sum(len(found.rewards) for piece in pieces for found in piece)
        assert turns == sum(len(worth.rewards) for worth in whole)
    assert scanned(path, 0.97) == whole


@pytest.mark.slow
def test_several_processes_give_the_same_bits(tmp_path: Path):
    path = large_file(tmp_path / "s.jsonl", 3 * native_scan.PART)
    alone = scanned(path, 0.97, jobs=1)
    assert len(alone) > 100
    for jobs in (2, 3, 8):
        assert scanned(path, 0.97, jobs=jobs) == alone


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "turn", "action": "a", "session_id": "s1", "reward": 1},
        {"type": "call", "id": "c", "tool": "bash"},
        {"type": "message", "role": "assistant", "text": "done"},
        {"type": "signal", "kind": "interruption"},
        {"type": "turn", "action": "a", "reward": {"kind": "positive", "value": -1}},
        {"type": "turn", "action": "a", "reward": {"kind": "neutral", "value": 1}},
        {"type": "turn", "action": "a", "reward": {"Positive": 1}},
        {"type": "outcome", "outcome": "won"},
        {"type": "outcome", "outcome": {"Aborted": "x"}},
        {"type": "session", "schema": "agentlearn-session/9", "id": "s2"},
        {"type": "session", "schema": "agentlearn-session/1"},
        {"type": "dance"},
        {"goal": "g", "turns": []},
        [1, 2],
        "text",
    ],
)
def test_what_the_scan_does_not_know_it_leaves_to_the_reader(tmp_path: Path, odd: object):
    plain = [{**HEAD, "id": "s0"}, {"type": "turn", "action": "a", "reward": 1}]
    open_one = [{**HEAD, "id": "s1"}, {"type": "turn", "action": "a", "reward": 1}, odd]
    path = lines_file(tmp_path / "s.jsonl", [*plain, *open_one])
    found = []
    with pytest.raises(native_scan.NotPlain):
        for worth in scan_worth(path, 1, 0.9, False):
            found.append(worth)
    assert found == in_full(path, 0.9, Rules())[: len(found)]


def test_a_session_that_states_nothing_is_left_to_the_reader(tmp_path: Path):
    rows = [{**HEAD, "id": "s0"}, {"type": "turn", "action": "pytest", "observation": "3 passed"}]
    path = lines_file(tmp_path / "s.jsonl", rows)
    with pytest.raises(native_scan.NotPlain):
        scanned(path, 0.9)
    assert scanned(path, 0.9, stated_only=True) == in_full(path, 0.9, NATIVE)


def test_a_piece_that_is_not_plain_ends_the_scan_when_its_turn_comes():
    """The pipe stays open, as it does while the others still scan: nobody waits for them."""
    receive, send = os.pipe()
    try:
        for piece in ((1, None), (0, []), (3, [])):
            packed = pickle.dumps(piece)
            os.write(send, len(packed).to_bytes(native_scan.LENGTH) + packed)
        pieces = native_scan._in_order([receive], 9)
        assert next(pieces) == []
        with pytest.raises(native_scan.NotPlain):
            next(pieces)
    finally:
        os.close(receive)
        os.close(send)


@pytest.mark.slow
def test_what_stands_before_a_piece_that_is_not_plain_is_scanned(tmp_path: Path):
    path = large_file(tmp_path / "s.jsonl", native_scan.SHARED_PART)
    plain = path.read_bytes()
    odd = b'{"type":"signal","kind":"interruption"}\n'
    path.write_bytes(plain + odd + plain * 3)
    found: list[object] = []
    with pytest.raises(native_scan.NotPlain):
        for worth in scan_worth(path, 2, 0.9, False):
            found.append(worth)
    assert len(found) > 20
    assert found == in_full(path, 0.9, Rules())[: len(found)]


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("odd_at", [None, 0, 30, 59])
def test_the_command_prints_the_same_by_both_ways(tmp_path: Path, odd_at: int | None, jobs: str):
    """A file that is plain up to some session: what was scanned is neither lost nor told twice."""
    rows: list[object] = []
    for number in range(60):
        rows.append({**HEAD, "id": f"s{number}", "goal": "g"})
        for turn in range(3):
            rows.append({"type": "turn", "action": "a", "observation": "o" * 9000, "reward": turn})
        if number == odd_at:
            rows.append({"type": "call", "id": "c", "tool": "bash", "arguments": {}})
            bad = {"kind": "positive", "value": -1}
            rows.append({"type": "turn", "action": "a", "reward": bad})
    path = lines_file(tmp_path / "s.jsonl", rows)
    assert path.stat().st_size > SCAN_FROM
    words = ["returns", "--format", "jsonl", "--gamma", "0.9", "--jobs", jobs]
    fast = CliRunner().invoke(app, [*words, str(path)])
    slow = CliRunner().invoke(app, [*words, "-"], input=path.read_bytes())
    assert fast.exit_code == slow.exit_code == 0
    found, expected = fast.stdout.splitlines(), slow.stdout.splitlines()
    assert [line.replace(str(path), "-") for line in found] == expected
    assert len(found) == 60
    skipped = "1 line skipped (" in fast.stderr
    assert skipped == (odd_at is not None)
