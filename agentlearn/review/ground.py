"""What the lines of a session can speak for.

A reviewer cites lines; this says what stands there, and how far it carries. A person's own words
carry a rule. So do a call of the agent that failed and one that then worked. What only a tool
printed (a page, a file) was seen, no more: it may be noted as such. The agent's own words are
no evidence at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct

from agentlearn.guard import one_line
from agentlearn.guard.secrets import redact
from agentlearn.review.runs import runs_of
from agentlearn.review.wishes import typed_answers
from agentlearn.rewards.rules import compiled_rules, load_rules
from agentlearn.sessions.evidence import gather_evidence
from agentlearn.sessions.values import Call, Entry, Message, Result, Session, Signal
from agentlearn.store.similar import roots
from agentlearn.store.store import Refused
from agentlearn.store.values import Cited

Basis = Literal["person", "proved", "seen", "words"]
Span = tuple[int, int]
MOST_LINES = 60
"""Who cites more cites everything, and so nothing."""
EXCERPT = 300
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
PLACE = re.compile(r"\s*#?\s*[LE]?(\d{1,9})(?:\s*[-–:]\s*[LE]?(\d{1,9}))?\s*")


class Standing(Struct, frozen=True):
    """What was cited, and what it is worth."""

    basis: Basis
    spans: tuple[Span, ...]
    text: str


class Ground:
    """A session as a place to cite from."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.by_line: dict[int, list[Entry]] = {}
        for entry in session.entries:
            self.by_line.setdefault(entry.line, []).append(entry)
        self.last = max(self.by_line, default=0)
        self.calls = {entry.id: entry for entry in session.entries if isinstance(entry, Call)}
        self.results = {
            entry.call_id: entry for entry in session.entries if isinstance(entry, Result)
        }

    def _is_answer(self, entry: Entry) -> bool:
        """Whether a person typed this in answer to the agent's question."""
        if not isinstance(entry, Result) or entry.status != "ok":
            return False
        call = self.questions.get(entry.call_id)
        return call is not None and bool(typed_answers(call, entry))

    @cached_property
    def questions(self) -> dict[str, Call]:
        asks = compiled_rules(load_rules(None)).questions
        calls = (entry for entry in self.session.entries if isinstance(entry, Call))
        return {call.id: call for call in calls if asks.search(call.tool)}

    @cached_property
    def failed_lines(self) -> set[int]:
        """Results that no flag calls a failure, but that say so: tests in a pipe, for one."""
        patterns = compiled_rules(load_rules(None))
        turns = self.session.turns()
        return {run.result_line for run in runs_of(turns, patterns) if run.failed}

    def stand(self, places: Any) -> Standing:
        """What is cited: `"L12-L15"`, `{"start": 12, "end": 15}`, or a list of such."""
        spans = tuple(dict.fromkeys(_spans(places)))
        if not spans:
            raise Refused("name the evidence: the lines of the transcript that say so, as L12-L15")
        entries = []
        for start, end in spans:
            here = [
                entry
                for line in range(start, min(end, self.last) + 1)
                for entry in self.by_line.get(line, ())
            ]
            if not here:
                raise Refused(
                    f"nothing of the session stands in lines {start} to {end}: "
                    f"it has lines {min(self.by_line, default=0)} to {self.last}"
                )
            entries += here
        if sum(min(end, self.last) - start + 1 for start, end in spans) > MOST_LINES:
            raise Refused(f"cite the lines that say so, at most {MOST_LINES} of them")
        clamped = _joined((start, min(end, self.last)) for start, end in spans)
        basis, speaking = self._weighed(entries)
        return Standing(basis, clamped, "\n".join(entry.text for entry in speaking))

    def cited(self, spans: Iterable[Span], about: str = "") -> tuple[Cited, ...]:
        """Evidence for the journal, with a redacted excerpt of what stands there on the matter."""
        wanted = list(spans)
        return tuple(
            Cited(
                each.session,
                each.path,
                each.start,
                each.end,
                each.unit,
                each.sha256,
                self._excerpt(each.start, each.end, roots(about)),
            )
            for each in gather_evidence(self.session, wanted)
        )

    def _excerpt(self, start: int, end: int, about: frozenset[str]) -> str:
        here = [entry for line in range(start, end + 1) for entry in self.by_line.get(line, ())]
        here.sort(key=lambda entry: not _is_persons(entry))  # what a person said comes first
        here = [entry for entry in here if entry.text.strip()]
        share = max(EXCERPT // max(len(here), 1), 60)
        said = [f"{_speaker(each)}: {_telling(redact(each.text), about, share)}" for each in here]
        return one_line(" | ".join(said), 2 * EXCERPT)

    def _weighed(self, entries: list[Entry]) -> tuple[Basis, list[Entry]]:
        """What the entries are worth, and those of them that make it so.

        Only these count as what was said: a person's line beside a web page does not make the
        page's words the person's.
        """
        persons = [entry for entry in entries if _is_persons(entry) or self._is_answer(entry)]
        if persons:
            return "person", persons
        pair = self._failed_and_worked(entries)
        if pair:
            return "proved", pair
        seen: list[Entry] = [entry for entry in entries if isinstance(entry, (Call, Result))]
        if any(isinstance(entry, Result) for entry in seen):
            return "seen", seen
        answered = [e for e in seen if isinstance(e, Call) and e.id in self.results]
        return ("seen", seen) if answered else ("words", [])

    def _failed_and_worked(self, entries: list[Entry]) -> list[Entry]:
        """The calls of one tool, with their results, of which one failed and a later one worked.

        They must be about the same thing: a search that failed proves nothing for a page that
        was fetched.
        """
        ids = {entry.id for entry in entries if isinstance(entry, Call)}
        ids |= {entry.call_id for entry in entries if isinstance(entry, Result)}
        runs = [
            (self.calls[key], self.results[key])
            for key in ids
            if key in self.calls and key in self.results
        ]
        runs.sort(key=lambda run: run[1].line)
        for number, (failed, result) in enumerate(runs):
            if not (result.failed or result.line in self.failed_lines):
                continue
            first = self._began(failed)
            alike = [run for run in runs if self._began(run[0]).tool == first.tool]
            for worked, after in runs[number + 1 :]:
                passed = after.status == "ok" and not after.failed
                if (
                    passed
                    and after.line not in self.failed_lines
                    and (worked, after) in alike
                    and roots(first.arguments) & roots(self._began(worked).arguments)
                ):
                    return [each for run in alike for each in run]
        return []

    def _began(self, call: Call) -> Call:
        """The call that started what this one goes on with."""
        for _ in range(len(self.calls)):
            if call.continues not in self.calls:
                break
            call = self.calls[call.continues or ""]
        return call


def _telling(text: str, about: frozenset[str], chars: int) -> str:
    """So much of a text, from the sentence on that has most of the words in question."""
    if len(text) <= chars:
        return one_line(text, chars)
    sentences = SENTENCE.split(text)
    best = max(sentences, key=lambda sentence: len(roots(sentence) & about))
    at = text.index(best) if roots(best) & about else 0
    return ("…" if at else "") + one_line(text[at:], chars)


def supports(text: str, standing: Standing) -> bool:
    """Whether the cited lines speak of what the text says: they share its words."""
    said = roots(text)
    if not said:
        return False
    shared = len(said & roots(standing.text))
    return shared >= min(2, len(said)) and shared / len(said) >= (0.3 if len(said) < 40 else 0.1)


def _is_persons(entry: Entry) -> bool:
    if isinstance(entry, Message):
        return entry.role == "user" and bool(entry.text.strip())
    return isinstance(entry, Signal) and entry.kind == "rejection" and bool(entry.text.strip())


def _speaker(entry: Entry) -> str:
    if isinstance(entry, Message):
        return entry.role
    if isinstance(entry, Call):
        return "tool_call"
    if isinstance(entry, Result):
        return "tool_result (failed)" if entry.failed else "tool_result"
    return "user (rejecting)" if entry.kind == "rejection" else entry.kind


def _spans(places: Any) -> Iterable[Span]:
    if isinstance(places, (list, tuple)) and not _is_pair(places):
        for place in places:
            yield from _spans(place)
    elif isinstance(places, dict):
        start = places.get("start", places.get("line"))
        yield _span(start, places.get("end", start))
    elif isinstance(places, str):
        for part in places.split(","):
            found = PLACE.fullmatch(part.rpartition("#")[2])
            if found is None:
                raise Refused(f"{part[:60]!r} names no lines: write L12, or L12-L15")
            yield _span(int(found[1]), int(found[2] or found[1]))
    elif _is_pair(places):
        yield _span(*places)
    elif places is not None:
        yield _span(places, places)


def _joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """In order; those that touch are one: a call and its result stand on lines side by side."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _is_pair(places: Any) -> bool:
    return (
        isinstance(places, (list, tuple))
        and len(places) == 2
        and all(isinstance(item, int) for item in places)
    )


def _span(start: Any, end: Any) -> Span:
    whole = all(isinstance(item, int) and not isinstance(item, bool) for item in (start, end))
    if not whole or not 1 <= start <= end:
        raise Refused(f"lines {str(start)[:20]} to {str(end)[:20]} are none: write L12, or L12-L15")
    return start, end
