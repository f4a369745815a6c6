"""The sessions that `make bench-rlm` measures with: what they claim to hold, they hold."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import orjson
import pytest

from agentlearn.sessions.values import Call, Message, Result
from tests.files import read_one
from tests.rlm.phrasings import KINDS, load_phrasings
from tests.rlm.sessions import (
    LOOK_ALIKES,
    QUESTIONS,
    Needle,
    Planted,
    plant_session,
    write_session,
)

MB = 1_000_000
both = pytest.mark.parametrize("unseen", [False, True])


def planted(tmp_path: Path, unseen: bool, size: int = MB, seed: int = 1) -> tuple[Path, Planted]:
    path = tmp_path / "session.jsonl"
    return path, plant_session(path, size, seed, unseen)


def texts(path: Path) -> dict[int, str]:
    """All texts of a line, by the line's number."""
    with path.open("rb") as lines:
        return {
            number: "\n".join(strings(orjson.loads(line))) for number, line in enumerate(lines, 1)
        }


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from strings(part)


def lines_with(texts: dict[int, str], phrase: str) -> set[int]:
    return {line for line, text in texts.items() if phrase in text}


@both
def test_it_is_a_session_of_claude_code(tmp_path: Path, unseen: bool) -> None:
    path, _ = planted(tmp_path, unseen)
    session = read_one(path)
    assert session.dialect == "claude-code"
    assert session.warnings == []
    calls = [entry.id for entry in session.entries if isinstance(entry, Call)]
    results = [entry.call_id for entry in session.entries if isinstance(entry, Result)]
    assert calls == results


@both
def test_needles_stand_where_it_says_and_nowhere_else(tmp_path: Path, unseen: bool) -> None:
    path, found = planted(tmp_path, unseen)
    inside = texts(path)
    assert Counter(needle.kind for needle in found.needles) == dict.fromkeys(KINDS, 5)
    for needle in found.needles:
        where = lines_with(inside, needle.phrase)
        assert where, needle
        assert where <= set(range(needle.start, needle.end + 1)), needle


def test_a_needle_is_of_its_kind(tmp_path: Path) -> None:
    path, found = planted(tmp_path, unseen=False)
    entries = read_one(path).entries
    for needle in found.needles:
        last = next(entry for entry in entries if entry.line == needle.end)
        if needle.kind == "fix":
            first = next(e for e in entries if isinstance(e, Result) and e.line > needle.start)
            assert isinstance(last, Result)
            assert (first.status, last.status) == ("error", "ok")
        elif needle.kind == "rejection":
            assert isinstance(last, Result)
            assert last.status == "rejected"
        else:
            assert isinstance(last, Message)
            assert last.role == "user"


@both
def test_a_decision_stands_before_its_reversal(tmp_path: Path, unseen: bool) -> None:
    path, found = planted(tmp_path, unseen)
    inside = texts(path)
    first = {pair.then: pair.first for pair in load_phrasings(unseen).reversal.needles}
    for needle in found.needles:
        if needle.kind == "reversal":
            assert min(lines_with(inside, first[needle.phrase])) < needle.start


@both
def test_twenty_look_alikes_to_a_needle(tmp_path: Path, unseen: bool) -> None:
    path, found = planted(tmp_path, unseen)
    inside = texts(path)
    assert Counter(each.kind for each in found.look_alikes) == dict.fromkeys(KINDS, 5 * LOOK_ALIKES)
    for each in found.look_alikes:
        assert lines_with(inside, each.phrase) & set(range(each.start, each.end + 1)), each


@both
@pytest.mark.parametrize("size", [MB // 10, MB])
def test_needles_are_spread_evenly(tmp_path: Path, size: int, unseen: bool) -> None:
    path, found = planted(tmp_path, unseen, size)
    lines = path.read_bytes().splitlines(keepends=True)
    at = [sum(map(len, lines[: needle.start - 1])) for needle in found.needles]
    gap = len(b"".join(lines)) / len(at)
    assert at == sorted(at)
    assert all(0.1 * gap < after - before < 2.5 * gap for before, after in pairwise(at))
    assert sum(place > len(b"".join(lines)) - 12_000 for place in at) == 1


@both
@pytest.mark.parametrize(("size", "count"), [(MB // 10, 4), (MB, 20)])
def test_the_size_is_about_right(tmp_path: Path, size: int, count: int, unseen: bool) -> None:
    path, found = planted(tmp_path, unseen, size)
    assert len(found.needles) == count
    assert 0.9 * size < path.stat().st_size < 1.25 * size


def test_lines_are_as_long_as_in_real_sessions(tmp_path: Path) -> None:
    path, _ = planted(tmp_path, unseen=False, size=10 * MB)
    sizes = sorted(map(len, path.read_bytes().splitlines()))
    assert 1_000 < sizes[len(sizes) // 2] < 2_000
    assert 10_000 < sizes[-len(sizes) // 100] < 60_000


def test_the_same_seed_gives_the_same_bytes(tmp_path: Path) -> None:
    one, two, other = (tmp_path / name for name in ("one", "two", "other"))
    assert write_session(one, MB, 3, unseen=False) == write_session(two, MB, 3, unseen=False)
    write_session(other, MB, 4, unseen=False)
    assert one.read_bytes() == two.read_bytes() != other.read_bytes()


@both
def test_three_seeds_use_every_phrasing(tmp_path: Path, unseen: bool) -> None:
    found = Counter[str]()
    for seed in range(3):
        needles = write_session(tmp_path / "session.jsonl", MB, seed, unseen)
        found.update(needle.phrase for needle in needles)
    assert len(found) == 60
    assert set(found.values()) == {1}


@both
def test_phrasings_are_many_and_differ(unseen: bool) -> None:
    here, there = load_phrasings(unseen), load_phrasings(not unseen)
    for kind in KINDS:
        group, other = getattr(here, kind), getattr(there, kind)
        assert len(set(group.needles)) == 15
        assert len(set(group.look_alikes)) >= 20
        assert not set(group.needles) & set(other.needles)
        assert not set(group.look_alikes) & set(other.look_alikes)


@both
def test_the_questions_tell_nothing_of_the_needles(unseen: bool) -> None:
    phrasings = load_phrasings(unseen)
    said = [needle.say for needle in phrasings.correction.needles]
    said += [needle.say for needle in phrasings.rejection.needles]
    said += [needle.works for needle in phrasings.fix.needles]
    said += [needle.then for needle in phrasings.reversal.needles]
    words = set(re.findall(r"\w{5,}", " ".join(said).lower()))
    assert not words & set(re.findall(r"\w{5,}", " ".join(QUESTIONS).lower()))


def test_a_citation_is_right_if_it_meets_the_needle_and_is_short() -> None:
    needle = Needle("fix", 100, 105, "make")
    assert needle.found_by(105, 110)
    assert needle.found_by(66, 105)
    assert not needle.found_by(65, 105)
    assert not needle.found_by(106, 110)
    assert not needle.found_by(90, 99)
