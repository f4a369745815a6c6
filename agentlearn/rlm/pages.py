"""A session on disk, with an index of its lines in memory: what is looked at is read again.

A day's session has more text than should stay in memory while models think about it for minutes.
Nothing leaves these pages unredacted.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import Struct

from agentlearn.guard import one_line
from agentlearn.guard.shown import harmless
from agentlearn.render import Painter
from agentlearn.sessions.redacted import redacted_entry
from agentlearn.sessions.spool import Spool
from agentlearn.sessions.values import Call, Entry, Message, Result, Session, Signal

KINDS = (Message, Call, Result, Signal)
NUMBER = {kind: number for number, kind in enumerate(KINDS)}
ENCODER = msgspec.msgpack.Encoder()
DECODER = msgspec.msgpack.Decoder()
WRITTEN_AT_ONCE = 1024 * 1024
ID_CHARS = 200
ERROR_LINE = re.compile(
    r"^.*(?:error|fail|exception|not found|no such|denied|cannot|fatal|panic).*$",
    re.IGNORECASE | re.MULTILINE,
)
SAID = re.compile(r"(?:the )?user said:", re.IGNORECASE)
HEAD_CHARS = 480
"""More than is ever shown of it: a secret that is cut off here is seen in no outline."""


class Landmark(Struct, frozen=True, gc=False):
    """An entry that an outline names: the person's words, a failure, a signal."""

    line: int
    tag: str
    text: str
    """Its beginning, not redacted yet."""


class Pages:
    """One session, to be looked into."""

    def __init__(self, session: Session, spool: Spool | None = None) -> None:
        """`spool` may be shared by many: each has its own part of it."""
        self.id = id_of(session)
        self.dialect = session.dialect
        self.unit = session.unit
        self.goal = None if session.goal is None else session.goal[:HEAD_CHARS]
        self.turns = array("Q")
        """The line that each turn begins at."""
        self.calls: list[tuple[int, str, bool]] = []
        """Every call: its line, its tool, and whether it failed."""
        self.landmarks: list[Landmark] = []
        self.chars = 0
        self.verdicts: list[Landmark] = []
        """What another file says of the session: it has no line."""
        self.secrets: bytes | None = None
        """For each entry whether it has one; None until somebody had to know."""
        self._spool = spool or Spool()
        self._lines = array("Q")
        self._starts = array("Q")
        self._kinds = bytearray()
        self._fill(session)

    def _fill(self, session: Session) -> None:
        turns = session.turns()
        self.turns.extend(sorted(turn.lines[0] for turn in turns))
        failed = {id(turn.result) for turn in turns if turn.result and turn.result.failed}
        tools = {id(turn.result): turn.call.tool for turn in turns if turn.call and turn.result}
        for turn in turns:
            if turn.call is not None:
                tool = turn.call.tool or "action"
                self.calls.append((turn.call.line, tool, id(turn.result) in failed))
        self.calls.sort()
        del turns
        entries = [entry for entry in session.entries if entry.line]
        self.verdicts = [
            Landmark(0, entry.kind, _head(entry))
            for entry in session.entries
            if not entry.line and type(entry) is Signal
        ]
        if any(one.line > other.line for one, other in pairwise(entries)):
            entries = sorted(entries, key=lambda entry: entry.line)
        waiting = bytearray()
        for entry in entries:
            self._lines.append(entry.line)
            self._starts.append(self._spool.size + len(waiting))
            self._kinds.append(NUMBER[type(entry)])
            waiting += ENCODER.encode(_fields(entry))
            self.chars += len(entry.packed)
            if (mark := _landmark(entry, failed, tools)) is not None:
                self.landmarks.append(mark)
            if len(waiting) > WRITTEN_AT_ONCE:
                self._spool.add(bytes(waiting))
                waiting.clear()
        self._starts.append(self._spool.size + len(waiting))
        self._spool.add(bytes(waiting))

    @property
    def first(self) -> int:
        return self._lines[0] if self._lines else 0

    @property
    def last(self) -> int:
        return self._lines[-1] if self._lines else 0

    @property
    def letter(self) -> str:
        return "L" if self.unit == "line" else "E"

    def has(self, start: int, end: int) -> bool:
        """Whether these lines are there, and anything was said or done in them."""
        return 1 <= start <= end <= self.last and self._between(start, end)[2]

    def _between(self, start: int, end: int) -> tuple[int, int, bool]:
        low, high = bisect_left(self._lines, start), bisect_right(self._lines, end)
        return low, high, high > low

    def entries(self, start: int, end: int) -> Iterator[Entry]:
        """What stands in these lines, as it stands: it is not redacted."""
        low, high, _ = self._between(start, end)
        file = self._spool.reader(self._starts[low]) if low < high else None
        for number in range(low, high):
            size = self._starts[number + 1] - self._starts[number]
            assert file is not None
            yield entry_of(self._kinds[number], _read(file, size))

    def painted(
        self, start: int, end: int, entry_chars: int | None = None
    ) -> Iterator[tuple[int, str]]:
        """The entries as a reader sees them, each with its line; a long one without its middle."""
        painter = Painter(self.unit, lines=True, tools=True, output_chars=entry_chars)
        for entry in self.entries(start, end):
            # Before it is shortened: half a secret is not known for one.
            if text := painter.entry(redacted_entry(entry)):
                # The painter shortens what tools say; people paste as much.
                is_said = type(entry) in (Message, Signal)
                yield entry.line, painter.shortened(text) if is_said else text

    def place(self, start: int, end: int) -> str:
        letter = self.letter
        return f"{letter}{start}" if start == end else f"{letter}{start}-{letter}{end}"

    @property
    def file(self) -> int:
        """The number of the open file, for a process that searches it."""
        self._spool.file.flush()
        return self._spool.file.fileno()

    def index(self) -> bytes:
        """Where each entry stands in that file: line, kind, start, end."""
        rows = zip(self._lines, self._kinds, self._starts, self._starts[1:], strict=False)
        return ENCODER.encode(list(rows))


