"""Evidence: the lines of a session that speak for something, with the hash of their bytes.

For JSON lines these are the physical lines of the (decompressed) file, each with its end:
`sed -n 'START,ENDp' FILE | sha256sum` gives the same hash. For files that are one JSON value
they are numbered objects, each hashed with a newline after it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from msgspec import Struct

from agentlearn.sessions.lines import lines
from agentlearn.sessions.source import Source
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
            digest = hashlib.sha256()
            for raw in session.raws[start - 1 : end]:
                digest.update(bytes(raw) + b"\n")
            found[start, end] = digest.hexdigest()
    return found


def _hash_lines(session: Session, spans: list[tuple[int, int]]) -> dict[tuple[int, int], str]:
    if session.unit != "line" or session.path in (None, "-"):
        return {}
    waiting = sorted({span for span in spans if span[0] > 0}, reverse=True)
    active: list[tuple[tuple[int, int], Any]] = []
    found: dict[tuple[int, int], str] = {}
    with Source(Path(str(session.path))) as source:
        for number, raw in lines(source.stream):
            while waiting and waiting[-1][0] == number:
                active.append((waiting.pop(), hashlib.sha256()))
            for span, digest in active:
                digest.update(bytes(raw) + b"\n")
                if span[1] == number:
                    found[span] = digest.hexdigest()
            active = [item for item in active if item[0][1] > number]
            if not (waiting or active):
                break
    return found
