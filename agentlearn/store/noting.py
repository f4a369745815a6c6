"""Changes to memory: a note comes, is replaced, or goes."""

from __future__ import annotations

from agentlearn.store.changes import Maker, draft_change
from agentlearn.store.clean import check_clean
from agentlearn.store.memory import (
    SEEN,
    Note,
    Target,
    memory_path,
    notes_of,
    replaced,
    same_note,
    with_note,
)
from agentlearn.store.shelf import Shelf
from agentlearn.store.store import Blocked, Refused
from agentlearn.store.values import Change, Edit

MOST_NOTE = 400


def add_note(
    shelf: Shelf, maker: Maker, target: Target, text: str, budget: int, seen: bool = False
) -> Change | None:
    """One more note; None if it is there already."""
    note = _note(text, seen)
    before = shelf.memory(target)
    if any(same_note(known.text, note) for known in notes_of(before)):
        return None
    after = with_note(target, before, note)
    _check_budget(target, before, after, budget)
    return change_memory(shelf, maker, "add", target, note, before, after)


def replace_note(
    shelf: Shelf, maker: Maker, target: Target, old: str, text: str, budget: int, seen: bool = False
) -> Change | None:
    """`seen`: it rests on a tool's output, which says nothing against what a person said."""
    note = _note(text, seen)
    before = shelf.memory(target) or ""
    found = _find_note(target, before, old)
    _may_go(found, seen)
    if found.text == note:
        return None
    others = [each for each in notes_of(before) if each != found]
    if any(same_note(each.text, note) for each in others):
        raise Refused(f"{target}.md says that already in another note: remove this one instead")
    after = replaced(before, found, note)
    if len(after) > len(before):
        _check_budget(target, before, after, budget)
    return change_memory(shelf, maker, "replace", target, note, before, after)


def remove_note(shelf: Shelf, maker: Maker, target: Target, old: str, seen: bool = False) -> Change:
    before = shelf.memory(target) or ""
    found = _find_note(target, before, old)
    _may_go(found, seen)
    after = replaced(before, found, None)
    return change_memory(shelf, maker, "remove", target, f"without: {found.text}", before, after)


def _may_go(note: Note, seen: bool) -> None:
    if seen and not note.text.startswith(SEEN):
        raise Refused(
            "those lines are a tool's output: they may only change a note that is marked (seen)"
        )


def change_memory(
    shelf: Shelf,
    maker: Maker,
    action: str,
    target: Target,
    text: str,
    before: str | None,
    after: str,
) -> Change:
    path = memory_path(target)
    no_secret_in(path, before)
    return draft_change(shelf, maker, "memory", action, target, text, (Edit(path, before, after),))


def no_secret_in(path: str, before: str | None) -> None:
    """What stands before goes into the journal, where no secret may be."""
    from agentlearn.guard.secrets import has_secret

    if before and has_secret(before):
        raise Blocked(f"{path} holds what looks like a secret: agentlearn check tells where")


def _note(text: str, seen: bool) -> str:
    note = " ".join(text.split()).removeprefix("- ").removeprefix(SEEN)
    if not note:
        raise Refused("the note is empty")
    if len(note) > MOST_NOTE:
        raise Refused(f"the note has {len(note)} characters, over {MOST_NOTE}: say it shorter")
    check_clean(note)
    return SEEN + note if seen else note


def _check_budget(target: Target, before: str | None, after: str, budget: int) -> None:
    if len(after) > budget:
        have = len(before or "")
        raise Blocked(
            f"{target}.md is full: {have} of {budget} characters, and this needs "
            f"{len(after) - have} more: replace or remove a note first",
            f"edit {target}.md by hand, take a note back with agentlearn revert, or give "
            f"it more room: {target.lower()}_chars in agentlearn.toml",
        )


def _find_note(target: Target, text: str, old: str) -> Note:
    """The one note that is meant: word by word, or by a part that only it has."""
    notes = notes_of(text)
    found = [note for note in notes if same_note(note.text, old)]
    if not found:
        found = [note for note in notes if old.strip() and old.strip() in note.text]
    if not found:
        raise Refused(
            f"no note in {target}.md says that: its notes are in the memory you were given"
        )
    if len(found) > 1:
        raise Refused(f"{len(found)} notes in {target}.md hold that text: give more of it")
    return found[0]
