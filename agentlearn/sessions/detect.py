"""Which dialect a file is written in: a vote over its first objects.

The order is magic bytes, then one JSON value, then lines. File names decide nothing. Detection
looks at decoded values only and never at what they say; a file it does not know is described in
a sentence, so that the person learns what was found and what is read.
"""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec

from agentlearn.sessions import document, look
from agentlearn.sessions.lines import salvage
from agentlearn.sessions.source import SQLITE, ZIP, Stream

HEAD = 64 * 1024
MOST_HEAD = 16 * 1024 * 1024
MOST_OBJECTS = 40
CLEAR = 8
"""So many objects, with so many votes for the same dialect, decide it; most files need no more."""
CUT_VALUES = {".", "-", "e", "E", "e+", "e-", "E+", "E-"} | {
    word[:length]
    for word in ("true", "false", "null", "NaN", "Infinity", "-Infinity")
    for length in range(len(word))
}
"""How a number or a word begins that is not all there; or not even its beginning is."""

Layout = Literal["lines", "document", "zip", "sqlite"]


class Detected(msgspec.Struct, frozen=True):
    layout: Layout
    dialect: str | None
    """None for what is no transcript."""
    why_not: str = ""
    """What it looks like instead."""
    sidecar: bool = False
    """It belongs to a transcript but is none: labels, state, metadata."""
    damaged: bool = False
    """Nobody can tell what it was: it is cut off."""


def detect(stream: Stream) -> Detected:
    if _is_native_head(stream.peek(HEAD, until=b"\n").partition(b"\n")[0]):
        return Detected("lines", "native")
    head = stream.peek(HEAD)
    if head.startswith(ZIP):
        return Detected("zip", "inspect")
    if head.startswith(SQLITE):
        return Detected("sqlite", "opencode")
    if not head.strip():
        return Detected("lines", None, stream.broken or "it is empty")
    if head[:1024].count(b"\x00") * 16 > len(head[:1024]):  # a few are a damaged line
        return Detected("lines", None, "it looks like a binary file")
    found = first_objects(stream)
    if not found.objects and _is_binary(head):
        return Detected("lines", None, "it looks like a binary file")
    if found.one_value:
        document = _as_document(stream)
        if document is not None:
            if document.dialect is None and b"\n" not in stream.peek(HEAD).strip():
                only_line = _as_lines(found.objects)
                if only_line.dialect is not None and not document.sidecar:
                    return only_line
            return document
        if _may_go_on(stream.peek_all()):
            why = "it looks like one JSON value that is cut off"
            return Detected("document", None, why, damaged=True)
    return _as_lines(found.objects)


def _is_native_head(row: bytes) -> bool:
    """Whether a first line is one of ours: then nothing else need be waited for.

    A session that is one object with all its turns may be a document, and is looked at as such.
    """
    if b'"agentlearn-session/' not in row:
        return False
    try:
        value = msgspec.json.decode(row)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False
    if not isinstance(value, dict) or "turns" in value:
        return False
    return [dialect for dialect, _ in look.at_line(value)] == ["native"]


def _is_binary(head: bytes) -> bool:
    """Whether bytes are no text: too many of them are no characters, or control the terminal."""
    text = head[:4096].decode("utf-8", "replace")
    strange = sum(1 for c in text if c == "\ufffd" or (c < " " and c not in "\t\n\r\x1b"))
    return strange * 10 > len(text)


class _Objects(msgspec.Struct):
    objects: list[dict[str, Any]]
    one_value: bool
    """The file may be one JSON value: it is a single line, or its first line is not whole."""


def first_objects(stream: Stream) -> _Objects:
    """The objects of the first lines; more bytes are taken until some line is whole."""
    size = HEAD
    while True:
        head = stream.peek(size)
        whole = len(head) < size
        rows = head.split(b"\n")
        if not whole:
            rows.pop()
        rows = [row for row in rows if row.strip()]
        found: list[dict[str, Any]] = []
        # All of the first bytes are looked through; of more, there may be very many lines.
        for row in rows if size == HEAD else rows[: 2 * MOST_OBJECTS]:
            if b"{" in row:
                found += _objects_of(row)
            if len(found) >= MOST_OBJECTS or (
                len(found) in (CLEAR, 2 * CLEAR) and _is_clear(found)
            ):
                break
        if whole or len(found) >= 3 or size >= MOST_HEAD or len(rows) > MOST_OBJECTS:
            first = (rows[0] if rows else head).lstrip(b"\xef\xbb\xbf \t\r\n")
            open_ended = first[:1] in (b"{", b"[") and not (rows and _is_whole(first))
            open_ended = open_ended and _may_go_on(head)
            return _Objects(found[:MOST_OBJECTS], open_ended or (whole and len(rows) == 1))
        size *= 4


def _may_go_on(data: bytes) -> bool:
    """Whether this is the start of one JSON object or list: it breaks at its end, if it breaks.

    A first line that is damaged must not bring all of a large file into memory.
    """
    text = data.decode("utf-8", "replace").strip("\ufeff \t\r\n")
    if not text.startswith(("{", "[")):
        return False
    try:
        json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        rest = text[error.pos :]
        is_cut_escape = error.msg.startswith("Invalid \\u") and len(rest) < len("\\u0000")
        return error.msg.startswith("Unterminated") or rest in CUT_VALUES or is_cut_escape
    except (ValueError, RecursionError):
        pass
    return True


def _is_clear(found: list[dict[str, Any]]) -> bool:
    votes = [vote for value in found for vote in look.at_line(value)]
    return len({name for name, _ in votes}) == 1 and sum(weight for _, weight in votes) >= CLEAR


def _is_whole(row: bytes) -> bool:
    """Whether a line holds an object by itself (a list on the first line is the whole file)."""
    return row[:1] == b"{" and bool(_objects_of(row))


def _objects_of(row: bytes) -> list[dict[str, Any]]:
    try:
        value = msgspec.json.decode(row)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return salvage(row, 0, _ignore)
    return [value] if isinstance(value, dict) else []


def _ignore(line: int, reason: str) -> None:
    pass


def _as_document(stream: Stream) -> Detected | None:
    """What one JSON value is, by the keys at its top; None if it is no JSON value."""
    data = stream.peek_all()
    try:
        value = document.decoded(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    if isinstance(value, dict):
        dialect, sidecar = look.at_object(value)
        seen = f"one JSON object with the keys {_names(list(value))}"
    else:
        dialect, sidecar = look.at_list(value)
        seen = f"a JSON list of {len(value)} elements"
    return Detected("document", dialect, f"it looks like {seen}", sidecar)


def _as_lines(found: list[dict[str, Any]]) -> Detected:
    votes: dict[str, int] = {}
    for value in found:
        for dialect, weight in look.at_line(value):
            votes[dialect] = votes.get(dialect, 0) + weight
    if votes:
        return Detected("lines", max(votes, key=lambda name: votes[name]))
    if not found:
        return Detected("lines", None, "it looks like plain text")
    keys = list(dict.fromkeys(key for value in found for key in value))
    return Detected("lines", None, f"it looks like JSON lines with the keys {_names(keys)}")


def _names(keys: list[str]) -> str:
    shown = ", ".join(key[:30] for key in keys[:6])
    return (shown or "(none)") + (", …" if len(keys) > 6 else "")
