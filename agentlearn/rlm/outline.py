"""What there is in a session, on one page: its size, tools, failures, and the person's words.

A session that is long is told in stretches. What a person said and did stands before what failed,
and of too many the first and last words of each stretch are named, with how many more there are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter

from agentlearn.guard import one_line
from agentlearn.guard.secrets import redact
from agentlearn.rlm.pages import Landmark, Pages

STRETCHES = 24
SHOWN_CHARS = 160
SHORTEST_CHARS = 60


def outline(pages: Pages, first: int, last: int, most_chars: int) -> str:
    """The page for these lines, within so many characters."""
    marks = [mark for mark in pages.landmarks if first <= mark.line <= last]
    parts = stretches(pages, first, last)
    text = ""
    for width in (SHOWN_CHARS, SHORTEST_CHARS):
        for each in (len(marks), 40, 20, 10, 5, 3, 2, 1, 0):
            text = "\n".join(
                [_head(pages), *(_stretch(pages, one, marks, each, width) for one in parts)]
            )
            if len(text) <= most_chars:
                return text
    return text[:most_chars]


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
        f"{one_line(tool, 40)} {count}" + (f" ({failed[tool]} failed)" if failed[tool] else "")
        for tool, count in counts.most_common(12)
    )
    goal = f"\nfirst asked: {_shown(pages.goal, SHOWN_CHARS)}" if pages.goal else ""
    return (
        f"session {one_line(pages.id, 80)} ({pages.dialect}): "
        f"{pages.place(pages.first, pages.last)}, {len(pages.turns)} turns, "
        f"{pages.chars} characters\ntools: {tools or 'none'}{goal}"
    )


def _stretch(
    pages: Pages, part: tuple[int, int], marks: list[Landmark], each: int, width: int
) -> str:
    first, last = part
    low, high = bisect_left(pages.turns, first), bisect_right(pages.turns, last)
    calls = [call for call in pages.calls if first <= call[0] <= last]
    failed = sum(is_failed for _, _, is_failed in calls)
    turns = f"turns {low + 1}-{high}" if high > low else "no turn"
    head = f"{pages.place(first, last)}: {turns}, {len(calls)} calls, {failed} failed"
    inside = [mark for mark in marks if first <= mark.line <= last]
    named = _chosen(inside, each)
    lines = [
        f"  {pages.letter}{mark.line} {mark.tag}: {_shown(mark.text, width)}" for mark in named
    ]
    left = len(inside) - len(named)
    more = [f"  …and {left} more: outline({first}, {last})"] if left and each else []
    return "\n".join([head, *lines, *more])


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
    return one_line(redact(text), width)