def id_of(session: Session) -> str:
    """The id as it is shown: it is what a transcript says it is, and may hold anything."""
    return one_line(harmless(session.id), ID_CHARS)


def _fields(entry: Entry) -> tuple[Any, ...]:
    """What is read of an entry again."""
    if type(entry) is Message:
        return entry.role, entry.packed, entry.line
    if type(entry) is Call:
        return entry.id, entry.tool, entry.packed, entry.line
    if type(entry) is Result:
        status, code = entry.status, entry.exit_code
        return entry.call_id, entry.packed, entry.line, None, status, code
    assert type(entry) is Signal
    return entry.kind, entry.packed, entry.line, None, entry.value, entry.undoes


def entry_of(kind: int, data: bytes) -> Entry:
    made: Entry = KINDS[kind](*DECODER.decode(data))
    return made


def _read(file: object, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        part = file.read(size - len(data))  # type: ignore[attr-defined]
        if not part:
            break
        data += part
    return bytes(data)


def _landmark(entry: Entry, failed: set[int], tools: dict[int, str]) -> Landmark | None:
    if type(entry) is Message:
        if entry.role != "user":
            return None
        return Landmark(entry.line, "user", _head(entry))
    if type(entry) is Signal:
        if entry.kind == "rejection":  # its result tells it, with its reason
            return None
        return Landmark(entry.line, entry.kind, _head(entry))
    if type(entry) is Result:
        if entry.status == "rejected":
            said = SAID.split(entry.text, maxsplit=1)
            return Landmark(entry.line, "rejected", said[-1].strip()[:HEAD_CHARS])
        if id(entry) in failed:
            tag = one_line(harmless(f"failed {tools.get(id(entry), '')}"), 60)
            return Landmark(entry.line, tag, _error(entry))
    return None


def _error(entry: Result) -> str:
    return (error_line(entry.text) or _head(entry))[:HEAD_CHARS]


def error_line(output: str) -> str:
    """The line of an output that says what went wrong; empty if none does."""
    found = ERROR_LINE.search(output[:20_000])
    return found[0].strip() if found else ""


def _head(entry: Entry) -> str:
    packed = entry.packed[: 4 * HEAD_CHARS]
    text = packed if isinstance(packed, str) else packed.decode("utf-8", "ignore")
    return text[:HEAD_CHARS]
