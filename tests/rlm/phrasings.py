"""What is planted into long sessions, as `phrasings.yaml` and `phrasings_unseen.yaml` tell it.

Of each kind fifteen needles stand in a file, and at least twenty look-alikes: what has the same
sort of words, or the same shape, and is none. The second file is for measuring only: whoever writes
rules that find needles reads the first.

In look-alikes `{file}`, `{name}` and `{number}` stand for what differs from one use to the next.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, get_args

import msgspec
import yaml
from msgspec import Struct

Kind = Literal["correction", "fix", "rejection", "reversal"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Of = TypeVar("Of")
HERE = Path(__file__).parent


class Correction(Struct, frozen=True, forbid_unknown_fields=True):
    """The person corrects an edit that was just made."""

    file: str
    new: str
    say: str


class Fix(Struct, frozen=True, forbid_unknown_fields=True):
    """A command fails, and a changed variant of it works."""

    command: str
    error: str
    changed: str
    works: str
    output: str
    exit: int = 1


class Rejection(Struct, frozen=True, forbid_unknown_fields=True):
    """The person rejects a command, or an edit, with a reason."""

    say: str
    command: str = ""
    file: str = ""
    new: str = ""


class Reversal(Struct, frozen=True, forbid_unknown_fields=True):
    """What the person decides, and what they decide later."""

    first: str
    then: str


class Run(Struct, frozen=True, forbid_unknown_fields=True):
    command: str
    output: str
    exit: int = 0


class LookAlike(Struct, frozen=True, forbid_unknown_fields=True):
    """One of: what the person said, what the agent said, one or more commands, a tool's error."""

    said: str = ""
    agent: str = ""
    runs: tuple[Run, ...] = ()
    tool: str = ""
    error: str = ""

    @property
    def phrase(self) -> str:
        """What tells where it stands."""
        return self.said or self.agent or self.error or self.runs[0].command

    def filled(self, **words: str) -> LookAlike:
        text = msgspec.json.encode(self).decode()
        for name, word in words.items():
            text = text.replace("{" + name + "}", word)
        return msgspec.json.decode(text, type=LookAlike)


class Group(Struct, Generic[Of], frozen=True, forbid_unknown_fields=True):
    needles: tuple[Of, ...]
    look_alikes: tuple[LookAlike, ...]


class Phrasings(Struct, frozen=True, forbid_unknown_fields=True):
    correction: Group[Correction]
    fix: Group[Fix]
    rejection: Group[Rejection]
    reversal: Group[Reversal]


@cache
def load_phrasings(unseen: bool) -> Phrasings:
    path = HERE / ("phrasings_unseen.yaml" if unseen else "phrasings.yaml")
    read: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    return msgspec.convert(read, Phrasings)
