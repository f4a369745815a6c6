"""Long sessions with needles at known lines, to measure what finds them.

A needle is what a later session should know: a correction by the person, a failure and its fix, a
rejection with its reason, a decision that was taken back. They stand evenly spread over the file,
the last one close to its end, and to each there are twenty look-alikes, anywhere in it.

Three seeds in a row use all fifteen phrasings of a kind, five at a time. A file of 0.1 MB has
room for one needle of a kind with its look-alikes: there it takes fifteen seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random

from msgspec import Struct

from tests.rlm.lines import CWD, Lines
from tests.rlm.phrasings import (
    KINDS,
    Correction,
    Fix,
    Kind,
    LookAlike,
    Phrasings,
    Rejection,
    Reversal,
    load_phrasings,
)
from tests.rlm.work import Work
from tests.rlm.work_texts import NOUNS, SUMMARIES, VERBS

QUESTIONS = (
    "What did the person correct, reject or decide differently,"
    " and which failures were solved how?",
    "What should the next session know?",
    "List all that was learned here from feedback and from failures.",
)
"""For whoever explores a session: none tells what was planted."""

LOOK_ALIKES = 20
"""To a needle."""
ROOM = 100_000
"""Bytes that four needles, one of each kind, take with their look-alikes."""
EVENT = 1_300
"""Bytes of something planted, on average: the rest of a file is work."""
LONGEST_CITATION = 40
AFTER_LAST = 3_000
"""About how many bytes of work stand behind the last needle."""
ANSWERS = ("Understood.", "OK, I'll change that.", "Got it, one moment.", "Sure.", "Right, done.")


class Needle(Struct, frozen=True):
    """Something planted, from its first line to its last.

    Of a correction, a rejection and a reversal it is the line with the person's words; of a fix
    all from the call that failed to the result of the one that worked.
    """

    kind: Kind
    start: int
    end: int
    phrase: str
    """What can be found in these lines: the person's words, or the command that worked."""

    def found_by(self, first: int, last: int) -> bool:
        """Whether a citation of these lines is right: it meets the needle, and is no haystack."""
        return first <= self.end and last >= self.start and last - first < LONGEST_CITATION


class Planted(Struct, frozen=True):
    needles: list[Needle]
    look_alikes: list[Needle]


class Event(Struct, frozen=True):
    """Something to plant at about this byte of the file."""

    at: float
    plant: Callable[[], object]


def write_session(
    path: Path, size_bytes: int, seed: int, unseen: bool, needles_per_kind: int = 5
) -> list[Needle]:
    """Write a session of about this size, and tell where its needles are."""
    return plant_session(path, size_bytes, seed, unseen, needles_per_kind).needles


