"""What the lines of a session can speak for.

A reviewer cites lines; this says what stands there, and how far it carries. A person's own words
carry a rule. So do a command of the agent that failed and one that then worked: the commands
themselves and the error, not what the second one printed. What only a tool printed (a page, a
file) was seen, no more: it may be noted as such. The agent's own words are no evidence at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal

from msgspec import Struct

from agentlearn.guard import one_line
from agentlearn.guard.secrets import redact
from agentlearn.review.answers import typed_answers
from agentlearn.review.runs import Run, runs_of
from agentlearn.rewards.patterns import Patterns
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
SHOWS = {
    ("git", "show"), ("git", "log"), ("git", "diff"), ("git", "grep"), ("git", "cat-file"),
    ("git", "blame"), ("gh", "api"), ("gh", "pr"), ("gh", "issue"), ("gh", "run"), ("less",),
    ("more",), ("bat",), ("xdg-open",), ("open",), ("lynx",), ("http",), ("w3m",), ("man",),
}  # fmt: skip
"""Commands that only print what others wrote, besides those that are no run at all (`cat`)."""
SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
PLACE = re.compile(r"[LE]?(\d{1,9})(?:\s{0,3}[-–:]\s{0,3}[LE]?(\d{1,9}))?")
LONGEST_PLACE = 40


class Standing(Struct, frozen=True):
    """What was cited, and what it is worth."""

    basis: Basis
    spans: tuple[Span, ...]
    text: str
    own: str = ""
    """Of it, what the person said, or the agent itself ran: not what was printed."""


class _Ran(Struct, frozen=True):
    """A command of the session, as far as it proves something."""

    line: int
    command: str
    output: str
    failed: bool
    passed: bool


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
    def patterns(self) -> Patterns:
        patterns: Patterns = compiled_rules(load_rules(None))
        return patterns

    @cached_property
    def questions(self) -> dict[str, Call]:
        asks = self.patterns.questions
        calls = (entry for entry in self.session.entries if isinstance(entry, Call))
        return {call.id: call for call in calls if asks.search(call.tool)}

    @cached_property
    def run_lines(self) -> dict[int, Run]:
        """The commands of the project by the lines of their results. Of some, no flag calls the
        result a failure, but it says so itself: tests in a pipe, for one."""
        return {run.result_line: run for run in runs_of(self.session.turns(), self.patterns)}

    def stand(self, places: Any) -> Standing:
        """What is cited: `"L12-L15"`, `{"start": 12, "end": 15}`, or a list of such."""
        try:
            spans = tuple(dict.fromkeys(_spans(places)))
        except RecursionError:
            raise Refused("the evidence is a list of lines, not of lists: write L12-L15") from None
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
        basis, speaking, own = self._weighed(entries)
        return Standing(basis, clamped, "\n".join(speaking), "\n".join(own))

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

    def _weighed(self, entries: list[Entry]) -> tuple[Basis, list[str], list[str]]:
        """What the entries are worth, the texts in them that make it so, and which nobody printed.

        Only these count as what was said: a person's line beside a web page does not make the
        page's words the person's.
        """
        persons = [entry for entry in entries if _is_persons(entry) or self._is_answer(entry)]
        if persons:
            # What the agent ran is its own doing; what was printed stays a tool's word.
            said = [entry.text for entry in persons] + self._commands(entries)
            return "person", said, said
        ran, errors = self._failed_and_worked(entries)
        if ran:
            return "proved", [*ran, *errors], ran
        seen: list[Entry] = [entry for entry in entries if isinstance(entry, (Call, Result))]
        answered = [e for e in seen if isinstance(e, Call) and e.id in self.results]
        if answered or any(isinstance(entry, Result) for entry in seen):
            texts = [entry.text for entry in seen]
            return "seen", texts, texts
        return "words", [], []

    def _commands(self, entries: list[Entry]) -> list[str]:
        """The commands of the agent among them, of which the result is there."""
        calls = (entry for entry in entries if isinstance(entry, Call))
        ran = (self._ran(call.id) for call in calls if call.id in self.results)
        return [run.command for run in ran if run is not None]

    def _failed_and_worked(self, entries: list[Entry]) -> tuple[list[str], list[str]]:
        """The commands of which one failed and a later one worked, and what the failed said.

        Both must run something: a page or a file that was found at the second try proves nothing.
        And they must be about the same thing, or the error must speak of the one that worked.
        """
        ids = {entry.id for entry in entries if isinstance(entry, Call)}
        ids |= {entry.call_id for entry in entries if isinstance(entry, Result)}
        ran = [self._ran(key) for key in ids if key in self.calls and key in self.results]
        runs = sorted((run for run in ran if run is not None), key=lambda run: run.line)
        for number, failed in enumerate(runs):
            if not failed.failed:
                continue
            about = roots(failed.command) | roots(failed.output)
            for worked in runs[number + 1 :]:
                if worked.passed and about & roots(worked.command):
                    errors = [run.output for run in runs if run.failed]
                    return [run.command for run in runs], errors
        return [], []

    def _ran(self, key: str) -> _Ran | None:
        """What a call ran, if it is a command that does more than show something."""
        result = self.results[key]
        command = self.patterns.command_of(self._began(self.calls[key]))
        run = self.run_lines.get(result.line)
        if not command or run is None or run.core[:2] in SHOWS:
            return None
        failed = result.failed or run.failed
        return _Ran(result.line, command, result.text, failed, result.status == "ok" and not failed)

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
            found = PLACE.fullmatch(part.rpartition("#")[2].strip()[:LONGEST_PLACE])
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
