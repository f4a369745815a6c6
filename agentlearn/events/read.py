"""Events read back from the lines of a log.

A line that is no event (garbage, another version's, cut off) is counted and passed over. What is
read passes through the same types as what is written: a log that somebody else wrote cannot bring
text into an event either.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from typing import Annotated, Any, get_args

import msgspec
from msgspec import Meta, Struct

from agentlearn.events.values import Event

KINDS: tuple[str, ...] = tuple(kind.__struct_config__.tag for kind in get_args(Event))
MOST_NUMBERS = 5


class Kept(Struct, frozen=True):
    """An event, and when it was."""

    at: datetime
    event: Event

    @property
    def kind(self) -> str:
        return kind_of(self.event)

    def line(self) -> str:
        return self.event.line(self.at)


def kind_of(event: Event) -> str:
    return str(event.__struct_config__.tag)


class _Head(Struct):
    """Enough to pass over what is not wanted."""

    type: str
    at: Annotated[datetime, Meta(tz=True)]


_head: msgspec.json.Decoder[_Head] = msgspec.json.Decoder(_Head)
_event: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Event)


class EventReader:
    """Picks the wanted events out of lines, and counts the lines that are none."""

    def __init__(
        self,
        kinds: Collection[str] = KINDS,
        trace: str = "",
        since: datetime | None = None,
    ) -> None:
        self.kinds = frozenset(kinds)
        self.trace = trace
        """What the trace id begins with."""
        self.since = since
        self.lines = 0
        self.foreign = 0
        self.numbers: list[int] = []
        """The first few lines that are no events."""

    def read(self, lines: Iterable[bytes]) -> Iterator[Kept]:
        for line in lines:
            self.lines += 1
            if not line.strip():
                continue
            try:
                kept = self._wanted(line)
            except (
                ValueError,
                RecursionError,
                OverflowError,
            ):  # of these msgspec's are ValueErrors
                self._count()
                continue
            if kept is not None:
                yield kept

    def _wanted(self, line: bytes) -> Kept | None:
        head = _head.decode(line)
        if head.type not in KINDS:
            raise ValueError(head.type)
        if head.type not in self.kinds or (self.since is not None and head.at < self.since):
            return None
        event = _event.decode(line)
        if not event.trace_id.startswith(self.trace):
            return None
        return Kept(head.at.astimezone(UTC), event)

    def _count(self) -> None:
        self.foreign += 1
        if len(self.numbers) < MOST_NUMBERS:
            self.numbers.append(self.lines)
