"""Evidence: the lines that speak for something, with the hash of their bytes.

For JSON lines these are the physical lines of the (decompressed) file, each with its end, if it
has one: `sed -n 'START,ENDp' FILE | sha256sum` gives the same hash. For files that are one JSON
value they are numbered objects: the bytes of one as they stand, several with a newline between.

A verdict often stands elsewhere, and is held to the same shape:

- In the document, but not in the list of its entries: it is numbered after the last of them, and
  the bytes are those of the object that states it (the `scores` of an Inspect sample, a tau-bench
  episode as a whole, the test `report` of an OpenHands run).
- In a file beside the transcript, or in a label file: `path` is that file, the lines are its own.
  A trial's result is the whole file; a report of many gives the part that judges the instance.
- In no file: what an evaluator said is in its words only, so `path` and `sha256` are null and the
  lines are 0.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from io import RawIOBase
from pathlib import Path
from typing import Any

from msgspec import Struct

from agentlearn.errors import BadInput
from agentlearn.sessions.lines import LineTooLong, lines
from agentlearn.sessions.locate import lines_within
from agentlearn.sessions.source import Source, Stream
from agentlearn.sessions.values import Place, Session

Span = tuple[int, int]


class Evidence(Struct, frozen=True):
    session: str
    path: str | None
    start: int
    end: int
    unit: str
    sha256: str | None
    """None for a pipe whose bytes were not kept, and where no such lines are."""
    beside: bool = False
    """It stands in another file than the session."""

    def __str__(self) -> str:
        named = self.path if self.beside and self.path else self.session
        return cite(named, self.start, self.end, self.unit)


def cite(session: str, start: int, end: int, unit: str) -> str:
    """`session#L120-L138`, or `session#E12` where the dialect has no lines."""
    letter = "L" if unit == "line" else "E"
    last = f"-{letter}{end}" if end != start else ""
    return f"{session}#{letter}{start}{last}"


def gather_evidence(session: Session, wanted: Iterable[Span | Place]) -> list[Evidence]:
    """Evidence for each span of line numbers, or place in another file.

    The session's own file is read once for all of them.
    """
    every = list(wanted)
    spans = [item for item in every if not isinstance(item, Place)]
    hashes = _hash_entries(session, spans) if session.raws else _hash_lines(session, spans)
    return [
        _beside(session, item)
        if isinstance(item, Place)
        else Evidence(
            session.id, session.path if item[0] else None, *item, session.unit, hashes.get(item)
        )
        for item in every
    ]


def _beside(session: Session, place: Place) -> Evidence:
    rows = _rows_of(place.path)
    found = place.lines
    if found is None and place.within:
        found = lines_within(b"".join(rows), place.within)
    start, end = found or (min(1, len(rows)), len(rows))
    is_there = 1 <= start <= end <= len(rows)
    data = b"".join(rows[start - 1 : end])
    sha256 = hashlib.sha256(data).hexdigest() if is_there else None
    return Evidence(session.id, place.path, start, end, "line", sha256, beside=True)


def _rows_of(path: str) -> list[bytes]:
    """The lines of a file, each with its end; none of what cannot be read a second time."""
    try:
        found = Path(path).stat()
        return _rows(path, found.st_mtime_ns, found.st_size) if Path(path).is_file() else []
    except OSError:
        return []


@lru_cache(maxsize=2)
def _rows(path: str, mtime_ns: int, size: int) -> list[bytes]:
    """A label file, or a report, speaks of many sessions: it is read once, unless it changes."""
    with Path(path).open("rb") as file:
        return file.readlines()


def _hash_entries(session: Session, spans: list[Span]) -> dict[Span, str]:
    found = {}
    for start, end in spans:
        if 1 <= start <= end <= len(session.raws):
            # A file that is one object may end with a newline, which is not part of it.
            data = b"\n".join(bytes(raw).strip() for raw in session.raws[start - 1 : end])
            found[start, end] = hashlib.sha256(data).hexdigest()
    return found


def _hash_lines(session: Session, spans: list[Span]) -> dict[Span, str]:
    if session.unit != "line" or not spans:
        return {}
    if session.kept is not None:
        return _hash_spans(session.kept.reader(), spans)
    path = Path(session.path or "-")
    if session.path in (None, "-") or path.is_fifo():  # to open one again would wait for ever
        return {}
    try:
        with Source(path) as source:
            return _hash_spans(source.stream, spans)
    except BadInput:  # the file is gone, and so are its bytes
        return {}


def _hash_spans(stream: Stream | RawIOBase, spans: list[Span]) -> dict[Span, str]:
    """The hashes of the spans that are there: those after a line that cannot be read are not."""
    waiting = sorted({span for span in spans if span[0] > 0}, reverse=True)
    active: list[tuple[Span, Any]] = []
    found: dict[Span, str] = {}
    watched = _Watched(stream)
    try:
        for number, raw in lines(watched):  # type: ignore[arg-type]
            end = b"" if watched.at_end else b"\n"
            while waiting and waiting[-1][0] == number:
                active.append((waiting.pop(), hashlib.sha256()))
            for span, digest in active:
                digest.update(bytes(raw) + end)
                if span[1] == number:
                    found[span] = digest.hexdigest()
            active = [item for item in active if item[0][1] > number]
            if not (waiting or active):
                break
    except (LineTooLong, OSError):
        pass
    return found


class _Watched:
    """A stream that tells whether its end was met: a line found after that has no end itself."""

    def __init__(self, stream: Stream | RawIOBase) -> None:
        self._stream = stream
        self.at_end = False

    def readinto(self, buffer: memoryview) -> int:
        got = self._stream.readinto(buffer)
        self.at_end = got == 0
        return got
