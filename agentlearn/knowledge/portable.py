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
from agentlearn.guard.orders import first_with_order
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
    checked_confidence,
    checked_scope,
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
    text: Any = None
    """As `recall --json` has it: it says nothing that the others do not."""
    kind: Kind = "fact"
    subject: str = ""
    name: str = ""
    """Of a procedure or a pattern, as its file has it, with its other fields beside it."""
    predicate: str = ""
    object: str = ""
    body: dict[str, Any] | None = None
    steps: list[Any] | None = None
    before: list[str] | None = None
    after: list[str] | None = None
    success_rate: float | None = None
    conditions: list[str] | None = None
    outcomes: list[str] | None = None
    occurrences: int | None = None
    scope: str | None = None
    confidence: float | None = None
    source: Source | None = None
    evidence: tuple[str, ...] = ()
    created: str = ""
    last_used: str | None = None
    uses: int = 0
    verified: bool = False


PARTS = ("steps", "before", "after", "success_rate", "conditions", "outcomes", "occurrences")
GIVEN = msgspec.json.Decoder(Given)


def line_of(item: Item) -> bytes:
    values = {key: value for key, value in msgspec.to_builtins(item).items() if value is not None}
    return msgspec.json.encode(values) + b"\n"


def items_in(lines: Iterable[bytes], **otherwise: Any) -> Iterator[Item]:
    """The items of JSON lines; BadInput with the number of the first line that is wrong.

    `otherwise` are the fields of those that do not say them: confidence, scope, source.
    """
    at = now()
    batch: list[tuple[int, Item]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            batch.append((number, _item(GIVEN.decode(line), at, otherwise)))
        except BadInput as error:
            raise BadInput(f"line {number}: {error.message}") from None
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
            raise BadInput(f"line {number}: {sentence_of(error)}") from None
        if len(batch) == BATCH:
            yield from _clean(batch)
            batch = []
    yield from _clean(batch)


def _clean(batch: list[tuple[int, Item]]) -> Iterator[Item]:
    """Many are looked at together: one by one it would take longer than storing them."""
    texts = "\n".join([_all_text(item) for _, item in batch])
    if has_secret(texts) or has_hidden(texts) or _may_name_secrets(batch):
        for number, item in batch:
            if has_secret(f"{_all_text(item)}\n{item.predicate}={item.object}"):
                raise BadInput(f"line {number} holds something that looks like a secret")
            if has_hidden(_all_text(item)):
                raise BadInput(f"line {number} holds characters that nobody sees")
    first = first_with_order([_all_text(item) for _, item in batch])
    if first is not None:
        raise BadInput(f"line {batch[first][0]} reads like an order to whoever reads it")
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
        return _item(msgspec.convert(value, Given), now(), {})
    except msgspec.ValidationError as error:
        raise BadInput(sentence_of(error)) from None


def _item(given: Given, at: str, otherwise: dict[str, Any]) -> Item:
    confidence = given.confidence
    if confidence is None:
        confidence = otherwise.get("confidence", 0.8)
    checked_confidence(confidence)
    if not 0 <= given.uses < 2**53:
        raise BadInput("uses is a number of times")
    if given.created or given.last_used:
        _check_times(given)
    scope = otherwise.get("scope", "") if given.scope is None else given.scope
    about = {
        "scope": checked_scope(scope) if scope else "",
        "confidence": confidence,
        "source": given.source or otherwise.get("source", "import"),
        "evidence": given.evidence,
        "created": given.created or at,
        "last_used": given.last_used,
        "uses": given.uses,
        "verified": given.verified,
    }
    return _fact(given, about) if given.kind == "fact" else _with_body(given, about)


def _fact(given: Given, about: dict[str, Any]) -> Item:
    subject, predicate, object = given.subject, given.predicate, given.object
    text = f"{subject}{predicate}{object}"
    if "\n" in text or "\0" in text:
        raise BadInput("subject, predicate and object are one line each")
    if len(text) > MOST_PREDICATE:  # or all of them are short enough
        _check_lengths(given)
    if given.body is not None or given.name or given.steps is not None:
        raise BadInput("a fact has no body")
    if not (subject.strip() and predicate.strip() and object.strip()):
        raise BadInput("subject, predicate and object of a fact say something")
    return Item(
        id=id_of("fact", about["scope"], subject, predicate, object),
        kind="fact",
        subject=subject,
        predicate=predicate,
        object=object,
        **about,
    )


def _with_body(given: Given, about: dict[str, Any]) -> Item:
    """A procedure or a pattern, with the checks of `remember`."""
    if given.predicate or given.object:
        raise BadInput(f"a {given.kind} has a body, not a predicate and an object")
    name = given.subject or given.name
    beside = {key: value for key in PARTS if (value := getattr(given, key)) is not None}
    body = {**(given.body or {}), **beside}
    if body.get("name", name) != name or given.name not in ("", name):
        raise BadInput(f"the name in the body of the {given.kind} is not its subject")
    if isinstance(body.get("steps"), list):
        body["steps"] = steps_of(body["steps"])
    value = {**body, "name": name}
    if given.kind == "procedure":
        return procedure(msgspec.convert(value, Procedure), **about)
    return pattern(msgspec.convert(value, Pattern), **about)


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


def sentence_of(error: Exception) -> str:
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


def steps_of(values: Iterable[Any]) -> list[Any]:
    """Steps as people write them: a line each, or with what to expect."""
    return [{"do": value} if isinstance(value, str) else value for value in values]


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
