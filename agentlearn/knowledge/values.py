"""Facts, procedures and patterns, checked before they are kept.

What is stored is read by agents in every later session. So nothing secret, nothing hidden and no
order planted by somebody else gets in through these; an import is looked through for the first two,
and whatever is in a base is looked at once more when it is read.
"""

from __future__ import annotations

import hashlib
from typing import Any, Literal

import msgspec
from msgspec import Struct

from agentlearn.errors import BadInput
from agentlearn.guard import plain
from agentlearn.guard.hidden import has_hidden
from agentlearn.guard.orders import has_order
from agentlearn.guard.secrets import has_secret

Kind = Literal["fact", "procedure", "pattern"]
Source = Literal["experience", "person", "review", "import"]
KINDS: tuple[Kind, ...] = ("fact", "procedure", "pattern")
SOURCES: tuple[Source, ...] = ("experience", "person", "review", "import")
CONVENTION = "convention"
MOST_NAME, MOST_PREDICATE, MOST_TEXT, MOST_STEPS = 200, 100, 2000, 50
SEVERAL = {
    *(CONVENTION, "uses", "has", "contains", "includes", "owns", "learned", "wants", "pitfall"),
}
"""Predicates that may well hold for several objects: two of them contradict nothing."""


COUNTED = ("success_rate", "occurrences")
"""Of a procedure or a pattern: what changes with every time."""


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    do: str
    expect: str | None = None
    on_error: str | None = None


class Procedure(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    steps: tuple[Step, ...]
    before: tuple[str, ...] = ()
    """What must hold before."""
    after: tuple[str, ...] = ()
    success_rate: float | None = None


class Pattern(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    conditions: tuple[str, ...]
    outcomes: tuple[str, ...]
    occurrences: int = 1


class Item(Struct, frozen=True, kw_only=True, gc=False):
    """One thing that is known. No item leads back to itself, so none is searched for cycles."""

    id: str
    kind: Kind
    subject: str
    """Of a fact; the name of a procedure or a pattern."""
    predicate: str = ""
    object: str = ""
    body: dict[str, Any] | None = None
    """The rest of a procedure or a pattern."""
    scope: str = ""
    """The folder it holds for, from the project's root; empty: everywhere."""
    confidence: float = 0.8
    source: Source = "experience"
    evidence: tuple[str, ...] = ()
    """Where it was learned, as `session#L12-L20`."""
    created: str = ""
    last_used: str | None = None
    uses: int = 0
    verified: bool = False

    @property
    def text(self) -> str:
        """It in words."""
        if self.kind == "fact":
            return f"{self.subject} {self.predicate} {self.object}"
        return f"{self.subject}: {'; '.join(_texts(self.body))}"

    @property
    def shown(self) -> str:
        """It as a person reads it: the parts of a procedure or a pattern with what they are."""
        if self.kind == "fact" or self.body is None:
            return self.text
        if self.kind == "procedure":
            return f"{self.subject}: {_procedure_shown(self.body)}"
        when, then = (", ".join(_texts(self.body.get(key))) for key in ("conditions", "outcomes"))
        return f"{self.subject}: when {when}, then {then}"

    @property
    def topic(self) -> str:
        """What it speaks of: two that say different things of it contradict each other."""
        predicate = self.predicate.casefold()
        if predicate in SEVERAL:
            return ""
        about = predicate if self.kind == "fact" else f"\0{self.kind}"
        return f"{self.subject.casefold()}\0{about}\0{self.scope}"

    @property
    def claim(self) -> str:
        """What it says of that."""
        return self.object if self.kind == "fact" else self.shown.removeprefix(f"{self.subject}: ")


def _procedure_shown(body: dict[str, Any]) -> str:
    parts = []
    for number, step in enumerate(body.get("steps") or (), 1):
        expect, on_error = step.get("expect"), step.get("on_error")
        more = [f"expect {expect}"] * bool(expect) + [f"on error {on_error}"] * bool(on_error)
        parts.append(f"{number}. {step.get('do')}" + (f" ({', '.join(more)})" if more else ""))
    said = " ".join(parts)
    if before := _texts(body.get("before")):
        said = f"before: {', '.join(before)}; {said}"
    if after := _texts(body.get("after")):
        said = f"{said}; after: {', '.join(after)}"
    return said


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, (list, tuple)):
        return [text for item in value for text in _texts(item)]
    return []


def _key(text: str) -> str:
    return " ".join(text.casefold().split())


def id_of(kind: Kind, scope: str, *parts: str) -> str:
    """The same thing has the same id, however it is written."""
    key = "\0".join([kind, scope, *map(_key, parts)])
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=6).hexdigest()


