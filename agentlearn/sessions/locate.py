"""Where in a JSON text a value stands: decoders tell what is there, and never at which line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

SPACE = re.compile(r"[ \t\r\n]*")
_VALUES = json.JSONDecoder(strict=False)


def lines_within(data: bytes, keys: Sequence[str | int]) -> tuple[int, int] | None:
    """The lines from the key of a value, if it has one, to its end; None if it is not found."""
    text = data.decode("utf-8-sig", "replace")
    try:
        start = at = _after_space(text, 0)
        end = len(text)
        for key in keys:
            # Of two with the same name the last counts, as it does for a decoder.
            named = [found for name, *found in _members(text, at) if name == key]
            start, at, end = named[-1]
    except (IndexError, ValueError, RecursionError):
        return None
    return text.count("\n", 0, start) + 1, text.count("\n", 0, end) + 1


def _members(text: str, at: int) -> Iterator[tuple[str | int, int, int, int]]:
    """The name or number of each, where it begins, where its value begins, and where that ends."""
    has_names = text[at] == "{"
    number = 0
    position = _after_space(text, at + 1)
    while text[position] not in "}]":
        start, name = position, number
        if has_names:
            name, position = _VALUES.raw_decode(text, position)
            position = _after_space(text, _after_space(text, position) + 1)
        value_at = position
        _, position = _VALUES.raw_decode(text, position)
        yield name, start, value_at, position
        number += 1
        position = _after_space(text, position)
        if text[position] == ",":
            position = _after_space(text, position + 1)


def _after_space(text: str, position: int) -> int:
    found = SPACE.match(text, position)
    return found.end() if found else position
