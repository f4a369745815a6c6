"""What the rules found in a session, before it goes through the tools."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from agentlearn.review.command_lines import Topic

VALUE = re.compile(r"=[^\s`]+")


class Lesson(Struct, frozen=True):
    text: str
    spans: tuple[tuple[int, int], ...]
    topic: Topic | None = None
    """A pitfall of the skill for this class of work; None: a note for the memory."""
    target: Literal["MEMORY", "USER"] = "MEMORY"
    strength: int = 0


def same_pitfall(one: str, other: str) -> bool:
    """The same command and the same remedy: values, paths and the error's own words may differ."""
    return _gist(one) == _gist(other)


def _gist(text: str) -> tuple[str, str]:
    command, _, rest = VALUE.sub("=", text).partition("“")
    error, _, remedy = rest.rpartition("”")
    # Where neither a rule nor a command that helps is named, the error tells two apart.
    names_enough = "`" in remedy or " by the rule " in command
    return command, remedy if names_enough else error
