"""What runs came to, added up from their completions: outcomes, tokens, time, fallbacks.

A run counts once, by its trace id, however many logs tell of it. Its fallbacks count where it does.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import msgspec
from msgspec import Struct

from agentlearn.events.read import Kept
from agentlearn.events.values import Completion, SubcallFallback, Usage

By = Literal["model", "command", "day"]
OUTCOMES = ("converged", "exhausted", "failed", "aborted")


def _no_outcomes() -> dict[str, int]:
    return dict.fromkeys(OUTCOMES, 0)


class Total(Struct):
    runs: int = 0
    outcomes: dict[str, int] = msgspec.field(default_factory=_no_outcomes)
    usage: Usage = Usage()
    elapsed_ms: int = 0
    fallbacks: int = 0
    """Times that a cheaper model was configured and could not be used."""

    def add(self, ended: Completion) -> None:
        self.runs += 1
        self.outcomes[ended.outcome] += 1
        self.usage += ended.usage
        self.elapsed_ms += ended.elapsed_ms


class Totals:
    """Adds up events one by one; fallbacks are counted in `finish`, when every ending is known."""

    def __init__(self, by: By, since: datetime | None = None) -> None:
        self.by = by
        self.since = since
        self.all = Total()
        self.groups: dict[str | None, Total] = {}
        self.unfinished = 0
        """Fallbacks of runs that have not ended, or were killed."""
        self._group_of: dict[str, Total | None] = {}
        """By trace id; None for a run that ended before `since`."""
        self._fallbacks: dict[str, set[SubcallFallback]] = {}

    def add(self, kept: Kept) -> None:
        event = kept.event
        if isinstance(event, SubcallFallback):
            # Two logs tell of one at two times: it is known by what it says.
            if event.configured is not None:  # who names none wants none
                self._fallbacks.setdefault(event.trace_id, set()).add(event)
        elif isinstance(event, Completion) and event.trace_id not in self._group_of:
            self._group_of[event.trace_id] = self._count(kept.at, event)

    def _count(self, at: datetime, ended: Completion) -> Total | None:
        if self.since is not None and at < self.since:
            return None
        group = self.groups.setdefault(self._key(at, ended), Total())
        for total in (group, self.all):
            total.add(ended)
        return group

    def _key(self, at: datetime, ended: Completion) -> str | None:
        if self.by == "day":
            return f"{at:%Y-%m-%d}"
        return ended.root_model if self.by == "model" else ended.command

    def finish(self) -> None:
        for trace_id, fallbacks in self._fallbacks.items():
            if trace_id not in self._group_of:
                self.unfinished += len(fallbacks)
            elif (group := self._group_of[trace_id]) is not None:
                group.fallbacks += len(fallbacks)
                self.all.fallbacks += len(fallbacks)
        self._fallbacks.clear()

    def in_order(self) -> list[tuple[str | None, Total]]:
        """Days as they came; else what took the most tokens first, then what ran the most."""
        if self.by == "day":
            return sorted(self.groups.items(), key=lambda item: item[0] or "")
        return sorted(
            self.groups.items(),
            key=lambda item: (-item[1].usage.total, -item[1].runs, item[0] or ""),
        )
