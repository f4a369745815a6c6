"""What a reviewing model reads of a session: all of it, or the part that fits, and which.

A session over the budget is cut to its weightiest turns (evidence), its end (tail) or both ends. Or
a model reads all of it first, piece by piece (rlm), and the reviewer gets what that one says and
the very lines it names: it must cite them, so it must see them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from agentlearn.events import Usage
from agentlearn.guard.secrets import redact
from agentlearn.render import Keep, render_session, was_truncated
from agentlearn.rewards.rules import load_rules
from agentlearn.rewards.worth import score_session
from agentlearn.rlm.explore import Distilled
from agentlearn.rlm.pages import Pages
from agentlearn.sessions.turns import Turn
from agentlearn.sessions.values import Session
from agentlearn.store.values import Read

QUESTION = (
    "What did the person correct, reject, decide or ask to remember, and which commands failed "
    "until they were changed? Name the lines of each; later words overrule earlier ones."
)
MOST_SUMMARY = 4
"""A quarter of the budget, at most, is what the explorer says."""

Explore = Callable[[list[Pages], str], Distilled]


class Reading(Struct, frozen=True):
    text: str
    way: str
    """whole, evidence, tail, ends or rlm."""
    chars: int
    """So much of it was read, by the reviewer or by who read for it."""
    of_chars: int
    """So much there is."""
    usage: Usage = Usage()
    """What the exploration cost, which is no part of the review's own."""
    subcalls: int = 0

    @property
    def share(self) -> float:
        return min(1.0, self.chars / self.of_chars) if self.of_chars else 1.0


def read_for_review(session: Session, max_chars: int, way: str, explore: Explore | None) -> Reading:
    """The transcript for a reviewer, every entry with its line number."""
    size = sum(len(entry.packed) for entry in session.entries)
    if way in ("tail", "ends"):
        keep: Keep = "tail" if way == "tail" else "ends"
        text = render_session(session, max_chars, keep, lines=True)
        return _reading(text, way, size)
    scored = score_session(session, load_rules(None), 1.0)
    weights = [sum(abs(drawn.value) for drawn in each) for each in scored.drawn]
    text = _weighed(session, max_chars, scored.turns, weights)
    if way != "rlm" or explore is None or not was_truncated(text):
        return _reading(text, "evidence", size)
    return _explored(session, max_chars, explore, scored.turns, weights, size)


def read_of(reading: Reading) -> Read:
    """What the journal keeps of it."""
    return Read(
        way=reading.way,
        chars=reading.chars,
        of_chars=reading.of_chars,
        input_tokens=reading.usage.input_tokens,
        output_tokens=reading.usage.output_tokens,
        subcalls=reading.subcalls,
    )


def _explored(
    session: Session,
    max_chars: int,
    explore: Explore,
    turns: list[Turn],
    weights: list[float],
    size: int,
) -> Reading:
    found = explore([Pages(session)], QUESTION)
    if found.completion.outcome == "aborted":
        raise KeyboardInterrupt
    if found.error is not None:
        raise found.error
    named = [(place.start, place.end) for place in found.cited.citations]
    summary = redact(found.answer)[: max_chars // MOST_SUMMARY].rstrip()
    done = found.completion
    how = "" if done.outcome == "converged" else ", and did not come to an end"
    head = (
        f"(What a model says that looked into all of it{how}; cite the lines below, not this.)\n"
        f"{summary}\n"
    )
    text = head + _weighed(session, max_chars - len(head), turns, weights, named)
    read = min(max(len(text), found.read_chars), size)
    return Reading(text, "rlm", read, size, done.usage, done.subcalls)


def _weighed(
    session: Session,
    max_chars: int,
    turns: list[Turn],
    weights: list[float],
    named: Sequence[tuple[int, int]] = (),
) -> str:
    return render_session(
        session, max_chars, "evidence", lines=True, turns=turns, weights=weights, named=named
    )


def _reading(text: str, way: str, size: int) -> Reading:
    if not was_truncated(text):
        return Reading(text, "whole", size, size)
    return Reading(text, way, min(len(text), size), size)
