"""What there is in a session, on one page: its size, tools, failures, and the person's words.

A session that is long is told in stretches. What a person said and did stands before what failed,
and of too many the first and last words of each stretch are named, with how many more there are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from agentlearn.guard import one_line
from agentlearn.guard.shown import harmless
from agentlearn.rlm.pages import Landmark, Pages

STRETCHES = 24
SHOWN_CHARS = 160
SHORTEST_CHARS = 60
MARKS_EACH = (1000, 200, 40, 20, 10, 5, 3, 2, 1, 0)
"""So many landmarks a stretch, as long as they fit."""
T = TypeVar("T")


def outline(pages: Pages, first: int, last: int, most_chars: int) -> str:
    """The page for these lines, within so many characters."""
    parts = [Stretch(pages, *part) for part in stretches(pages, first, last)]
    head = _head(pages)
    for width in (SHOWN_CHARS, SHORTEST_CHARS):
        for each in MARKS_EACH:
            if each * len(parts) * width // 3 > most_chars and each:
                continue  # it cannot fit: not worth the making
            text = "\n".join([head, *(part.shown(each, width) for part in parts)])
            if len(text) <= most_chars:
                return text
    return f"{text[: most_chars - 40]}\n…(cut off: look at a part of it)…"[:most_chars]


def stretches(pages: Pages, first: int, last: int) -> list[tuple[int, int]]:
    """The lines in about as many parts as fit a page, parted where a turn begins."""
    low, high = bisect_left(pages.turns, first), bisect_right(pages.turns, last)
    starts = pages.turns[low:high]
    step = max(1, -(-len(starts) // STRETCHES))
    borders = sorted({first, *(line for line in starts[step::step])})
    ends = [border - 1 for border in borders[1:]] + [last]
    return [(start, end) for start, end in zip(borders, ends, strict=True) if start <= end]


def _head(pages: Pages) -> str:
    counts = Counter(tool for _, tool, _ in pages.calls)
    failed = Counter(tool for _, tool, is_failed in pages.calls if is_failed)
    tools = ", ".join(
        f"{one_line(harmless(tool), 40)} {count}"
        + (f" ({failed[tool]} failed)" if failed[tool] else "")
        for tool, count in counts.most_common(12)
    )
    goal = f"\nfirst asked: {_shown(pages.goal, SHOWN_CHARS)}" if pages.goal else ""
    verdicts = "".join(
        f"\nsaid beside it: {mark.tag} {_shown(mark.text, SHOWN_CHARS)}"
        for mark in pages.verdicts[:5]
    )
    return (
        f"session {one_line(pages.id, 80)} ({pages.dialect}): "
        f"{pages.place(pages.first, pages.last)}, {len(pages.turns)} turns, "
        f"{pages.chars} characters\ntools: {tools or 'none'}{goal}{verdicts}"
    )


def _how_many_failed(count: int) -> str:
    return f" ({count} failed)" if count else ""


class Stretch:
    """Some lines of a session, with what is told of them."""

    def __init__(self, pages: Pages, first: int, last: int) -> None:
        self.pages = pages
        self.first, self.last = first, last
        low, high = bisect_left(pages.turns, first), bisect_right(pages.turns, last)
        calls = _of_lines(pages.calls, first, last, lambda call: call[0])
        failed = sum(is_failed for _, _, is_failed in calls)
        turns = f"turns {low + 1}-{high}" if high > low else "no turn"
        self.head = f"{pages.place(first, last)}: {turns}, {len(calls)} calls, {failed} failed"
        self.marks = _of_lines(pages.landmarks, first, last, lambda mark: mark.line)

    def shown(self, each: int, width: int) -> str:
        named = _chosen(self.marks, each)
        lines = [
            f"  {self.pages.letter}{mark.line} {mark.tag}: {_shown(mark.text, width)}"
            for mark in named
        ]
        left = len(self.marks) - len(named)
        more = [f"  …and {left} more: outline({self.first}, {self.last})"] if left and each else []
        return "\n".join([self.head, *lines, *more])


def _of_lines(things: list[T], first: int, last: int, line_of: Callable[[T], int]) -> list[T]:
    """Those of a list, in the order of their lines, that stand in these."""
    low = bisect_left(things, first, key=line_of)
    return things[low : bisect_right(things, last, key=line_of)]


def _chosen(marks: list[Landmark], most: int) -> list[Landmark]:
    """The person's first, then the failures; in the order of the session."""
    if len(marks) <= most:
        return marks
    by_person = [mark for mark in marks if not mark.tag.startswith("failed")]
    failures = [mark for mark in marks if mark.tag.startswith("failed")]
    kept = _spread(by_person, most)
    kept += _spread(failures, most - len(kept))
    return sorted(kept, key=lambda mark: mark.line)


def _spread(marks: list[Landmark], most: int) -> list[Landmark]:
    """So many of them, from the first to the last."""
    if most <= 0:
        return []
    if len(marks) <= most:
        return list(marks)
    step = (len(marks) - 1) / max(1, most - 1)
    return [marks[round(number * step)] for number in range(most)]


def _shown(text: str, width: int) -> str:
    return one_line(harmless(text), width)
