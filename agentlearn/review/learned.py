"""What reviews wrote, as knowledge: a note is a fact, the steps of a skill are a procedure, each of
its pitfalls is a fact.

The files are the truth. What a change brought is kept in the base with its evidence and the
change's id; what the files no longer say goes again, whichever way it left them: a revert, a note
that took its place, a person's editor. What a person told the base himself stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import structs

from agentlearn.errors import BadInput
from agentlearn.knowledge.base import Base
from agentlearn.knowledge.rows import now
from agentlearn.knowledge.values import MOST_STEPS, Item, Procedure, Step, fact, procedure
from agentlearn.sessions.evidence import cite
from agentlearn.store.journal import State
from agentlearn.store.memory import SEEN, TARGETS, memory_path, notes_of
from agentlearn.store.shelf import Shelf
from agentlearn.store.skill import parse_skill
from agentlearn.store.store import Store
from agentlearn.store.values import Change

STEP = re.compile(r"^\d{1,3}[.)] +(\S.*)", re.MULTILINE)
PITFALLS = re.compile(r"^#+ pitfalls\b.*\n((?:(?!#).*\n?)*)", re.MULTILINE | re.IGNORECASE)
BULLET = re.compile(r"^[-*+] +(\S.*)", re.MULTILINE)
SURE, ONLY_SEEN = 0.8, 0.5
BY_CHANGE = "change:"


def learn(store: Store, base: Base, made: Iterable[Change], writing: Callable[[], Base]) -> int:
    """Keep what these changes brought, as far as it stands; how many items that was.

    Nothing is made where there is nothing to keep: `writing` gives the base for that.
    """
    state = store.state()
    standing = {item.id for item in items_of(Shelf(store, state, {}))}
    brought = (item for change in made for item in _brought(change, state))
    coming = {item.id: item for item in brought if item.id in standing}
    for id in list(coming):
        # What somebody else said already needs no review, and stays when the review is taken back.
        if any(known.source != "review" for known in base.get(id)):
            del coming[id]
    if coming:
        with writing() as base_to_write:
            base_to_write.replace_all(coming.values())
    unlearn(store, base)
    return len(coming)


def unlearn(store: Store, base: Base) -> list[Item]:
    """Forget what came from changes of this store, and is said in its files no longer."""
    state = store.state()
    known = [item for item in base.items("WHERE source = 'review'") if _is_from(item, state)]
    if not known:
        return []
    standing = {item.id for item in items_of(Shelf(store, state, {}))}
    gone = [item for item in known if item.id not in standing]
    if gone:
        base.forget(gone)
    return gone


def items_of(shelf: Shelf) -> Iterator[Item]:
    """All that the memory and our own skills say."""
    for target in TARGETS:
        path = memory_path(target)
        yield from _items_in(path, shelf.read(path))
    for skill in shelf.skills():
        if skill.is_ours and skill.problem is None:
            yield from _items_in(f"skills/{skill.folder}/SKILL.md", skill.text)


def _brought(change: Change, state: State) -> Iterator[Item]:
    """What a change says that was not said before, with what speaks for it."""
    first = change
    while first.undoes is not None and first.undoes in state.changes:
        first = state.changes[first.undoes]  # what comes back rests on what it rested on
    places = [cite(one.session, one.start, one.end, one.unit) for one in first.evidence]
    evidence = (*places, f"{BY_CHANGE}{first.id}")
    for edit in change.edits:
        before = {item.id for item in _items_in(edit.path, edit.before)}
        for item in _items_in(edit.path, edit.after):
            if item.id not in before:
                yield structs.replace(item, evidence=evidence, created=now())


def _is_from(item: Item, state: State) -> bool:
    """Whether it came from a change that was made here: an import may name any."""
    named = [one.removeprefix(BY_CHANGE) for one in item.evidence if one.startswith(BY_CHANGE)]
    return any(name in state.changes for name in named)


def _items_in(path: str, text: str | None) -> Iterator[Item]:
    root, name, *rest = path.split("/")
    if text is None:
        return
    if root == "memory":
        about = ("person", "wants") if name == "USER.md" else ("project", "learned")
        for note in notes_of(text):
            sure = ONLY_SEEN if note.text.startswith(SEEN) else SURE
            yield from _allowed(fact, *about, note.text, sure)
    elif root == "skills" and rest == ["SKILL.md"]:
        yield from _items_in_skill(name, text)


def _items_in_skill(name: str, text: str) -> Iterator[Item]:
    skill = parse_skill(name, text)
    steps = tuple(Step(do=" ".join(found.split())) for found in STEP.findall(skill.body))
    if steps:
        whole = Procedure(name, steps[:MOST_STEPS], before=(skill.description,))
        yield from _allowed(procedure, whole, confidence=SURE)
    for part in PITFALLS.findall(skill.body):
        for bullet in BULLET.findall(part):
            yield from _allowed(fact, name, "pitfall", bullet, SURE)


def _allowed(make: Callable[..., Item], *given: Any, **more: Any) -> Iterator[Item]:
    """What the base would not take from anybody is not taken from a file either."""
    try:
        yield make(*given, source="review", **more)
    except BadInput:
        return
