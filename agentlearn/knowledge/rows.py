"""Items as rows of the base, and rows as items again."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import structs

from agentlearn.knowledge.values import Item

COLUMNS = (
    *("number", "kind", "subject", "predicate", "object", "body", "scope", "confidence", "source"),
    *("evidence", "created", "last_used", "uses", "verified"),
)


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def merged(known: Item, item: Item) -> Item:
    return structs.replace(
        known,
        confidence=max(known.confidence, item.confidence),
        evidence=tuple(dict.fromkeys([*known.evidence, *item.evidence]))[-20:],
        uses=max(known.uses, item.uses),
        last_used=max(filter(None, (known.last_used, item.last_used)), default=None),
        verified=known.verified or item.verified,
        source="person" if item.source == "person" else known.source,
        body=_counted(known.body, item.body),
    )


def _counted(known: dict[str, Any] | None, item: dict[str, Any] | None) -> dict[str, Any] | None:
    """The larger number of times, and a rate where either knows one."""
    if known is None or item is None:
        return item or known
    body = {**known, **{key: value for key, value in item.items() if value is not None}}
    if "occurrences" in known:
        body["occurrences"] = max(known["occurrences"], item.get("occurrences", 1))
    return body


def row_of(item: Item) -> tuple[Any, ...]:
    body = None if item.body is None else msgspec.json.encode(item.body).decode()
    evidence = msgspec.json.encode(item.evidence).decode() if item.evidence else None
    return (
        number_of(item.id), item.kind, item.subject, item.predicate, item.object, body, item.scope,
        item.confidence, item.source, evidence, item.created, item.last_used, item.uses,
        int(item.verified), topic_number(item),
    )  # fmt: skip


def number_of(id: str) -> int:
    return int(id, 16)


def topic_number(item: Item) -> int | None:
    """A short number for a long text; that two are the same is seen by the text."""
    topic = item.topic
    return zlib.crc32(topic.encode("utf-8", "replace")) if topic else None


def text_of(row: Sequence[Any]) -> str:
    """The text of an item, without making the item of the row: most are looked at only once."""
    kind, subject, predicate, object = row[1:5]
    return f"{subject} {predicate} {object}" if kind == "fact" else item_of(row).text


def item_of(row: Sequence[Any]) -> Item:
    """An item of a row, which may have more at its end."""
    (number, kind, subject, predicate, object, body, scope, confidence, source,
     evidence, created, last_used, uses, verified) = row[: len(COLUMNS)]  # fmt: skip
    return Item(
        id=f"{number:012x}",
        kind=kind,
        subject=str(subject),
        predicate=str(predicate),
        object=str(object),
        body=None if body is None else msgspec.json.decode(body),
        scope=scope,
        confidence=float(confidence),
        source=source,
        evidence=tuple(msgspec.json.decode(evidence)) if evidence else (),
        created=str(created),
        last_used=last_used,
        uses=int(uses),
        verified=bool(verified),
    )
