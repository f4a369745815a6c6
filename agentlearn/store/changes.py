"""A change as it is drafted: who makes it, on what grounds, and under which id."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from agentlearn.guard import one_line
from agentlearn.store.said import REWORDED, SAME, said_by, says_the_same
from agentlearn.store.shelf import Shelf
from agentlearn.store.store import Refused, now
from agentlearn.store.values import Change, Cited, Edit, Kind


class Maker(Struct, frozen=True):
    """Who makes a change, and on what grounds."""

    reviewer: str = "person"
    model: str | None = None
    session: str | None = None
    evidence: tuple[Cited, ...] = ()


def draft_change(
    shelf: Shelf,
    maker: Maker,
    kind: Kind,
    action: str,
    name: str,
    text: str,
    edits: tuple[Edit, ...],
) -> Change:
    change = Change(
        id="",
        at=now(),
        kind=kind,
        action=action,
        name=name,
        text=text,
        edits=edits,
        evidence=tuple(map(_kept, maker.evidence)),
        reviewer=maker.reviewer,
        model=maker.model,
        session=maker.session,
    )
    return named(shelf, change)


def _kept(cited: Cited) -> Cited:
    """Evidence as it can be found again from any folder, and holds no secret."""
    from agentlearn.guard.secrets import redact

    path = cited.path
    if path not in (None, "-"):
        # The name of a file need not be UTF-8, a line of the journal must be.
        path = str(Path(path or "").absolute()).encode("utf-8", "backslashreplace").decode()
    excerpt = redact(cited.excerpt.encode("utf-8", "replace").decode())
    return structs.replace(cited, session=redact(cited.session), path=path, excerpt=excerpt)


def named(shelf: Shelf, change: Change) -> Change:
    """The id is made from what the change is: the same input gives the same bytes.

    Here its files are known, and so all that it says: what was taken back is refused.
    """
    _not_taken_back(shelf, change)
    said: list[object] = [change.kind, change.action, change.name, change.text, change.undoes]
    said += [[edit.path, edit.before, edit.after] for edit in change.edits]
    said += [[cited.session, cited.start, cited.end] for cited in change.evidence]
    for attempt in range(1000):
        found = hashlib.sha256(msgspec.json.encode([*said, attempt])).hexdigest()[:8]
        if not shelf.state.knows(found) and not found.isdigit():
            return structs.replace(change, id=found)
    raise Refused("no id is free")


def _not_taken_back(shelf: Shelf, change: Change) -> None:
    """What a person took back or discarded is not proposed again, in whatever shape it comes."""
    state = shelf.state
    if change.reviewer == "person":
        return
    gone = [known for key, known in state.changes.items() if not state.stands(key)]
    for old in [*gone, *state.discarded.values()]:
        same_lines = bool(_lines(old)) and _lines(old) == _lines(change)
        for known in said_by(old):
            for said in said_by(change):
                if says_the_same(known, said, REWORDED if same_lines else SAME):
                    raise Refused(
                        f"the person took this back before (change {old.id}): "
                        f"leave out “{one_line(said, 80)}”"
                    )


def _lines(change: Change) -> set[tuple[str, int, int]]:
    return {(cited.session, cited.start, cited.end) for cited in change.evidence}
