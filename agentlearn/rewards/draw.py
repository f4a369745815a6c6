"""From a session to the rewards of its turns, each with its source and the lines behind it.

Four sources, strongest first: what a verdict says, what the person did or said, what the tools
said (shaped), and, for native files, what the file states. A session that states rewards is
taken at its word: nothing is drawn from its text on top. A turn has a list of rewards and its
reward is their sum; who needs to know how much is which finds it by source.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Literal

from msgspec import Struct

from agentlearn.rewards.patterns import Patterns
from agentlearn.rewards.rules import Rules, compiled_rules
from agentlearn.sessions.turns import Turn
from agentlearn.sessions.values import Call, Entry, Message, Place, Session, Signal

SourceName = Literal["stated", "verdict", "person", "shaped"]
SOURCES: tuple[SourceName, ...] = ("stated", "verdict", "person", "shaped")


class Drawn(Struct, frozen=True, gc=False):
    """One reward of a turn, and why."""

    value: float
    source: SourceName
    rule: str
    start: int
    """The first line that speaks for it; 0 if none of the transcript does."""
    end: int
    place: Place | None = None
    """What speaks for it in another file."""


class Verdict(Struct, frozen=True, gc=False):
    """What somebody who was not the agent said of the outcome."""

    score: float | None
    outcome: str | None
    said: str
    line: int = 0
    """Where the transcript says it; 0 if it does not."""
    place: Place | None = None
    """Where another file says it; an evaluator says it in none."""


def draw_rewards(
    session: Session, turns: list[Turn], rules: Rules, verdict: Verdict | None
) -> list[list[Drawn]]:
    """The rewards of each turn. Drawn for 0 are only verdicts and what is stated."""
    drawn: list[list[Drawn]] = [[] for _ in turns]
    stated = _draw_stated(turns, drawn)
    if not stated and not rules.stated_only:
        patterns: Patterns = compiled_rules(rules)
        _draw_person(session.entries, turns, rules, patterns, drawn)
        _draw_shaped(session.entries, turns, rules, patterns, drawn)
    if verdict is not None and turns:
        value = verdict.score
        if value is None:
            success = verdict.outcome == "success"
            value = rules.verdict.success if success else rules.verdict.failure
        line = verdict.line
        drawn[-1].append(Drawn(value, "verdict", verdict.said, line, line, verdict.place))
    return drawn


def _draw_stated(turns: list[Turn], drawn: list[list[Drawn]]) -> bool:
    found = False
    for turn, rewards in zip(turns, drawn, strict=True):
        if turn.call is not None and turn.call.reward is not None and not turn.undone:
            found = True
            reward, line = turn.call.reward, turn.call.line
            rewards.append(Drawn(reward.signed, "stated", reward.kind, line, line))
    return found


def _draw_person(
    entries: list[Entry],
    turns: list[Turn],
    rules: Rules,
    patterns: Patterns,
    drawn: list[list[Drawn]],
) -> None:
    person = rules.person
    starts = [turn.at_entry for turn in turns]
    by_call = {turn.call.id: index for index, turn in enumerate(turns) if turn.call is not None}

    def add(index: int, value: float, rule: str, line: int, start: int | None = None) -> None:
        if value:
            drawn[index].append(Drawn(value, "person", rule, start or line, line))

    for index, turn in enumerate(turns):
        if turn.undone:
            add(index, person.rollback, "rollback", entries[turn.undone_at].line)
        elif turn.result is not None and turn.result.status == "rejected":
            tool = turn.call.tool if turn.call is not None else ""
            rule = "declined" if patterns.questions.search(tool) else "rejection"
            began = turn.call.line if turn.call is not None else None
            add(index, getattr(person, rule), rule, turn.result.line, began)
    last_words = -1
    for number, entry in enumerate(entries):
        if type(entry) is Signal:
            if entry.kind == "interruption":
                stopped = _turn_before(turns, starts, number, last_words)
                if stopped is not None and not _was_rejected(turns, stopped):
                    add(stopped, person.interruption, "interruption", entry.line)
            elif entry.kind == "edited" and entry.call_id in by_call:
                add(by_call[entry.call_id], person.edited, "edited", entry.line)
        elif type(entry) is Message and entry.role == "user":
            answered = _turn_before(turns, starts, number, last_words)
            last_words = number
            if answered is not None and (judged := patterns.judge_words(entry.text)):
                add(answered, getattr(person, judged), judged, entry.line)


def _turn_before(turns: list[Turn], starts: list[int], number: int, since: int) -> int | None:
    """The last turn that began before an entry, unless the person has spoken since, or undid it."""
    index = bisect_left(starts, number) - 1
    if index < 0 or starts[index] < since or turns[index].undone:
        return None
    return index


def _was_rejected(turns: list[Turn], index: int) -> bool:
    """A call refused without words is followed by an interruption: one act, not two.

    The calls made beside it are cancelled with it, and may stand after it.
    """
    while index >= 0:
        result = turns[index].result
        if result is None or result.status not in ("rejected", "interrupted"):
            return False
        if result.status == "rejected":
            return True
        index -= 1
    return False


def _draw_shaped(
    entries: list[Entry],
    turns: list[Turn],
    rules: Rules,
    patterns: Patterns,
    drawn: list[list[Drawn]],
) -> None:
    begun, unfinished = _running(entries, turns)
    for turn, rewards in zip(turns, drawn, strict=True):
        call, result = turn.call, turn.result
        if call is None or result is None:
            continue
        if call.id in unfinished and not result.failed:
            continue  # a command is judged once, by how it ended
        judged = begun.get(call.id, call) if result.status == "ok" else call
        rule = patterns.judge_call(judged, result)
        if rule is not None:
            value = getattr(rules.shaped, rule)
            if value:
                lines = sorted((call.line, result.line))
                rewards.append(Drawn(value, "shaped", rule, lines[0], lines[1]))


def _running(entries: list[Entry], turns: list[Turn]) -> tuple[dict[str, Call], set[str]]:
    """For each call that goes on with an earlier one, the call that began the command; and the
    calls at whose return it was still running.
    """
    begun: dict[str, Call] = {}
    if not any(turn.call.continues for turn in turns if turn.call is not None):
        return begun, set()
    calls: dict[str, Call] = {}
    unfinished: set[str] = set()
    for entry in entries:
        if type(entry) is Call:
            before = calls.get(entry.continues) if entry.continues is not None else None
            if before is not None:
                begun[entry.id] = begun.get(before.id, before)
                unfinished.add(before.id)
            calls[entry.id] = entry
    return begun, unfinished


def verdict_inside(session: Session) -> Verdict | None:
    """The verdict that the reader found in the session's files."""
    for entry in reversed(session.entries):
        if type(entry) is Signal and entry.kind == "verdict" and entry.value is not None:
            said = entry.text or "verdict"
            return Verdict(entry.value, None, said, entry.line, entry.place)
    return None
