"""JSON lines out and in, with every field; and what has not been of use for long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec import structs

from agentlearn.errors import BadInput
from agentlearn.guard.hidden import has_hidden
from agentlearn.guard.secrets import has_secret
from agentlearn.knowledge.rows import now
from agentlearn.knowledge.values import (
    KINDS,
    MOST_TEXT,
    SOURCES,
    Item,
    Pattern,
    Procedure,
    Step,
    checked_confidence,
    id_of,
)

BATCH = 500
UNUSED_DAYS, LOW_CONFIDENCE = 90, 0.5


def line_of(item: Item) -> bytes:
    values = {key: value for key, value in msgspec.to_builtins(item).items() if value is not None}
    return msgspec.json.encode(values) + b"\n"


def items_in(lines: Iterable[bytes]) -> Iterator[Item]:
    """The items of JSON lines; BadInput with the number of the first line that is wrong."""
    batch: list[tuple[int, Item]] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                batch.append((number, item_from(msgspec.json.decode(line))))
            except BadInput as error:
                raise BadInput(f"line {number}: {error.message}") from None
            except (msgspec.MsgspecError, UnicodeError, RecursionError, TypeError) as error:
                raise BadInput(f"line {number}: {error}") from None
        if len(batch) == BATCH:
            yield from _clean(batch)
            batch = []
    yield from _clean(batch)


def _clean(batch: list[tuple[int, Item]]) -> Iterator[Item]:
    """Many are looked at together: one by one it would take longer than storing them.

    Planted orders are looked for when an item is read, wherever it came from.
    """
    texts = "\n".join(_all_text(item) for _, item in batch)
    if has_secret(texts) or has_hidden(texts):
        for number, item in batch:
            if has_secret(_all_text(item)):
                raise BadInput(f"line {number} holds something that looks like a secret")
            if has_hidden(_all_text(item)):
                raise BadInput(f"line {number} holds characters that nobody sees")
    yield from (item for _, item in batch)


def _all_text(item: Item) -> str:
    return "\n".join([item.text, item.scope, *item.evidence])


def item_from(value: Any) -> Item:
    """An item from its fields; its id is worked out, not believed."""
    if not isinstance(value, dict):
        raise BadInput("it is no object")
    given = {key: item for key, item in value.items() if key != "id"}
    kind = given.pop("kind", "fact")
    if kind not in KINDS:
        raise BadInput(f"kind is one of {', '.join(KINDS)}, not {str(kind)[:40]!r}")
    unknown = set(given) - set(Item.__struct_fields__)
    if unknown:
        raise BadInput(f"unknown field {sorted(unknown)[0][:40]!r}")
    item = msgspec.convert({"source": "import", **given, "id": "0", "kind": kind}, Item)
    for text in (item.subject, item.predicate, item.object):
        if len(text) > MOST_TEXT or "\0" in text or "\n" in text:
            raise BadInput(f"a field is one line of at most {MOST_TEXT} characters")
    names = (item.subject, item.predicate, item.object) if kind == "fact" else (item.subject,)
    if not all(name.strip() for name in names):
        raise BadInput("subject, predicate and object of a fact, and every name, say something")
    if kind == "procedure":
        msgspec.convert({"name": item.subject, **(item.body or {})}, Procedure)
    elif kind == "pattern":
        msgspec.convert({"name": item.subject, **(item.body or {})}, Pattern)
    checked_confidence(item.confidence)
    if not 0 <= item.uses < 2**53:
        raise BadInput("uses is a number of times")
    if item.source not in SOURCES:
        raise BadInput(f"source is one of {', '.join(SOURCES)}")
    id = id_of(item.kind, item.scope, *names)
    return structs.replace(item, id=id, created=item.created or now())


def steps_of(values: Iterable[Any]) -> tuple[Step, ...]:
    """Steps as people write them: a line each, or with what to expect."""
    return tuple(
        Step(do=value) if isinstance(value, str) else msgspec.convert(value, Step)
        for value in values
    )


def is_worn_out(item: Item, days: float = UNUSED_DAYS, low: float = LOW_CONFIDENCE) -> bool:
    """Unused, unverified and never sure: what decay takes."""
    if item.verified or item.confidence >= low:
        return False
    try:
        last = datetime.fromisoformat(item.last_used or item.created)
        last = last if last.tzinfo else last.replace(tzinfo=UTC)
    except ValueError:
        return False
    return datetime.now(UTC) - last > timedelta(days=days)
