"""The events themselves. The family is closed: a new step is a new class or a new word, here."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Annotated

import msgspec

from agentlearn.events.safe import Count, Flag, Id, ModelName, RunFile, Safe, Score, one_of

Status = Annotated[
    str,
    one_of(
        *("reading", "searching", "asking", "answering", "reviewing", "writing", "waiting"),
        *("attempting", "evaluating", "reflecting"),
    ),
]
Outcome = Annotated[str, one_of("converged", "exhausted", "aborted", otherwise="failed")]
Reason = Annotated[
    str,
    one_of(
        *("max_iterations", "max_subcalls", "max_tokens", "timeout"),
        *("model", "key", "errors", "loop", "no_answer", "input", "store", "interrupted"),
        *("no_new_idea",),
    ),
]
FallbackReason = Annotated[
    str, one_of("not_configured", "unknown_model", "no_access", "rate_limit", "failed")
]
SkipReason = Annotated[
    str, one_of("gate", "few_calls", "reviewed", "own", "unreadable", "interrupted", "model")
]
Command = Annotated[str, one_of("review", "distill", "reflexion", "batch")]
Reviewer = Annotated[str, one_of("model", "rules")]
ChangeKind = Annotated[str, one_of("skill", "memory", "knowledge")]
ChangeAction = Annotated[
    str,
    one_of(
        *("create", "patch", "edit", "write_file", "remove_file", "delete"),
        *("add", "replace", "remove", "revert"),
    ),
]
ChangeStatus = Annotated[str, one_of("applied", "staged", "dry-run", "refused")]


class Usage(Safe, frozen=True):
    """The tokens that models counted, which is what is paid for."""

    input_tokens: Count = 0
    output_tokens: Count = 0

    @property
    def total(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        )


def _in_snake_case(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class _Event(Safe, frozen=True, tag_field="type", tag=_in_snake_case):
    def line(self, at: datetime | None = None) -> str:
        """The event as it is kept, with the time; what may be left out and is not there is not.

        The time is now, unless it happened before.
        """
        values = msgspec.to_builtins(self)
        for name in _may_be_left_out(type(self)):
            if values[name] is None:
                del values[name]
        moment = (at or datetime.now(UTC)).isoformat(timespec="milliseconds")
        head = {"type": values.pop("type"), "at": moment.replace("+00:00", "Z")}
        return msgspec.json.encode({**head, **values}).decode()


@cache
def _may_be_left_out(kind: type[_Event]) -> tuple[str, ...]:
    return tuple(field.name for field in msgspec.structs.fields(kind) if not field.required)


class Progress(_Event, frozen=True):
    trace_id: Id
    iteration: Count
    """From 1."""
    max_iterations: Count
    status: Status
    tokens: Count | None = None
    """What models counted so far in this run, where it is known."""

    @property
    def fraction(self) -> float:
        return min(1.0, self.iteration / self.max_iterations) if self.max_iterations else 0.0


class Completion(_Event, frozen=True):
    """How a run ended: exactly one a run, also after an error or Ctrl-C."""

    trace_id: Id
    outcome: Outcome
    iterations: Count
    subcalls: Count
    """Calls to sub-models, not turns."""
    input_tokens: Count
    """What was read: the session."""
    output_tokens: Count
    """What came of it: the answer. What the run cost is `usage`."""
    elapsed_ms: Count
    reason: Reason | None = None
    """Why the run did not converge."""
    root_model: ModelName | None = None
    """None if no model was asked."""
    subcall_model_used: ModelName | None = None
    """None if it was the root model."""
    usage: Usage = Usage()
    command: Command | None = None

    def __post_init__(self) -> None:
        one_model = self.subcall_model_used == self.root_model
        super().__post_init__()
        converged = self.outcome == "converged"
        msgspec.structs.force_setattr(self, "reason", None if converged else self.reason or "other")
        if one_model:
            msgspec.structs.force_setattr(self, "subcall_model_used", None)

    @property
    def compression_ratio(self) -> float:
        return self.output_tokens / self.input_tokens if self.input_tokens else 0.0


class SubcallFallback(_Event, frozen=True):
    """The cheaper model could not be used: a matter of cost, so it is kept and shown."""

    trace_id: Id
    configured: ModelName | None
    """None if none was."""
    using: ModelName
    reason: FallbackReason


class ReviewStarted(_Event, frozen=True):
    trace_id: Id
    session: Id
    reviewer: Reviewer
    model: ModelName | None = None


class SessionSkipped(_Event, frozen=True):
    trace_id: Id
    session: Id
    reason: SkipReason


class ChangeMade(_Event, frozen=True):
    """A change to the store, or one that was refused and has no id."""

    trace_id: Id
    change: Id | None
    kind: ChangeKind
    action: ChangeAction
    status: ChangeStatus


class EpisodeStarted(_Event, frozen=True):
    trace_id: Id
    run: Id
    episode: Count
    """From 0."""
    max_episodes: Count


class EpisodeJudged(_Event, frozen=True):
    trace_id: Id
    run: Id
    episode: Count
    passed: Flag
    score: Score | None
    tampered: Flag
    elapsed_ms: Count
    tokens: Count = 0


class ReflectionGenerated(_Event, frozen=True):
    """Only where there is a reflection."""

    trace_id: Id
    run: Id
    episode: Count
    file: RunFile


Event = (
    Progress
    | Completion
    | SubcallFallback
    | ReviewStarted
    | SessionSkipped
    | ChangeMade
    | EpisodeStarted
    | EpisodeJudged
    | ReflectionGenerated
)
Emit = Callable[[Event], None]
