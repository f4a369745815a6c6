"""An answer without a model: what sessions show themselves, each with its lines.

Verdicts; what the person rejected, stopped, undid or corrected; commands that failed, and the
variant that worked; then the rest of the person's words. What weighs most goes in first, and what
is told stands in the order of the session. The question is not understood, so it is not pretended
to be: the answer is the same for every one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct

from agentlearn.guard import one_line
from agentlearn.guard.shown import harmless
from agentlearn.rewards.rules import compiled_rules, load_rules
from agentlearn.rewards.worth import Scored, score_session
from agentlearn.rlm.citations import Citation
from agentlearn.rlm.fixes import fixes
from agentlearn.rlm.pages import id_of
from agentlearn.rlm.telling import Recurring, how_telling
from agentlearn.sessions.turns import Turn
from agentlearn.sessions.values import Message, Session, Signal

NEAR_LINES = 40
"""A failure and its remedy that stand further apart are named as two places."""
WIDTHS = ((600, 600), (300, 200), (160, 90))
"""How many characters of what weighs much, and of what weighs little; the least if all else is
too much."""
ID_CHARS = 13
CALL_CHARS = 60
FIX_CHARS = 320
"""Its parts are short already."""
VERDICT, REJECTED, UNDONE, FIXED, STOPPED, EDITED, MENDED = 10.0, 9.0, 8.0, 7.0, 5.0, 4.0, 1.0
BY_AN_AGENT = 2.0
REASON = re.compile(r"(?:the )?user said:|\breason:", re.IGNORECASE)
SAID_BY_THE_PROGRAM = re.compile(r"\s*The user (?:wants to clarify|doesn't want|did not answer)")
SIGNALS = {
    "interruption": (STOPPED, "the person stopped the agent"),
    "rollback": (UNDONE, "the person took back what was done"),
    "edited": (EDITED, "the person changed an edit before accepting it"),
}
Span = tuple[int, int]


class Shown(Struct, frozen=True):
    """One thing that a session shows; a verdict from another file has no lines in it."""

    weight: float
    spans: tuple[Span, ...]
    what: str
    text: str


class Evidence(Struct, frozen=True):
    text: str
    citations: tuple[Citation, ...]
    left_out: int


class Told(NamedTuple):
    """A thing, and which of the sessions shows it."""

    session: int
    shown: Shown
    places: tuple[Citation, ...]


def answer_by_evidence(sessions: Sequence[Session], max_chars: int) -> Evidence:
    """What sessions show, within so many characters; no session has a share that others lack."""
    names = _short_names([id_of(session) for session in sessions])
    found = [
        Told(number, shown, tuple(_places(session, shown)))
        for number, session in enumerate(sessions)
        for shown in shown_in(session)
    ]
    lines: list[tuple[Told, str]] = []
    for much, little in WIDTHS:
        lines = [(told, _line(told, names[told.session], much, little)) for told in found]
        if sum(len(line) + 1 for _, line in lines) <= max_chars:
            break
    chosen = _within(lines, max_chars)
    citations = dict.fromkeys(place for told, _ in chosen for place in told.places)
    text = "\n".join(line for _, line in chosen)
    return Evidence(text, tuple(citations), len(found) - len(chosen))


def _short_names(ids: list[str]) -> list[str]:
    """The beginnings of ids, where they tell one from another."""
    short = [id[:ID_CHARS] for id in ids]
    return short if len(set(short)) == len(set(ids)) else ids


def _places(session: Session, shown: Shown) -> Iterator[Citation]:
    for start, end in shown.spans:
        yield Citation(id_of(session), start, end, session.unit)


def _within(lines: list[tuple[Told, str]], budget: int) -> list[tuple[Told, str]]:
    """The weightiest that fit, in the order of the sessions."""
    chosen = []
    room = budget
    for told, line in sorted(lines, key=lambda pair: (-pair[0].shown.weight, *_order(pair[0]))):
        if len(line) + 1 <= room:
            chosen.append((told, line))
            room -= len(line) + 1
    return sorted(chosen, key=lambda pair: _order(pair[0]))


def _order(told: Told) -> tuple[int, tuple[Span, ...]]:
    return told.session, told.shown.spans


def _line(told: Told, name: str, much: int, little: int) -> str:
    shown = told.shown
    width = little if shown.weight < STOPPED and shown.what != "fixed" else much
    text = one_line(harmless(shown.text), max(width, FIX_CHARS) if shown.what == "fixed" else width)
    end = "”" if text.count("“") > text.count("”") else ""  # a quotation that was cut off
    where = ", ".join(place.named(name) for place in told.places) or "from beside the transcript"
    return f"- {shown.what}: {text}{end} ({where})"


def shown_in(session: Session) -> Iterator[Shown]:
    """All that speaks for something, in no order."""
    rules = load_rules(None)
    scored = score_session(session, rules, 1.0)
    yield from _verdicts(session)
    yield from _rejections(scored)
    for fix in fixes(scored.turns, compiled_rules(rules)):
        failed, worked = fix
        spans: tuple[Span, ...] = ((failed.start, worked.end),)
        if worked.end - failed.start > NEAR_LINES:
            spans = ((failed.start, failed.end), (worked.start, worked.end))
        yield Shown(FIXED if fix.is_another_command else MENDED, spans, "fixed", str(fix))
    yield from _words(session, scored)


def _verdicts(session: Session) -> Iterator[Shown]:
    for entry in session.entries:
        if type(entry) is Signal and entry.kind == "verdict":
            score = "" if entry.value is None else f"{entry.value:g} "
            spans = ((entry.line, entry.line),) if entry.line else ()
            yield Shown(VERDICT, spans, "verdict", score + entry.text)


def _rejections(scored: Scored) -> Iterator[Shown]:
    signals = [entry for entry in scored.session.entries if type(entry) is Signal]
    said = {one.call_id: one.text for one in signals if one.kind == "rejection"}
    for turn in scored.turns:
        if turn.call is None or turn.result is None or turn.result.status != "rejected":
            continue
        why = harmless(reason_of(turn, said.get(turn.call.id)))
        what = one_line(harmless(turn.call.text), CALL_CHARS if why else 2 * CALL_CHARS)
        told = f"“{one_line(why, 300)}”, to {what}" if why else what
        spans = ((turn.call.line, turn.result.line),)
        yield Shown(REJECTED if why else STOPPED, spans, "rejected", told)
    for signal in signals:
        if signal.kind in SIGNALS:
            weight, otherwise = SIGNALS[signal.kind]
            text = signal.text.strip() or otherwise
            yield Shown(weight, ((signal.line, signal.line),), signal.kind, text)


def reason_of(turn: Turn, said: str | None) -> str:
    """What the person typed into a rejection, without what the agent's program says around it."""
    text = said or ""
    if not text.strip() and turn.result is not None:
        after = REASON.split(turn.result.text, maxsplit=1)
        text = after[1] if len(after) > 1 else ""
    return "" if SAID_BY_THE_PROGRAM.match(text) else text.strip()


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
        elif entry.role == "user" and entry.text.strip():
            weight = how_telling(entry.text, acted) + 0.5 * (entry.line in judged)
            weight += before.comes_back(entry.text)
            what = "asked" if is_first else "said"
            yield Shown(weight, ((entry.line, entry.line),), what, f"“{entry.text.strip()}”")
            is_first = acted = False
    if is_first and session.goal and session.entries:  # nobody spoke: another agent asked
        line = session.entries[0].line
        yield Shown(BY_AN_AGENT, ((line, line),), "asked", f"“{session.goal.strip()}”")
