"""Files that are one JSON value: their parts, numbered, each with its own bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import decoder, loosened, salvage
from agentlearn.sessions.source import Source

T = TypeVar("T")
Fields = dict[str, Raw]


def load(source: Source) -> Fields | list[Raw]:
    """The value of a file, its parts still undecoded. Detection has seen that it parses."""
    data = source.stream.read()
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    return msgspec.json.decode(data, type=Fields | list[Raw])


def as_object(value: Fields | list[Raw]) -> Fields:
    return value if isinstance(value, dict) else {}


def value_of(raw: Any) -> Any:
    """A part as plain Python values; None where it is missing or cannot be decoded."""
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        found = salvage(bytes(raw), 0, lambda line, reason: None)
        return found[0] if found else None


def text_of(raw: Raw | None) -> str | None:
    """A part that is a non-empty string, else None."""
    value = value_of(raw)
    return value if isinstance(value, str) and value else None


def items(raw: Raw | None) -> list[Raw]:
    """The elements of a part that is a list; none if it is not."""
    if raw is None:
        return []
    try:
        return msgspec.json.decode(raw, type=list[Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return []


def fields(raw: Raw | None) -> Fields:
    """The fields of a part that is an object; none if it is not."""
    if raw is None:
        return {}
    try:
        return msgspec.json.decode(raw, type=Fields)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}


def numbered(raws: list[Raw], kind: type[T], draft: Draft) -> Iterator[tuple[int, T]]:
    """Each element as a `kind` with its number from 1. The draft keeps the bytes as evidence."""
    decode = decoder(kind).decode
    for number, raw in enumerate(raws, start=1):
        draft.raws.append(raw)
        try:
            yield number, decode(raw)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            for value in salvage(bytes(raw), number, draft.warn):
                yield number, loosened(value, kind)
