"""Whether a session is worth a review: reviews cost money, so code decides first, and says why."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import msgspec
from msgspec import Struct

from agentlearn.review.weighing import REMEMBER
from agentlearn.review.wishes import wishes_of
from agentlearn.rewards.rules import compiled_rules, load_rules
from agentlearn.sessions.values import Message, Session, Signal
from agentlearn.store.values import Reviewed

MARK = "agentlearn-review/1"
"""The first line of what a reviewer is told holds this: its own sessions are never reviewed."""
FIRST_MESSAGES = 4


class Gate(Struct, frozen=True):
    passed: bool
    reason: str
    group: str = ""
    """The reason without what is only true of this session."""


class Sort(Struct, frozen=True):
    """What makes two reviews of a session the same one."""

    reviewer: str
    model: str | None = None
    prompt: str | None = None


def fingerprint(session: Session) -> str:
    """The hash of all that was read of a session."""
    digest = hashlib.sha256()
    for entry in session.entries:
        digest.update(msgspec.json.encode([type(entry).__name__, entry]))
    return digest.hexdigest()


def is_own(session: Session) -> bool:
    """Whether this is a reviewer's own session."""
    first = [entry for entry in session.entries if isinstance(entry, Message)][:FIRST_MESSAGES]
    texts = [session.goal or "", *(message.text for message in first)]
    return any(MARK in text.lstrip()[:200].split("\n")[0] for text in texts)


def look_at(
    session: Session, nudge_interval: int, before: Iterable[Reviewed], sort: Sort, force: bool
) -> Gate:
    """The decision and its reason. `force` overrides all but that it is a reviewer's own."""
    if is_own(session):
        own = "it is a review by agentlearn itself"
        return Gate(False, own, own)
    if force:
        return Gate(True, "forced")
    sha256 = fingerprint(session)
    for review in before:
        same = (review.reviewer, review.model, review.prompt) == (
            sort.reviewer,
            sort.model,
            sort.prompt,
        )
        if same and review.session == session.id and review.sha256 == sha256:
            return Gate(False, f"it was reviewed already, {review.at}", "it was reviewed already")
    calls = session.counts().calls
    if calls >= nudge_interval:
        return Gate(True, f"it made {calls} tool calls")
    if (sign := sign_of_person(session)) is not None:
        return Gate(True, sign)
    few = f"it made only {calls} tool call{'' if calls == 1 else 's'}"
    quiet = f"({nudge_interval} are enough), and nobody corrected or stopped the agent"
    return Gate(False, f"{few} {quiet}", f"it made too few tool calls {quiet}")


def sign_of_person(session: Session) -> str | None:
    """What the person did or said that makes even a short session worth a look."""
    patterns = compiled_rules(load_rules(None))
    answered = False
    for entry in session.entries:
        if isinstance(entry, Signal):
            if entry.kind in ("rejection", "interruption", "rollback", "edited"):
                return f"the person's {entry.kind} in line {entry.line}"
        elif isinstance(entry, Message):
            if entry.role == "user":
                if REMEMBER.search(entry.text):
                    return f"the person asked to remember something in line {entry.line}"
                if answered and patterns.judge_words(entry.text) == "correction":
                    return f"the person corrected the agent in line {entry.line}"
            answered = answered or entry.role == "assistant"
        else:
            answered = True
    if session.counts().rejections:
        return "the person rejected a call"
    wishes = wishes_of(session, patterns)
    if wishes:
        return f"the person said how things are done, in line {wishes[0].spans[-1][0]}"
    return None
