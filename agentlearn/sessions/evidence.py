"""Evidence: the lines of a session that speak for something, with the hash of their bytes.

For JSON lines these are the physical lines of the (decompressed) file, each with its end, if it
has one: `sed -n 'START,ENDp' FILE | sha256sum` gives the same hash. For files that are one JSON
value they are numbered objects: the bytes of one as they stand, several with a newline between.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from agentlearn.sessions.lines import lines
from agentlearn.sessions.source import Source, Stream
from agentlearn.sessions.values import Session


class Evidence(Struct, frozen=True):
    session: str
    path: str | None
    start: int
    end: int
    unit: str
    sha256: str | None
    """None for a pipe, whose bytes are gone."""

    def __str__(self) -> str:
        return cite(self.session, self.start, self.end, self.unit)


def cite(session: str, start: int, end: int, unit: str) -> str:
    """`session#L120-L138`, or `session#E12` where the dialect has no lines."""
    letter = "L" if unit == "line" else "E"
    last = f"-{letter}{end}" if end != start else ""
    return f"{session}#{letter}{start}{last}"


def gather_evidence(session: Session, spans: Iterable[tuple[int, int]]) -> list[Evidence]:
    """Evidence for each span of line numbers; the file is read once for all of them."""
    wanted = list(spans)
    hashes = _hash_entries(session, wanted) if session.raws else _hash_lines(session, wanted)
    return [
        Evidence(session.id, session.path, start, end, session.unit, hashes.get((start, end)))
        for start, end in wanted
    ]


def _hash_entries(session: Session, spans: list[tuple[int, int]]) -> dict[tuple[int, int], str]:
    found = {}
    for start, end in spans:
        if 1 <= start <= end <= len(session.raws):
            data = b"\n".join(bytes(raw) for raw in session.raws[start - 1 : end])
            found[start, end] = hashlib.sha256(data).hexdigest()
    return found


def _hash_lines(session: Session, spans: list[tuple[int, int]]) -> dict[tuple[int, int], str]:
    if session.unit != "line" or session.path in (None, "-"):
        return {}
    path = Path(str(session.path))
    if path.is_fifo():  # a pipe with a name; to open it again would wait for ever
        return {}
    waiting = sorted({span for span in spans if span[0] > 0}, reverse=True)
    active: list[tuple[tuple[int, int], Any]] = []
    found: dict[tuple[int, int], str] = {}
    with Source(path) as source:
        watched = _Watched(source.stream)
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
    return found


class _Watched:
    """A stream that tells whether its end was met: a line found after that has no end itself."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.at_end = False

    def readinto(self, buffer: memoryview) -> int:
        got = self._stream.readinto(buffer)
        self.at_end = got == 0
        return got