def plant_session(
    path: Path, size_bytes: int, seed: int, unseen: bool, needles_per_kind: int = 5
) -> Planted:
    """As `write_session`, and tell where the look-alikes are, too."""
    with path.open("wb") as out:
        garden = Garden(Lines(out, Random(f"lines {seed}")), size_bytes, seed, unseen)
        per_kind = max(1, min(needles_per_kind, size_bytes // ROOM))
        return garden.grow(per_kind)


class Garden:
    """A session being written, with what is planted in it."""

    def __init__(self, lines: Lines, size_bytes: int, seed: int, unseen: bool) -> None:
        self._lines = lines
        self._size = size_bytes
        self._seed = seed
        self._random = Random(f"plan {seed}")
        self._phrasings: Phrasings = load_phrasings(unseen)
        self._work = Work(lines, Random(f"work {seed}"), size_bytes)
        self._planted = Planted([], [])

    def grow(self, per_kind: int) -> Planted:
        lines = self._lines
        *events, last = sorted(self._events(per_kind), key=lambda event: event.at)
        share = max(0.0, 1 - len(events) * EVENT / self._size)
        lines.opening()
        self._work.request()
        worked = 0
        for event in events:
            while worked < event.at * share:
                before = lines.written
                self._work.step()
                worked += lines.written - before
            event.plant()
        while lines.written < self._size - AFTER_LAST:
            self._work.edit()
        last.plant()
        while lines.written < self._size:
            self._work.edit()
        return self._planted

    def _events(self, per_kind: int) -> list[Event]:
        random = self._random
        needles = [needle for kind in KINDS for needle in self._needles(kind, per_kind)]
        random.shuffle(needles)
        gap = (self._size - AFTER_LAST) / len(needles)
        events = []
        for number, needle in enumerate(needles, 1):
            is_last = number == len(needles)
            at = gap * (number if is_last else 0.97 * (number - random.uniform(0.1, 0.4)))
            events.append(Event(at, partial(self._plant, needle)))
            if isinstance(needle, Reversal):
                earlier = random.uniform(0.01, 0.8) * at
                events.append(Event(earlier, partial(self._ask, needle.first)))
        for kind in KINDS:
            for look_alike in self._look_alikes(kind, per_kind * LOOK_ALIKES):
                at = random.uniform(0, self._size - AFTER_LAST)
                events.append(Event(at, partial(self._pretend, kind, look_alike)))
        return events

    def _needles(self, kind: Kind, count: int) -> list[Correction | Fix | Rejection | Reversal]:
        """The next ones in an order that is the same for all seeds."""
        every: list[Correction | Fix | Rejection | Reversal]
        every = list(getattr(self._phrasings, kind).needles)
        Random(kind).shuffle(every)
        return [every[(self._seed * count + n) % len(every)] for n in range(count)]

    def _look_alikes(self, kind: Kind, count: int) -> Iterator[LookAlike]:
        """Each as often as the others, and never twice with the same words put in."""
        every: list[LookAlike] = list(getattr(self._phrasings, kind).look_alikes)
        self._random.shuffle(every)
        for number in range(count):
            yield every[number % len(every)].filled(
                file=self._work.path(),
                name=f"{self._random.choice(VERBS)}_{self._random.choice(NOUNS)}",
                number=str(self._random.randint(2, 900)),
            )

    def _plant(self, needle: Correction | Fix | Rejection | Reversal) -> None:
        if isinstance(needle, Correction):
            start = end = self._correct(needle)
            found = Needle("correction", start, end, needle.say)
        elif isinstance(needle, Fix):
            start, end = self._fix(needle)
            found = Needle("fix", start, end, needle.works)
        elif isinstance(needle, Rejection):
            start = end = self._reject(needle)
            found = Needle("rejection", start, end, needle.say)
        else:
            start = end = self._ask(needle.then)
            found = Needle("reversal", start, end, needle.then)
        self._planted.needles.append(found)

    def _correct(self, needle: Correction) -> int:
        path = f"{CWD}/{needle.file}"
        old = self._work.filled("<verb>_<noun>(<noun>)")
        self._lines.call("Edit", file_path=path, old_string=old, new_string=needle.new)
        self._lines.edited(path, old, needle.new)
        if self._random.random() < 0.5:
            self._lines.agent(f"I've changed `{needle.file}`. Anything else for this part?")
        line = self._lines.person(needle.say)
        self._lines.agent(self._random.choice(ANSWERS))
        return line

    def _fix(self, needle: Fix) -> tuple[int, int]:
        lines, random = self._lines, self._random
        start = lines.bash(needle.command)
        lines.ran(needle.error, needle.exit)
        if random.random() < 0.4:
            lines.thought()
        if random.random() < 0.3:
            self._work.read()
        if random.random() < 0.5:
            lines.agent(needle.changed)
        lines.bash(needle.works)
        return start, lines.ran(needle.output)

    def _reject(self, needle: Rejection) -> int:
        if needle.command:
            self._lines.bash(needle.command)
        else:
            path = f"{CWD}/{needle.file}"
            old = self._work.filled("<verb>_<noun>(<noun>)")
            self._lines.call("Edit", file_path=path, old_string=old, new_string=needle.new)
        line = self._lines.rejected(needle.say)
        self._lines.agent(self._random.choice(ANSWERS))
        return line

    def _ask(self, text: str) -> int:
        """The person says something between two pieces of work."""
        if self._random.random() < 0.15:
            self._lines.agent(self._work.filled(self._random.choice(SUMMARIES)))
        return self._lines.person(text)

    def _pretend(self, kind: Kind, item: LookAlike) -> None:
        lines = self._lines
        start = lines.count + 1
        if item.said:
            self._ask(item.said)
        elif item.agent:
            lines.agent(item.agent)
        elif item.tool:
            lines.call(item.tool, **self._work.arguments(item.tool))
            lines.failure(item.error)
        for run in item.runs:
            lines.bash(run.command)
            lines.ran(run.output, run.exit)
        self._planted.look_alikes.append(Needle(kind, start, lines.count, item.phrase))
