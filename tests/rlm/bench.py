"""What comes back from sessions of 0.1 to 100 MB, and at what cost: `make bench-rlm`.

Needles stand at known lines among real-looking work and look-alikes; a way finds one if it cites
lines that overlap it, at most 40. Tail and evidence have 12,000 characters, as a reviewer has. The
rlm column is driven by a scripted explorer that only searches and asks, through the same tools.
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
from msgspec import Struct

from agentlearn.render import render_session
from agentlearn.rlm.asking import Limits
from agentlearn.rlm.by_evidence import answer_by_evidence
from agentlearn.rlm.explore import Exploring
from agentlearn.rlm.outline import outline
from agentlearn.rlm.pages import Pages
from agentlearn.sessions.values import Session
from tests.files import read_one
from tests.memory import peak_mb_of
from tests.rlm.explorer import SearchingModel
from tests.rlm.sessions import QUESTIONS, Planted, plant_session

MB = 1_000_000
SIZES = {0.1: 15, 1.0: 3, 10.0: 3, 100.0: 1}
"""Megabytes, and how many sessions of each: three together have every phrasing once."""
BUDGET = 12_000
LIMITS = Limits(max_iterations=60, max_subcalls=1000, max_tokens=50_000_000)
"""Beyond the defaults: what is needed is the question."""
Spans = list[tuple[int, int]]
OUTLINE = """
from pathlib import Path
from agentlearn.rlm.outline import outline
from agentlearn.rlm.pages import Pages
from tests.files import read_one
pages = Pages(read_one(Path(sys.argv[1])))
outline(pages, pages.first, pages.last, 20000)
"""


class Cost(Struct):
    found: int = 0
    wrong: int = 0
    """Look-alikes that were named."""
    of: int = 0
    tokens: int = 0
    subcalls: int = 0
    seconds: float = 0.0
    sessions: int = 0

    def add(self, planted: Planted, spans: Spans, tokens: int, calls: int, took: float) -> None:
        needles = planted.needles
        self.wrong += sum(any(one.found_by(*span) for span in spans) for one in planted.look_alikes)
        self.found += sum(any(needle.found_by(*span) for span in spans) for needle in needles)
        self.of += len(needles)
        self.tokens += tokens
        self.subcalls += calls
        self.seconds += took
        self.sessions += 1


def by_tail(session: Session) -> tuple[Spans, int, int]:
    text = render_session(session, BUDGET, "tail", lines=True)
    lines = [int(line) for line in re.findall(r"^\[L(\d+)\]", text, re.MULTILINE)]
    return [(line, line) for line in lines], len(text) // 4, 0


def by_evidence(session: Session) -> tuple[Spans, int, int]:
    found = answer_by_evidence([session], BUDGET)
    return [(one.start, one.end) for one in found.citations], len(found.text) // 4, 0


def by_rlm(session: Session) -> tuple[Spans, int, int]:
    model = SearchingModel()
    done = Exploring([Pages(session)], model, model, LIMITS).go(QUESTIONS[0])
    if done.completion.outcome != "converged":
        print(f"  rlm ended as {done.completion.outcome}: {done.said}", file=sys.stderr)
    spans = [(one.start, one.end) for one in done.cited.citations]
    usage = done.completion.usage
    return spans, usage.input_tokens + usage.output_tokens, done.completion.subcalls


WAYS: dict[str, Callable[[Session], tuple[Spans, int, int]]] = {
    "tail": by_tail,
    "evidence": by_evidence,
    "rlm": by_rlm,
}


def sessions_of(folder: Path, size: float, unseen: bool) -> Iterator[tuple[Path, Planted]]:
    for seed in range(SIZES[size]):
        path = folder / "session.jsonl"
        yield path, plant_session(path, int(size * MB), seed, unseen)


def compare(folder: Path, size: float, unseen: bool) -> dict[str, Cost]:
    costs = {name: Cost() for name in WAYS}
    for path, planted in sessions_of(folder, size, unseen):
        for name, way in WAYS.items():
            session = read_one(path)
            began = time.perf_counter()
            spans, tokens, calls = way(session)
            costs[name].add(planted, spans, tokens, calls, time.perf_counter() - began)
    return costs


def to_outline(path: Path) -> float:
    began = time.perf_counter()
    pages = Pages(read_one(path))
    outline(pages, pages.first, pages.last, 20_000)
    return time.perf_counter() - began


def bare_loop(path: Path) -> float:
    began = time.perf_counter()
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)
    return time.perf_counter() - began


def _row(cost: Cost) -> str:
    share = f"{cost.found:3} of {cost.of:3} ({cost.found / cost.of:4.0%})"
    each = cost.sessions
    named = cost.wrong // each
    took = f"{cost.tokens // each:10,} {cost.subcalls // each:10} {cost.seconds / each:9.2f}"
    return f"{share} {named:10} {took}"


def main() -> None:
    print("MB      half    way        found         look-alikes   tokens  sub-calls  s a session")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for size in SIZES:
            for unseen in (False, True):
                half = "unseen" if unseen else "open"
                for way, cost in compare(folder, size, unseen).items():
                    print(f"{size:<7} {half:7} {way:9} {_row(cost)}", flush=True)
        path = folder / "session.jsonl"
        pairs = [(to_outline(path), bare_loop(path)) for _ in range(3)]
        ours, bare = min(one for one, _ in pairs), min(other for _, other in pairs)
        print(f"\noutline of 100 MB: {ours:.2f} s, {ours / bare:.2f} × a bare orjson loop (most 3)")
        print(f"peak memory of that: {peak_mb_of(OUTLINE, str(path)):.0f} MB (most 300)")


if __name__ == "__main__":
    main()
