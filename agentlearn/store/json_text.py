"""Members of a JSON object, set and removed in its text: all that stands around them stays.

For settings that a person wrote: their order, indentation, line ends and numbers are theirs. The
text must be JSON, which the caller has seen to.
"""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct

SPACE = re.compile(r"[ \t\r\n]*")
INDENT = re.compile(r"^([ \t]+)\S", re.MULTILINE)
DECODER = json.JSONDecoder()


class Style(Struct, frozen=True):
    indent: str
    newline: str
    """Empty where all of it stands on one line."""


class Span(Struct, frozen=True):
    """Where a member stands."""

    start: int
    value: int
    end: int


def style_of(text: str) -> Style:
    found = INDENT.search(text)
    is_one_line = "\n" not in text.strip() and bool(spans_of(text))
    newline = "" if is_one_line else "\r\n" if "\r\n" in text else "\n"
    return Style(found[1] if found else "  ", newline)


def spans_of(text: str) -> dict[str, Span]:
    """The members of an object, in their order."""
    spans = {}
    at = _skip(text, text.index("{") + 1)
    while text[at] != "}":
        key, end = DECODER.raw_decode(text, at)
        value = _skip(text, _skip(text, end) + 1)
        spans[key] = Span(at, value, DECODER.raw_decode(text, value)[1])
        at = _skip(text, spans[key].end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return spans


def _skip(text: str, at: int) -> int:
    found = SPACE.match(text, at)
    return found.end() if found else at


def set_member(text: str, key: str, value: Any, style: Style, depth: int) -> str:
    """The object with a member of this value, in its old place or at the end.

    `depth` is how many objects deep its members stand.
    """
    spans = spans_of(text)
    written = _written(value, style, depth)
    if key in spans:
        return text[: spans[key].value] + written + text[spans[key].end :]
    inner, outer = _break(style, depth), _break(style, depth - 1)
    member = f"{json.dumps(key)}: {written}"
    if spans:
        last = list(spans.values())[-1].end
        return f"{text[:last]},{inner or ' '}{member}{text[last:]}"
    start, end = text.index("{") + 1, text.rindex("}")
    return f"{text[:start]}{inner}{member}{outer}{text[end:]}"


def _break(style: Style, depth: int) -> str:
    return style.newline + style.indent * depth if style.newline else ""


def remove_member(text: str, key: str) -> str:
    """The object without a member that it has."""
    spans = list(spans_of(text).items())
    at = [name for name, _ in spans].index(key)
    span = spans[at][1]
    if at + 1 < len(spans):
        return text[: span.start] + text[spans[at + 1][1].start :]
    if at:
        return text[: spans[at - 1][1].end] + text[span.end :]
    return text[: text.index("{") + 1] + text[text.rindex("}") :]


def _written(value: Any, style: Style, depth: int) -> str:
    if not style.newline:
        return json.dumps(value, ensure_ascii=False)
    text = json.dumps(value, ensure_ascii=False, indent=style.indent)
    return text.replace("\n", style.newline + style.indent * depth)
