"""Files that are one JSON value: their parts, numbered, each with its own bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import Warn, decoder, loosened, salvage
from agentlearn.sessions.source import Source

T = TypeVar("T")
Fields = dict[str, Raw]
BOM = b"\xef\xbb\xbf"


def load(source: Source) -> Fields | list[Raw]:
    """The value of a file, its parts still undecoded. Detection has seen that it parses."""
    return decoded(source.stream.read())


def decoded(data: bytes) -> Fields | list[Raw]:
    """The parts of a JSON value; raises MsgspecError for what is none."""
    data = data.removeprefix(BOM)
    try:
        return msgspec.json.decode(data, type=Fields | list[Raw])
    except (msgspec.MsgspecError, UnicodeError):
        return msgspec.json.decode(_mended(data), type=Fields | list[Raw])


def strict(data: bytes) -> bytes:
    """JSON that every decoder takes, where that is possible."""
    data = data.removeprefix(BOM)
    try:
        msgspec.json.decode(data, type=Raw)
    except (msgspec.MsgspecError, UnicodeError):
        return _mended(data)
    return data


def _mended(data: bytes) -> bytes:
    """What Python writes though it is no JSON: NaN is null, half an emoji is U+FFFD."""
    try:
        text = data.decode("utf-8", "replace")
        value = json.loads(text, strict=False, parse_constant=lambda name: None)
        text = json.dumps(value, ensure_ascii=False)
    except (ValueError, RecursionError):
        return data
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def as_object(value: Fields | list[Raw]) -> Fields:
    return value if isinstance(value, dict) else {}


def value_of(raw: Any) -> Any:
    """A part as plain Python values; None where it is missing or cannot be decoded."""
    if not raw:
        return None
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        pass
    try:
        return msgspec.json.decode(_mended(bytes(raw)))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def text_of(raw: Raw | None) -> str | None:
    """A part that is a non-empty string, else None."""
    value = value_of(raw)
    return value if isinstance(value, str) and value else None


def items(raw: Raw | None) -> list[Raw]:
    """The elements of a part that is a list; none if it is not."""
    if not raw:
        return []
    try:
        return msgspec.json.decode(raw, type=list[Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return []


def fields(raw: Raw | None) -> Fields:
    """The fields of a part that is an object; none if it is not."""
    if not raw:
        return {}
    try:
        return msgspec.json.decode(raw, type=Fields)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}


def numbered(
    raws: list[Raw],
    kind: type[T],
    draft: Draft,
    line: int | None = None,
    warn: Warn | None = None,
) -> Iterator[tuple[int, T]]:
    """Each element as a `kind` with its number from 1. The draft keeps the bytes as evidence.

    Where the whole list stands on one line of a file, that line is the number of each.
    """
    decode = decoder(kind).decode
    for place, raw in enumerate(raws, start=1):
        number = line or place
        if line is None:
            draft.raws.append(raw)
        try:
            yield number, decode(raw)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            for value in salvage(bytes(raw), number, warn or draft.warn):
                yield number, loosened(value, kind)
