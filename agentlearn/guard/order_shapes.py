"""The shapes of planted orders, read from tables that people can read too.

A shape is a head and a pattern. The head is `== kind: needle, needle`: without one of the needles
the pattern is not tried, which is what keeps sixty of them quick. `(denied)` after the kind says
that it is harmless in a sentence that forbids it: "never use --no-verify". The lines of a pattern
are put together as they stand; a space is any white space, and `{NAME}` a part that several share.
"""

from __future__ import annotations

import re
from functools import cached_property

HEAD = re.compile(r"== (?P<kind>[a-z-]+)(?P<denied> \(denied\))?: (?P<needles>.+(?:\n== .+)*)\n")
PART = re.compile(r"\{([A-Z]+)\}")


class Shape:
    def __init__(self, head: re.Match[str], source: str) -> None:
        self.kind = head["kind"]
        self.may_be_denied = head["denied"] is not None
        self.needles = tuple(re.split(r", |,?\n== ", head["needles"]))
        self.source = source

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.source, re.MULTILINE)


def shapes(table: str, parts: dict[str, str]) -> list[Shape]:
    """The shapes of a table, in order."""
    found: list[Shape] = []
    for block in table.strip().split("\n\n"):
        head = HEAD.match(block)
        assert head, f"not the head of a shape: {block}"
        source = block[head.end() :].replace("\n", "")
        while PART.search(source):
            source = PART.sub(lambda part: f"(?:{parts[part[1]]})", source)
        found.append(Shape(head, source.replace(" ?", r"\s*").replace(" ", r"\s+")))
    return found
