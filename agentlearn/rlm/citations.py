"""The places that an answer names: `session#L120-L138`, each checked to exist.

A model may name any line. What is not there is struck out of the answer and counted, so that
nobody goes and looks for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from agentlearn.rlm.pages import Pages

IN_TEXT = re.compile(r"(?:([\w.:@~-]{1,200})#)?\b([LE])(\d{1,30})(?:\s*[-–]\s*[LE]?(\d{1,30}))?\b")
STRUCK = "(struck out)"
MOST = 1000
LEAST_NOWHERE = 10
NEAR = 4


class Citation(Struct, frozen=True, order=True):
    session: str
    start: int
    end: int
    unit: str

    def __str__(self) -> str:
        return self.named(self.session)

    def named(self, session: str) -> str:
        """It with another name for the session, such as the beginning of a long id."""
        letter = "L" if self.unit == "line" else "E"
        last = f"-{letter}{self.end}" if self.end != self.start else ""
        return f"{session}#{letter}{self.start}{last}"


class Cited(Struct, frozen=True):
    """An answer whose places are all there."""

    text: str
    citations: tuple[Citation, ...]
    struck: int
    """How many places were named that are not there."""


def checked(books: Sequence[Pages], text: str, named: Iterable[Any] = ()) -> Cited:
    """The answer with its places: those in its text, and those that were named beside it."""
    found: dict[Citation, None] = {}
    places = list(named)
    struck = max(0, len(places) - MOST)
    for place in places[:MOST]:
        citation = citation_of(books, place)
        if citation is None:
            struck += 1
        else:
            found[citation] = None

    def seen(match: re.Match[str]) -> str:
        nonlocal struck
        if not (_is_meant(match) or _is_nowhere(books, match)):
            return match[0]
        citation = _from_match(books, match)
        if citation is None:
            struck += 1
            return STRUCK
        found[citation] = None
        return match[0]

    text = IN_TEXT.sub(seen, text)
    return Cited(text, tuple(found), struck)


def _is_meant(match: re.Match[str]) -> bool:
    """Whether a text names a place there: `L2` alone may be a cache."""
    session, letter, _, end = match.groups()
    is_range = end is not None and match[0].count(letter) > 1  # an `E5-2680` is a processor
    if session is not None or is_range:
        return True
    text, start, end = match.string, match.start(), match.end()
    before = text[max(0, start - NEAR) : start].rstrip()[-1:]
    after = text[end : end + NEAR].lstrip()[:1]
    return bool(before and before in "[(,;" and after and after in "]),;")


def _is_nowhere(books: Sequence[Pages], match: re.Match[str]) -> bool:
    """Whether a line is named alone that no session has: a number so large is no cache."""
    start = int(match[3])
    return start >= LEAST_NOWHERE and all(
        match[2] == pages.letter and start > pages.last for pages in books
    )


def citation_of(books: Sequence[Pages], place: Any) -> Citation | None:
    """A place as models write it: `L12-L15`, `[12, 15]`, or an object with start and end."""
    if isinstance(place, str):
        match = IN_TEXT.fullmatch(place.strip().strip("[]()"))
        return None if match is None else _from_match(books, match)
    if isinstance(place, (list, tuple)) and len(place) == 2:
        place = {"start": place[0], "end": place[1]}
    if not isinstance(place, dict):
        return None
    start = place.get("start", place.get("first"))
    end = place.get("end", place.get("last", start))
    session = place.get("session")
    return _there(books, session if isinstance(session, str) else None, start, end)


def _from_match(books: Sequence[Pages], match: re.Match[str]) -> Citation | None:
    session, letter, start, end = match.groups()
    pages = book(books, session)
    if pages is None or letter != pages.letter:
        return None
    return _there(books, session, int(start), int(end or start))


def _there(books: Sequence[Pages], session: str | None, start: Any, end: Any) -> Citation | None:
    pages = book(books, session)
    is_numbers = all(type(number) is int for number in (start, end))
    if pages is None or not is_numbers or not pages.has(start, end):
        return None
    return Citation(pages.id, start, end, pages.unit)


def book(books: Sequence[Pages], session: str | None) -> Pages | None:
    """The session that is meant: by its id, the beginning of it, or its number; else the only."""
    if session is None or not session:
        return books[0] if len(books) == 1 else None
    for pages in books:
        if pages.id == session:
            return pages
    if len(session) < 6 and session.isdecimal() and 1 <= int(session) <= len(books):
        return books[int(session) - 1]
    begins = [pages for pages in books if pages.id.startswith(session)]
    return begins[0] if len(begins) == 1 else None
