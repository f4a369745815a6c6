"""How well the rules find what readers marked: precision and recall, by line numbers.

A change is right if it cites a line of a marked lesson; a lesson is found if a change cites it.
`python -m tests.lessons.measure open|unseen|more` prints the figures; AGENTLEARN_SAMPLES is needed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from agentlearn.cli.stores import open_store
from agentlearn.events import ignore
from agentlearn.review.by_model import Limits
from agentlearn.review.review import Plan, Reviewing
from agentlearn.sessions.read import read_sessions
from agentlearn.sessions.source import Source
from agentlearn.store.shelf import Desk

HERE = Path(__file__).parent


class Figures(NamedTuple):
    sessions: int
    quiet: int
    written: int
    right: int
    must: int
    found: int
    on_quiet: int
    """Changes on sessions that teach nothing."""
    never: int
    """Changes that cite nothing but what readers marked as no lesson."""

    @property
    def precision(self) -> float:
        return self.right / self.written if self.written else 1.0

    @property
    def recall(self) -> float:
        return self.found / self.must if self.must else 1.0

    def __str__(self) -> str:
        return (
            f"{self.sessions} sessions ({self.quiet} with nothing to learn): "
            f"{self.written} changes, {self.right} right, precision {self.precision:.2f}; "
            f"{self.found} of {self.must} lessons found, recall {self.recall:.2f}; "
            f"{self.on_quiet} on the quiet ones, {self.never} on marked non-lessons"
        )


def measure(half: str, samples: Path) -> Figures:
    """The figures of one half: each session is reviewed by the rules, into nothing."""
    rows = yaml.safe_load((HERE / f"{half}.yaml").read_text())["sessions"]
    counts = [_one(row, samples) for row in rows]
    return Figures(*(sum(column) for column in zip(*counts, strict=True)))


def _one(row: dict[str, Any], samples: Path) -> tuple[int, ...]:
    written = _cited(row, samples)
    lessons = {lesson["id"]: set(lesson["lines"]) for lesson in row["lessons"]}
    never = {line for item in row.get("never", ()) for line in item["lines"]}
    right = [lines for lines in written if any(lines & marked for marked in lessons.values())]
    must = [lesson["id"] for lesson in row["lessons"] if lesson["must"]]
    found = [name for name in must if any(lines & lessons[name] for lines in written)]
    wrong = [lines for lines in written if lines not in right and lines <= never]
    on_quiet = len(written) if row["quiet"] else 0
    return (1, row["quiet"], len(written), len(right), len(must), len(found), on_quiet, len(wrong))


def _cited(row: dict[str, Any], samples: Path) -> list[set[int]]:
    """The lines that each change cites."""
    plan = Plan(10, False, 12_000, "evidence", Limits(6, 200_000), BUDGETS, "")
    found = []
    with Source(samples / row["path"]) as source:
        for session in read_sessions(source):
            if row.get("session") not in (None, session.id):
                continue
            desk = Desk(open_store(user=True), "dry-run")
            report = Reviewing(desk, plan, None, ignore).review(session, lambda attempt: None)
            for attempt in report.attempts:
                if attempt.change is not None:
                    spans = [(item.start, item.end) for item in attempt.evidence]
                    found.append({n for start, end in spans for n in range(start, end + 1)})
    return found


BUDGETS: Any = {"MEMORY": 2200, "USER": 1375}

if __name__ == "__main__":
    for half in sys.argv[1:] or ("open", "unseen"):
        print(half, measure(half, Path(os.environ["AGENTLEARN_SAMPLES"])))
