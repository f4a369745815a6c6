"""JSON lines, read fast and forgivingly.

One buffer is reused for the whole file and each line is decoded in place, straight into the
fields that a reader asks for: that is what makes this faster than parsing everything. A line the
decoder refuses is looked at again, slowly: two objects glued together, junk before the first
brace, an unexpected type in one field or a broken character must not cost the line. What still
cannot be read is reported with its number and skipped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from agentlearn.sessions.source import Stream

BUFFER = 256 * 1024
OPENING, CLOSING = b"{}"
MAX_LINE = 256 * 1024 * 1024
JUNK = 200
"""So many characters may stand before the first brace of a line."""

T = TypeVar("T")
Warn = Callable[[int, str], None]


class Block(Struct, gc=False):
    """The lines that one look into the buffer holds. It is only good until the next one."""

    number: int
    """That of the first line."""
    view: memoryview
    bounds: list[int]
    """Where each line begins, and where one after the last would."""
    is_plain: bool
    """Every line begins and ends as an object does."""

    def rows(self) -> list[memoryview]:
        """The lines without their ends."""
        view = self.view
        return [view[start : end - 1] for start, end in pairwise(self.bounds)]


def lines(stream: Stream) -> Iterator[tuple[int, memoryview]]:
    """Each line with its number, without its end. The view is only good until the next one."""
    for block in blocks(stream):
        yield from enumerate(block.rows(), block.number)


def blocks(stream: Stream) -> Iterator[Block]:
    """Many lines at a time: handing on every line by itself takes longer than finding it."""
    buffer = bytearray(BUFFER)
    view = memoryview(buffer)
    have, number = 0, 1
    while True:
        got = stream.readinto(view[have:])
        end = have + got
        if not got:
            if have:
                yield Block(number, view, [0, have + 1], False)
            return
        bounds, is_plain = line_bounds(buffer, have, end)
        if len(bounds) > 1:
            yield Block(number, view, bounds, is_plain)
        number += len(bounds) - 1
        start = bounds[-1]
        have = end - start
        if start:
            view[:have] = bytes(view[start:end])
        elif have == len(buffer):
            if have >= MAX_LINE:
                raise LineTooLong(number)
            bigger = bytearray(2 * len(buffer))
            bigger[:have] = buffer
            buffer, view = bigger, memoryview(bigger)


def line_bounds(
    buffer: bytearray, searched: int, filled: int, limit: int = MAX_LINE * 2
) -> tuple[list[int], bool]:
    """Where the whole lines begin that begin before the limit, and where the last one ends; and
    whether all of them begin and end as objects do.
    """
    bounds = [0]
    start, is_plain = 0, True
    newline = buffer.find(b"\n", searched, filled)
    while newline >= 0:
        if buffer[start] != OPENING or buffer[newline - 1] != CLOSING:
            is_plain = False
        start = newline + 1
        bounds.append(start)
        if start >= limit:
            break
        newline = buffer.find(b"\n", start, filled)
    return bounds, is_plain


def decoded_at_once(kind: type[T], view: memoryview, bounds: list[int]) -> list[T] | None:
    """Plain lines decoded all at once, which is faster than one by one; None if one is odd.

    The decoder takes a newline for any other white space. But every line begins and ends as an
    object does, so there are as many objects as lines only if each line is one.
    """
    try:
        found = decoder(kind).decode_lines(view[: max(bounds[-1], 1) - 1])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
    return found if len(found) == len(bounds) - 1 else None


_DECODERS: dict[Any, Any] = {}


def decoder(kind: type[T]) -> msgspec.json.Decoder[T]:
    """Making a decoder takes longer than reading a small file, so each is made once."""
    made = _DECODERS.get(kind)
    if made is None:
        made = _DECODERS[kind] = msgspec.json.Decoder(kind)
    return made


class LineTooLong(Exception):
    """A line that no transcript has; reading on would only fill the memory."""

    def __init__(self, number: int) -> None:
        super().__init__(f"line {number} is longer than {MAX_LINE // 1024 // 1024} MB")
        self.number = number


def objects(stream: Stream, kind: type[T], warn: Warn) -> Iterator[tuple[int, T]]:
    """Each object of the file with its line number, as a `kind` (a msgspec Struct)."""
    try:
        for block in blocks(stream):
            found = decoded_at_once(kind, block.view, block.bounds) if block.is_plain else None
            if found is not None:
                yield from enumerate(found, block.number)
            else:
                yield from _one_by_one(block, kind, warn)
    except LineTooLong as error:
        warn(error.number, f"{error}; the rest of the file is not read")
    except OSError as error:
        warn(0, f"the file cannot be read to its end: {error.strerror or error}")
    if stream.broken:
        warn(0, stream.broken)


def _one_by_one(block: Block, kind: type[T], warn: Warn) -> Iterator[tuple[int, T]]:
    decode = decoder(kind).decode
    for number, raw in enumerate(block.rows(), block.number):
        try:
            yield number, decode(raw)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            for value in salvage(bytes(raw), number, warn):
                try:
                    found = loosened(value, kind)
                except RecursionError as error:
                    warn(number, _reason(error))
                else:
                    yield number, found


def salvage(raw: bytes, number: int, warn: Warn) -> list[dict[str, Any]]:
    """All objects of a line that did not decode as one object; the rest of it is reported."""
    text = raw.decode("utf-8", "replace").lstrip("\ufeff").strip()
    halves = "\\ud" in text or "\\uD" in text
    if not text:
        return []
    found: list[dict[str, Any]] = []
    position = text.find("{", 0, JUNK)
    if position < 0:
        warn(number, "not a JSON object" if _is_json(text) else "not JSON")
        return found
    reason = ""
    while 0 <= position < len(text):
        try:
            value, position = _LOOSE.raw_decode(text, position)
            value = _without_halves(value) if halves else value
        except (ValueError, RecursionError) as error:
            reason = _reason(error)
            break
        if isinstance(value, dict):
            found.append(value)
        position = _next_object(text, position)
    if reason:
        warn(number, reason if not found else f"the end of the line is lost: {reason}")
    return found


def _without_halves(value: Any) -> Any:
    """Halves of surrogate pairs become U+FFFD: no encoder takes them."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_without_halves(key): _without_halves(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_halves(item) for item in value]
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _whole_number(text: str) -> Any:
    """Python refuses integers of thousands of digits; they are numbers all the same."""
    return int(text) if len(text) < 4000 else float(text)


