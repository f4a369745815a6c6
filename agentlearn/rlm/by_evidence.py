"""An answer without a model: what the session itself shows, each with its lines.

Verdicts; what the person rejected, stopped, undid or corrected; commands that failed, and the
variant that worked; then the rest of the person's words. What weighs most is told first to go in,
and what is told stands in the order of the session. The question is not understood, so it is not
pretended to be: the answer is the same for every one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from msgspec import Struct

from agentlearn.guard import one_line
from agentlearn.guard.secrets import redact
from agentlearn.rewards.patterns import Patterns
from agentlearn.rewards.rules import compiled_rules, load_rules
from agentlearn.rewards.worth import Scored, score_session
from agentlearn.rlm.citations import Citation
from agentlearn.rlm.telling import Recurring, how_telling
from agentlearn.rlm.variants import Command, likeness
from agentlearn.sessions.values import Message, Result, Session, Signal

NEAR_TURNS = 40
WRITES_TEXT = re.compile(r"<<|\*\*\* Begin Patch")
"""Most of such a command is a file's text, which is like every other version of it."""
NEAR_LINES = 40
"""A failure and its remedy that stand further apart are named as two places."""
SAID_CHARS, LIGHT_CHARS = 160, 90
"""What weighs little is told in fewer words."""
ID_CHARS = 13
COMMAND_CHARS = 100
VERDICT, REJECTED, UNDONE, FIXED, STOPPED, EDITED, MENDED = 10.0, 9.0, 8.0, 7.0, 5.0, 4.0, 1.0


class Shown(Struct, frozen=True):
    """One thing that a session shows; a verdict from another file has no line in it."""

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
    names = _short_names([redact(session.id) for session in sessions])
    texts: list[str] = []
    citations: list[Citation] = []
    left_out = 0
    for session, name in zip(sessions, names, strict=True):
        found = list(shown_in(session))
        lines = [(one, _line(one, _place(session, one).named(name))) for one in found]
        told = _within(lines, share)
        left_out += len(found) - len(told)
        citations += [_place(session, one) for one, _ in told if one.start]
        texts += [line for _, line in told]
    return Evidence("\n".join(texts), tuple(dict.fromkeys(citations)), left_out)


def _short_names(ids: list[str]) -> list[str]:
    """The beginnings of ids, where they tell one from another."""
    short = [id[:ID_CHARS] for id in ids]
    return short if len(set(short)) == len(set(ids)) else ids


def _place(session: Session, one: Shown) -> Citation:
    return Citation(redact(session.id), *_span(one), session.unit)


def shown_in(session: Session) -> Iterator[Shown]:
    """All that speaks for something, in no order."""
    rules = load_rules(None)
    scored = score_session(session, rules, 1.0)
    patterns = compiled_rules(rules)
    yield from _verdicts(session)
    yield from _rejections(scored)
    yield from _fixes(list(_runs(scored, patterns)))
    yield from _words(session, scored)


def _verdicts(session: Session) -> Iterator[Shown]:
    for entry in session.entries:
        if type(entry) is Signal and entry.kind == "verdict":
            score = "" if entry.value is None else f"{entry.value:g} "
            yield Shown(VERDICT, entry.line, entry.line, "verdict", score + entry.text)


def _rejections(scored: Scored) -> Iterator[Shown]:
    said = {
        entry.call_id: entry.text.strip()
        for entry in scored.session.entries
        if type(entry) is Signal and entry.kind == "rejection"
    }
    for turn in scored.turns:
        result = turn.result
        if turn.call is None or result is None or result.status != "rejected":
            continue
        why = one_line(redact(said.get(turn.call.id) or _reason(result)), SAID_CHARS)
        what = one_line(redact(turn.call.text), COMMAND_CHARS // 2 if why else COMMAND_CHARS)
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
            return after.strip()
    return ""


class Ran(NamedTuple):
    """A command that was run."""

    command: Command
    failed: bool
    turn: int
    start: int
    end: int


def _runs(scored: Scored, patterns: Patterns) -> Iterator[Ran]:
    for number, turn in enumerate(scored.turns):
        call, result = turn.call, turn.result
        if call is None or result is None or result.status in ("rejected", "interrupted"):
            continue
        command = patterns.command_of(call)
        if command and not WRITES_TEXT.search(command):
            failed = patterns.judge_call(call, result) in ("failed_call", "tests_failed")
            yield Ran(Command(command), failed, number, call.line, result.line)


def _fixes(runs: list[Ran]) -> Iterator[Shown]:
    """A command that failed, and the one like it that worked."""
    told: set[int] = set()
    for number, run in enumerate(runs):
        if not run.failed:
            continue
        worked = _remedy(run, runs[number + 1 : number + 1 + NEAR_TURNS])
        if worked is None or worked.start in told:
            continue
        told.add(worked.start)
        failed, better = redact(run.command.text), redact(worked.command.text)
        if better != failed:
            failed, better = _from_where_they_differ(failed, better)
            text = f"`{failed}` failed; `{better}` worked"
            yield Shown(FIXED, run.start, worked.end, "fixed", text)
        else:
            text = f"`{one_line(failed, COMMAND_CHARS)}` failed, until something was changed"
            yield Shown(MENDED, run.start, worked.end, "fixed", text)


def _from_where_they_differ(one: str, other: str) -> tuple[str, str]:
    """Two long commands that begin alike, each from a word or two before the difference on."""
    one, other = (" ".join(command.split()) for command in (one, other))
    pairs = zip(one, other, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if same > COMMAND_CHARS // 2:
        cut = one.rfind(" ", 0, max(1, one.rfind(" ", 0, same))) + 1
        one, other = f"…{one[cut:]}", f"…{other[cut:]}"
    return one_line(one, COMMAND_CHARS), one_line(other, COMMAND_CHARS)


def _remedy(failed: Ran, later: list[Ran]) -> Ran | None:
    """Of what worked soon after, the command most like the one that failed."""
    near = [
        (likeness(failed.command, other.command), other)
        for other in later
        if not other.failed and other.turn - failed.turn <= NEAR_TURNS
    ]
    alike = [(much, other) for much, other in near if much]
    return max(alike, key=lambda pair: pair[0])[1] if alike else None


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
            what = "asked" if is_first else "said"
            yield Shown(weight, entry.line, entry.line, what, f"“{entry.text}”")
            is_first = acted = False


def _within(found: list[tuple[Shown, str]], budget: int) -> list[tuple[Shown, str]]:
    """The weightiest that fit, in the order of the session."""
    chosen = []
    room = budget
    for one, line in sorted(found, key=lambda pair: (-pair[0].weight, pair[0].start)):
        if len(line) + 1 <= room:
            chosen.append((one, line))
            room -= len(line) + 1
    return sorted(chosen, key=lambda pair: (pair[0].start, pair[0].end))


def _span(one: Shown) -> tuple[int, int]:
    if one.end - one.start <= NEAR_LINES:
        return one.start, one.end
    return one.end, one.end


def _line(one: Shown, place: str) -> str:
    chars = LIGHT_CHARS if one.weight < STOPPED else SAID_CHARS
    if one.what == "fixed":
        chars = 3 * COMMAND_CHARS  # they are short enough already
    text = one_line(redact(one.text), chars)
    end = "”" if text.count("“") > text.count("”") else ""  # a quotation that was cut off
    where = f" ({place})" if one.start else " (from beside the transcript)"
    return f"- {one.what}: {text}{end}{where}"