def fact(
    subject: str,
    predicate: str,
    object: str,
    confidence: float = 0.8,
    scope: str = "",
    source: Source = "experience",
    evidence: tuple[str, ...] = (),
) -> Item:
    subject = checked("subject", subject, MOST_NAME)
    predicate = checked("predicate", predicate, MOST_PREDICATE)
    object = checked("object", object, MOST_TEXT)
    if is_secret_fact(subject, predicate, object):
        raise BadInput("the fact holds something that looks like a secret")
    scope = checked_scope(scope)
    return Item(
        id=id_of("fact", scope, subject, predicate, object),
        kind="fact",
        subject=subject,
        predicate=predicate,
        object=object,
        scope=scope,
        confidence=checked_confidence(confidence),
        source=source,
        evidence=evidence,
    )


def is_secret_fact(subject: str, predicate: str, object: str) -> bool:
    """What no field tells may be told by all of them: `db`, `password`, `hunter2secret99`."""
    forms = (f"{subject} {predicate} {object}", f"{predicate}={object}", f"{subject}={object}")
    return has_secret("\n".join(forms)) and any(map(has_secret, forms))


def procedure(value: Procedure, **more: Any) -> Item:
    if not value.steps:
        raise BadInput(f"the procedure {value.name[:80]!r} has no steps")
    if len(value.steps) > MOST_STEPS:
        raise BadInput(f"a procedure has at most {MOST_STEPS} steps, not {len(value.steps)}")
    rate = value.success_rate
    if rate is not None:
        checked_confidence(rate, "success_rate")
    return _with_body("procedure", value, more)


def pattern(value: Pattern, **more: Any) -> Item:
    if value.occurrences < 1:
        raise BadInput("occurrences is 1 or more")
    return _with_body("pattern", value, more)


def _with_body(kind: Kind, value: Procedure | Pattern, more: dict[str, Any]) -> Item:
    name = checked("name", value.name, MOST_NAME)
    body = msgspec.to_builtins(value)
    del body["name"]
    for text in _texts(body):
        checked(f"a line of {kind} {name!r}", text, MOST_TEXT)
    confidence = checked_confidence(more.pop("confidence", 0.8))
    # How often it went well changes; what is to be done makes it another one.
    lasting = {key: value for key, value in body.items() if key not in COUNTED}
    said = msgspec.json.encode(lasting, order="sorted").decode()
    id = id_of(kind, checked_scope(more.get("scope", "")), name, said)
    return Item(id=id, kind=kind, subject=name, body=body, confidence=confidence, **more)


def checked(what: str, text: str, most: int) -> str:
    """The text on one line; BadInput if it cannot be kept."""
    if not isinstance(text, str):
        raise BadInput(f"{what} must be text, not {type(text).__name__}")
    if has_hidden(text):
        raise BadInput(f"{what} holds characters that nobody sees")
    text = " ".join(plain(text).split())
    if not text:
        raise BadInput(f"{what} is empty")
    if len(text) > most:
        raise BadInput(f"{what} has {len(text)} characters, {most} are the most")
    if has_secret(text):
        raise BadInput(f"{what} holds something that looks like a secret")
    if has_order(text):
        raise BadInput(f"{what} reads like an order to whoever reads it")
    return text


def checked_scope(scope: str) -> str:
    """A folder within the project, as a path from its root; BadInput if it is none."""
    parts = scope.split("/")
    if scope and ("\\" in scope or any(part in ("", ".", "..") for part in parts)):
        raise BadInput(f"scope is a folder within the project, as src/api, not {plain(scope)[:80]}")
    if has_hidden(scope) or plain(scope) != scope or "\n" in scope:
        raise BadInput("scope holds characters that nobody sees")
    if has_secret(scope):
        raise BadInput("scope holds something that looks like a secret")
    return scope


def checked_confidence(value: float, what: str = "confidence") -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise BadInput(f"{what} is from 0 to 1, not {value}")
    return float(value)


def raised(confidence: float, by: float) -> float:
    """What is learned again is surer: half of what was missing, as far as the new word is sure;
    and never less sure than that word.
    """
    return min(1.0, max(by, confidence + (1.0 - confidence) * by / 2))
