"""JSON lines out and in, with every field; and what has not been of use for long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from msgspec import Struct

from agentlearn.errors import BadInput
from agentlearn.guard import plain
from agentlearn.guard.hidden import has_hidden
from agentlearn.guard.orders import has_order
from agentlearn.guard.secrets import has_secret
from agentlearn.knowledge.rows import now
from agentlearn.knowledge.values import (
    KINDS,
    MOST_NAME,
    MOST_PREDICATE,
    MOST_TEXT,
    SOURCES,
    Item,
    Kind,
    Pattern,
    Procedure,
    Source,
    Step,
    checked_confidence,
    id_of,
    pattern,
    procedure,
)

BATCH = 2000
UNUSED_DAYS, LOW_CONFIDENCE = 90, 0.5
LIKE_A_SECRET = "q7Xv2Lp9Zt4Kd8Rw3Ns6"
WRONG_TYPE = re.compile(r"Expected `(?P<wanted>.+?)`, got `(?P<got>.+?)`(?: - at `(?P<place>.+)`)?")
UNKNOWN_FIELD = re.compile(r"Object contains unknown field `(.*?)`", re.DOTALL)
MISSING_FIELD = re.compile(r"Object missing required field `(\w+)`")
WRONG_VALUE = re.compile(r"Invalid enum value (.+) - at `\$\.(?P<place>\w+)`\Z", re.DOTALL)
WORDS_FOR_TYPES = {
    "str": "text", "int": "a whole number", "float": "a number", "bool": "true or false",
    "null": "nothing", "array": "a list", "object": "an object",
}  # fmt: skip


class Given(Struct, kw_only=True, forbid_unknown_fields=True, gc=False):
    """A line as it comes: the fields of an item, most of which may be left out."""

    id: Any = None
    kind: Kind = "fact"
    subject: str
    predicate: str = ""
    object: str = ""
    body: dict[str, Any] | None = None
    scope: str = ""
    confidence: float = 0.8
    source: Source = "import"
    evidence: tuple[str, ...] = ()
    created: str = ""
    last_used: str | None = None
    uses: int = 0
    verified: bool = False


GIVEN = msgspec.json.Decoder(Given)


def line_of(item: Item) -> bytes:
    values = {key: value for key, value in msgspec.to_builtins(item).items() if value is not None}
    return msgspec.json.encode(values) + b"\n"


def items_in(lines: Iterable[bytes], refuse_orders: bool = False) -> Iterator[Item]:
    """The items of JSON lines; BadInput with the number of the first line that is wrong.

    Planted orders are looked for when an item is read, wherever it came from: to do it here too
    takes ten times as long as all the rest.
    """
    at = now()
    batch: list[tuple[int, Item]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            batch.append((number, _item(GIVEN.decode(line), at)))
        except BadInput as error:
            raise BadInput(f"line {number}: {error.message}") from None
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise BadInput(f"line {number}: {_sentence(error)}") from None
        if len(batch) == BATCH:
            yield from _clean(batch, refuse_orders)
            batch = []
    yield from _clean(batch, refuse_orders)


def _clean(batch: list[tuple[int, Item]], refuse_orders: bool) -> Iterator[Item]:
    """Many are looked at together: one by one it would take longer than storing them."""
    texts = "\n".join([_all_text(item) for _, item in batch])
    if has_secret(texts) or has_hidden(texts) or _may_name_secrets(batch):
        for number, item in batch:
            if has_secret(f"{_all_text(item)}\n{item.predicate}={item.object}"):
                raise BadInput(f"line {number} holds something that looks like a secret")
            if has_hidden(_all_text(item)):
                raise BadInput(f"line {number} holds characters that nobody sees")
    if refuse_orders:
        for number, item in batch:
            if has_order(_all_text(item)):
                raise BadInput(f"line {number} reads like an order to whoever reads it")
    yield from (item for _, item in batch)


def _all_text(item: Item) -> str:
    if not item.scope and not item.evidence:
        return item.text
    return "\n".join([item.text, item.scope, *item.evidence])


def _may_name_secrets(batch: list[tuple[int, Item]]) -> bool:
    """Whether a predicate is a name for secrets, such as `password`."""
    names = {item.predicate for _, item in batch}
    return has_secret("\n".join([f"{name}={LIKE_A_SECRET}" for name in names]))


def item_from(value: Any) -> Item:
    """An item from its fields; its id is worked out, not believed."""
    try:
        return _item(msgspec.convert(value, Given), now())
    except msgspec.ValidationError as error:
        raise BadInput(_sentence(error)) from None


def _item(given: Given, at: str) -> Item:
    checked_confidence(given.confidence)
    if not 0 <= given.uses < 2**53:
        raise BadInput("uses is a number of times")
    if given.created or given.last_used:
        _check_times(given)
    if given.kind != "fact":
        return _item_with_body(given, at)
    subject, predicate, object = given.subject, given.predicate, given.object
    text = f"{subject}{predicate}{object}"
    if "\n" in text or "\0" in text:
        raise BadInput("subject, predicate and object are one line each")
    if len(text) > MOST_PREDICATE:  # or all of them are short enough
        _check_lengths(given)
    if given.body is not None:
        raise BadInput("a fact has no body")
    if not (subject.strip() and predicate.strip() and object.strip()):
        raise BadInput("subject, predicate and object of a fact say something")
    return Item(
        id=id_of("fact", given.scope, subject, predicate, object),
        kind="fact",
        subject=subject,
        predicate=predicate,
        object=object,
        scope=given.scope,
        confidence=given.confidence,
        source=given.source,
        evidence=given.evidence,
        created=given.created or at,
        last_used=given.last_used,
        uses=given.uses,
        verified=given.verified,
    )


def _item_with_body(given: Given, at: str) -> Item:
    """A procedure or a pattern, with the checks of `remember`."""
    if given.predicate or given.object:
        raise BadInput(f"a {given.kind} has a body, not a predicate and an object")
    body = given.body or {}
    if body.get("name", given.subject) != given.subject:
        raise BadInput(f"the name in the body of the {given.kind} is not its subject")
    more: dict[str, Any] = {
        name: getattr(given, name)
        for name in ("scope", "confidence", "source", "evidence", "last_used", "uses", "verified")
    }
    more["created"] = given.created or at
    value = {**body, "name": given.subject}
    if given.kind == "procedure":
        return procedure(msgspec.convert(value, Procedure), **more)
    return pattern(msgspec.convert(value, Pattern), **more)


def _check_lengths(given: Given) -> None:
    most = {"subject": MOST_NAME, "predicate": MOST_PREDICATE, "object": MOST_TEXT}
    for name, chars in most.items():
        found = len(getattr(given, name))
        if found > chars:
            raise BadInput(f"{name} has {found} characters, {chars} are the most")


def _check_times(given: Given) -> None:
    for name in ("created", "last_used"):
        value = getattr(given, name)
        if not value:
            continue
        try:
            datetime.fromisoformat(value)
        except ValueError:
            raise BadInput(f"{name} is a time like 2026-01-31T12:00:00Z") from None


def _sentence(error: Exception) -> str:
    """What msgspec says, in words of this program: `confidence must be a number, not text`."""
    text = str(error)
    if found := WRONG_TYPE.match(text):
        wanted, got = (_in_words(types) for types in found.group("wanted", "got"))
        place = (found["place"] or "").removeprefix("$.")
        return f"{place or 'it'} must be {wanted}, not {got}"
    if found := UNKNOWN_FIELD.match(text):
        return f"unknown field {plain(found[1])[:40]!r}"
    if found := MISSING_FIELD.match(text):
        return f"{found[1]} is missing"
    if found := WRONG_VALUE.match(text):
        allowed = {"kind": KINDS, "source": SOURCES}.get(found["place"], ())
        return f"{found['place']} is one of {', '.join(allowed)}, not {plain(found[1])[:40]}"
    return f"it is no JSON that can be read: {text}"


def _in_words(types: str) -> str:
    """Types as msgspec writes them: `str | null`."""
    return " or ".join(WORDS_FOR_TYPES.get(each, each) for each in types.split(" | "))


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
