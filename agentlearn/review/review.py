"""The review of a session: the gate, one of two reviewers, and what came of it."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable

from msgspec import Struct, structs

from agentlearn.errors import AgentlearnError
from agentlearn.events import (
    ChangeMade,
    Completion,
    Emit,
    Progress,
    ReviewStarted,
    SessionSkipped,
    new_trace_id,
)
from agentlearn.guard.secrets import redact
from agentlearn.knowledge.tools import KnowledgeTools
from agentlearn.models.model import CHARS_PER_TOKEN, Model, ModelFailed, Usage
from agentlearn.review.by_model import (
    Ended,
    Limits,
    NotDone,
    first_messages,
    review_by_model,
)
from agentlearn.review.by_rules import review_by_rules
from agentlearn.review.gate import Gate, Sort, fingerprint, look_at
from agentlearn.review.reading import Explore, Reading, read_for_review, read_of
from agentlearn.review.tools import Attempt, Tools
from agentlearn.sessions.redacted import redacted
from agentlearn.sessions.values import Session
from agentlearn.store.memory import Target
from agentlearn.store.shelf import Desk
from agentlearn.store.store import now
from agentlearn.store.values import Reviewed

KEPT = (None, "max_iterations", "max_tokens")
"""A review that ended so, and did not fail, need not be made again."""


class Plan(Struct, frozen=True):
    """How sessions are reviewed in one run."""

    nudge_interval: int
    force: bool
    max_chars: int
    long: str
    """What a model reads of a session over that: evidence, tail, ends or rlm."""
    limits: Limits
    budgets: dict[Target, int]
    prompt: str
    """What a model is told; not used by the rules."""
    knowledge: KnowledgeTools | None = None
    """What a model may ask, where there is a base."""
    explore: Explore | None = None
    """Reads what is too long piece by piece, for rlm."""


class Report(Struct, frozen=True):
    """What became of one session."""

    session: Session
    gate: Gate
    reviewer: str
    model: str | None
    ended: Ended | None = None
    """None if the gate kept it from being reviewed."""
    attempts: tuple[Attempt, ...] = ()
    elapsed_ms: int = 0
    reading: Reading | None = None
    """What a model read of it; the rules read all."""

    @property
    def outcome(self) -> str:
        return "skipped" if self.ended is None else self.ended.outcome


def _judged(ended: Ended, attempts: list[Attempt]) -> Ended:
    """A review of which the store could take nothing has not happened, whoever says it has."""
    blocked = [attempt.blocked for attempt in attempts if attempt.blocked is not None]
    made = any(attempt.change is not None for attempt in attempts)
    if ended.error is not None or ended.outcome == "aborted" or made or not blocked:
        return ended
    error = NotDone(blocked[0].message, blocked[0].hint)
    return structs.replace(ended, outcome="failed", reason="store", error=error)


class Reviewing:
    """Reviews sessions one after another, into one desk."""

    def __init__(self, desk: Desk, plan: Plan, model: Model | None, emit: Emit) -> None:
        self.desk = desk
        self.plan = plan
        self.model = model
        self.emit = emit
        self.reading: Reading | None = None
        name = None if model is None else model.name
        prompt = None
        if model is not None:
            prompt = hashlib.sha256(plan.prompt.encode()).hexdigest()
        self.sort = Sort("rules" if model is None else "model", name, prompt)

    def review(self, session: Session, made: Callable[[Attempt], None]) -> Report:
        """Review a session if the gate lets it pass; `made` hears of each change at once."""
        trace_id = new_trace_id()
        gate = look_at(
            structs.replace(session, id=redact(session.id)),
            self.plan.nudge_interval,
            self.desk.look().state.reviews,
            self.sort,
            self.plan.force,
        )
        if not gate.passed:
            self.emit(SessionSkipped(trace_id, session.id, "gate"))
            return Report(session, gate, self.sort.reviewer, self.sort.model)
        self.emit(ReviewStarted(trace_id, session.id, self.sort.reviewer, self.sort.model))

        def watch(attempt: Attempt) -> None:
            change = attempt.change
            self.emit(
                ChangeMade(
                    trace_id,
                    change.id if change else None,
                    attempt.kind,
                    attempt.action,
                    attempt.status,
                )
            )
            made(attempt)

        began = time.monotonic()
        self.reading = None
        clean = redacted(session)
        tools = Tools(
            self.desk,
            clean,
            self.sort.reviewer,
            self.sort.model,
            self.plan.budgets,
            watch,
            self.plan.knowledge,
        )
        ended = Ended("aborted", 0, Usage(), "interrupted")
        try:
            ended = _judged(self._ask(clean, tools, trace_id), tools.attempts)
            is_whole = ended.error is None and ended.reason in KEPT
            # The rules cost nothing: what there was no room for comes again when there is. A model
            # was told, and could have made room.
            comes_again = self.model is None and any(each.blocked for each in tools.attempts)
            if self.desk.mode != "dry-run" and is_whole and not comes_again:
                self._remember(clean, fingerprint(session), ended, tools)
        except AgentlearnError as error:
            ended = Ended("failed", ended.iterations, ended.usage, "store", error)
        finally:
            elapsed_ms = int((time.monotonic() - began) * 1000)
            self.emit(self._completion(trace_id, session, ended, tools, elapsed_ms))
        return Report(
            session,
            gate,
            self.sort.reviewer,
            self.sort.model,
            ended,
            tuple(tools.attempts),
            elapsed_ms,
            self.reading,
        )

    def _ask(self, clean: Session, tools: Tools, trace_id: str) -> Ended:
        if self.model is None:
            self.emit(Progress(trace_id, 1, 1, "reviewing"))
            try:
                review_by_rules(clean, tools)
            except KeyboardInterrupt:
                return Ended("aborted", 1, Usage(), "interrupted")
            return Ended("converged", 1, Usage())
        plan = self.plan
        try:
            self.reading = read_for_review(clean, plan.max_chars, plan.long, plan.explore)
        except KeyboardInterrupt:
            return Ended("aborted", 0, Usage(), "interrupted")
        except ModelFailed as error:
            return Ended("failed", 0, Usage(), "model", error)
        messages = first_messages(plan.prompt, self.reading.text, clean, self.desk.look())
        return review_by_model(self.model, messages, tools, plan.limits, self.emit, trace_id)

    def _completion(
        self, trace_id: str, session: Session, ended: Ended, tools: Tools, elapsed_ms: int
    ) -> Completion:
        written = sum(len(item.text) for item in tools.attempts if item.change is not None)
        read = sum(len(entry.packed) for entry in session.entries)
        return Completion(
            trace_id=trace_id,
            outcome=ended.outcome,
            iterations=ended.iterations,
            subcalls=0,
            input_tokens=read // CHARS_PER_TOKEN,
            output_tokens=written // CHARS_PER_TOKEN,
            elapsed_ms=elapsed_ms,
            reason=ended.reason,
            root_model=self.sort.model,
            usage=ended.usage,
            command="review",
        )

    def _remember(self, session: Session, sha256: str, ended: Ended, tools: Tools) -> None:
        """`sha256`: of the session as it was read, which is what the gate will see again."""
        made = tuple(item.change.id for item in tools.attempts if item.change is not None)
        record = Reviewed(
            at=now(),
            session=session.id,
            sha256=sha256,
            reviewer=self.sort.reviewer,
            model=self.sort.model,
            prompt=self.sort.prompt,
            outcome=ended.outcome,
            changes=made,
            reading=None if self.reading is None else read_of(self.reading),
        )
        with self.desk.store.writing() as pen:
            pen.note(record)