_LOOSE = json.JSONDecoder(strict=False, parse_constant=_refuse_constant, parse_int=_whole_number)


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "nested too deeply"
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    return f"not JSON: {error.msg[:1].lower()}{error.msg[1:]}"


def _is_json(text: str) -> bool:
    try:
        _LOOSE.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _next_object(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n,":
        position += 1
    return position


def loosened(value: Any, kind: type[T]) -> T:
    """A struct from a dict whose fields may have other types than expected: those are left out."""
    try:
        return msgspec.convert(value, kind, strict=False)
    except (msgspec.MsgspecError, RecursionError):
        pass
    fields: dict[str, Any] = {}
    for name, encoded, wanted in _fields_of(kind):
        if encoded in value:
            fitting = _fitting(value[encoded], wanted)
            if fitting is not _MISFIT:
                fields[name] = fitting
    return kind(**fields)


_FIELDS: dict[Any, list[tuple[str, str, Any]]] = {}


def _fields_of(kind: Any) -> list[tuple[str, str, Any]]:
    """Name, name in JSON and type of each field; looking them up is slow, so once."""
    if kind not in _FIELDS:
        found = msgspec.structs.fields(kind)
        _FIELDS[kind] = [(info.name, info.encode_name, info.type) for info in found]
    return _FIELDS[kind]


_MISFIT = object()


def _fitting(value: Any, wanted: Any) -> Any:
    """The value as the wanted type; parts of it that do not fit are dropped, not the whole."""
    try:
        return msgspec.convert(value, wanted)
    except (msgspec.MsgspecError, RecursionError, TypeError):
        pass
    for option in _options(wanted):
        if option is msgspec.Raw:
            return msgspec.Raw(msgspec.json.encode(value))
        origin = getattr(option, "__origin__", option)
        if (
            isinstance(value, dict)
            and isinstance(option, type)
            and issubclass(option, msgspec.Struct)
        ):
            return loosened(value, option)
        if isinstance(value, list) and origin is list:
            inner = option.__args__[0] if getattr(option, "__args__", None) else Any
            kept = [_fitting(item, inner) for item in value]
            return [item for item in kept if item is not _MISFIT]
    return _MISFIT


def _options(wanted: Any) -> tuple[Any, ...]:
    """The members of a union, or the type itself."""
    args = getattr(wanted, "__args__", ())
    is_union = args and getattr(wanted, "__origin__", None) not in (list, dict, tuple)
    return tuple(args) if is_union else (wanted,)
