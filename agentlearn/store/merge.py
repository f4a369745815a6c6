"""Carry the difference between two texts over to a third, which may have changed elsewhere."""

from __future__ import annotations

from difflib import SequenceMatcher


def carry(base: str | None, changed: str | None, current: str | None) -> tuple[bool, str | None]:
    """What `current` becomes when it is changed as `base` was; False if those lines differ in it.

    None is a file that is not there: it can only come or go as a whole.
    """
    if current == base:
        return True, changed
    if current == changed:
        return True, current
    if base is None or changed is None or current is None:
        return False, current
    old, new, now = (text.splitlines(keepends=True) for text in (base, changed, current))
    place = _places(old, now)
    steps = []
    for tag, start, end, new_start, new_end in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if tag == "equal":
            continue
        found = _span(place, start, end, len(old), len(now))
        if found is None:
            return False, current
        steps.append((*found, new[new_start:new_end]))
    for first, last, lines in reversed(steps):
        now[first:last] = lines
    return True, "".join(now)


def _places(old: list[str], now: list[str]) -> dict[int, int]:
    """Where each unchanged line of the old text stands now."""
    place = {}
    for block in SequenceMatcher(None, old, now, autojunk=False).get_matching_blocks():
        for step in range(block.size):
            place[block.a + step] = block.b + step
    return place


def _span(
    place: dict[int, int], start: int, end: int, old_size: int, now_size: int
) -> tuple[int, int] | None:
    """The lines that stand now for a stretch of the old text, if they are still together."""
    if start < end:
        where = [place.get(number) for number in range(start, end)]
        first = where[0]
        if first is None or where != list(range(first, first + end - start)):
            return None
        return first, first + end - start
    if start and start - 1 in place:
        return place[start - 1] + 1, place[start - 1] + 1
    if start < old_size and start in place:
        return place[start], place[start]
    return (now_size, now_size) if not old_size else None
