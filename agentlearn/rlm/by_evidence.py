"""An answer without a model: what the session itself shows, each with its lines.

Verdicts; what the person rejected, stopped, undid or corrected; commands that failed, and the
variant that worked; then the rest of the person's words. What weighs most is told first to go in,
and what is told stands in the order of the session. The question is not understood, so it is not
pretended to be: the answer is the same for every one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from agentlearn.guard import one_line
from agentlearn.guard.secrets import redact
from agentlearn.rewards.rules import compiled_rules, load_rules
from agentlearn.rewards.runs import Run, runs_of
from agentlearn.rewards.worth import Scored, score_session
from agentlearn.rlm.citations import Citation
from agentlearn.rlm.telling import Recurring, how_telling
from agentlearn.sessions.values import Message, Result, Session, Signal

NEAR_TURNS = 40
NEAR_LINES = 40
"""A failure and its remedy that stand further apart are named as two places."""
SAID_CHARS = 200
COMMAND_CHARS = 160
VERDICT, REJECTED, UNDONE, FIXED, STOPPED, EDITED, MENDED = 10.0, 9.0, 8.0, 7.0, 5.0, 4.0, 1.0


class Shown(Struct, frozen=True):
    """One thing that a session shows."""

    weight: float
    start: int
    end: int
    what: str
    text: str


class Evidence(Struct, frozen=True):
    text: str
    citations: tuple[Citation, ...]
    left_out: int


def answer_by_evidence(sessions: Sequence[Session], max_chars: int) -> Evidence:
    """What sessions show, within so many characters."""
    share = max_chars // max(1, len(sessions))
    texts: list[str] = []
    citations: list[Citation] = []
    left_out = 0
    for session in sessions:
        found = list(shown_in(session))
        chosen = _within(session, found, share - 1)
        left_out += len(found) - len(chosen)
        places = [Citation(redact(session.id), *_span(one), session.unit) for one in chosen]
        citations += places
        texts += [_line(one, str(place)) for one, place in zip(chosen, places, strict=True)]
    return Evidence("\n".join(texts), tuple(dict.fromkeys(citations)), left_out)


def shown_in(session: Session) -> Iterator[Shown]:
    """All that speaks for something, in no order."""
    rules = load_rules(None)
    scored = score_session(session, rules, 1.0)
    patterns = compiled_rules(rules)
    runs = [
        Ran(run, patterns.command_of(call) or "")
        for run in runs_of(scored.turns, patterns)
        if (call := scored.turns[run.turn].call) is not None
    ]
    yield from _verdicts(session)
    yield from _rejections(scored)
    yield from _fixes(runs)
    yield from _words(session, scored)


def _verdicts(session: Session) -> Iterator[Shown]:
    for entry in session.entries:
        if type(entry) is Signal and entry.kind == "verdict" and entry.line:
            score = "" if entry.value is None else f"{entry.value:g} "
            yield Shown(VERDICT, entry.line, entry.line, "verdict", score + entry.text)


def _rejections(scored: Scored) -> Iterator[Shown]:
    for turn in scored.turns:
        result = turn.result
        if turn.call is None or result is None or result.status != "rejected":
            continue
        why = _reason(result)
        what = one_line(turn.call.text, COMMAND_CHARS)
        told = f"“{why}”, to {what}" if why else what
        yield Shown(REJECTED if why else STOPPED, turn.call.line, result.line, "rejected", told)
    for entry in scored.session.entries:
        if type(entry) is Signal and entry.kind in ("interruption", "rollback", "edited"):
            weight = {"interruption": STOPPED, "rollback": UNDONE, "edited": EDITED}[entry.kind]
            yield Shown(weight, entry.line, entry.line, entry.kind, entry.text)


def _reason(result: Result) -> str:
    """What the person typed, without what the agent's program says around it."""
    text = result.text
    for mark in ("the user said:", "user said:", "reason:"):
        _, found, after = text.partition(mark)
        if found:
            return one_line(after.strip(), SAID_CHARS)
    return ""


class Ran(NamedTuple):
    """A run of a command, and the command as it was typed."""

    run: Run
    command: str


def _fixes(runs: list[Ran]) -> Iterator[Shown]:
    """A command that failed, and the one like it that worked."""
    told: set[int] = set()
    for number, (run, command) in enumerate(runs):
        if not run.failed:
            continue
        later = runs[number + 1 : number + 1 + NEAR_TURNS]
        worked = _remedy(Ran(run, command), later)
        if worked is None or worked.run.call_line in told:
            continue
        told.add(worked.run.call_line)
        text = f"`{one_line(command, COMMAND_CHARS)}` failed"
        is_variant = worked.command != command
        if is_variant:
            text += f"; `{one_line(worked.command, COMMAND_CHARS)}` worked"
        else:
            text += ", until something was changed"
        weight = FIXED if is_variant else MENDED
        yield Shown(weight, run.call_line, worked.run.result_line, "fixed", text)


def _remedy(failed: Ran, later: list[Ran]) -> Ran | None:
    """Of what worked soon after, the command most like the one that failed."""
    near = [
        other
        for other in later
        if other.run.passed
        and other.run.turn - failed.run.turn <= NEAR_TURNS
        and (other.run.core == failed.run.core or failed.command in other.command)
    ]
    words = set(failed.command.split())

    def likeness(other: Ran) -> float:
        others = set(other.command.split())
        return len(words & others) / len(words | others)

    return max(near, key=likeness, default=None)  # the first of those that are alike


def _words(session: Session, scored: Scored) -> Iterator[Shown]:
    judged = {
        drawn.end
        for each in scored.drawn
        for drawn in each
        if drawn.source == "person" and drawn.rule == "correction"
    }
    is_first = True
    acted = False
    before = Recurring()
    for entry in session.entries:
        if type(entry) is not Message:
            acted = True
        elif entry.role == "user":
            weight = how_telling(entry.text, acted) + 0.5 * (entry.line in judged)
            weight += before.comes_back(entry.text)
            what = "asked" if is_first else "corrected" if weight >= STOPPED else "said"
            yield Shown(weight, entry.line, entry.line, what, f"“{entry.text}”")
            is_first = acted = False


def _within(session: Session, found: list[Shown], budget: int) -> list[Shown]:
    """The weightiest that fit, in the order of the session."""
    chosen = []
    room = budget
    for one in sorted(found, key=lambda one: (-one.weight, one.start)):
        cost = len(_line(one, str(Citation(session.id, *_span(one), session.unit)))) + 1
        if cost <= room:
            chosen.append(one)
            room -= cost
    return sorted(chosen, key=lambda one: (one.start, one.end))


def _span(one: Shown) -> tuple[int, int]:
    if one.end - one.start <= NEAR_LINES:
        return one.start, one.end
    return one.end, one.end


def _line(one: Shown, place: str) -> str:
    return f"- {one.what}: {one_line(redact(one.text), SAID_CHARS)} ({place})"
