"""A change that was made for files as they stood, fitted to files as they stand.

What a change does to each file is carried over: lines that were not touched give way, others
refuse. Notes of a memory come and go each for itself. The ids of changes in a SKILL.md are ours
and stand in nobody's way.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import structs

from agentlearn.store.memory import TARGETS, carry_notes, memory_path, notes_of
from agentlearn.store.merge import carry
from agentlearn.store.skill import parse_skill, with_changes, without_changes
from agentlearn.store.values import Change, Edit

Read = Callable[[str], str | None]


class Misfit(Exception):
    """The file of a change that is not as the change expects it."""

    def __init__(self, edit: Edit, current: str | None) -> None:
        super().__init__(edit.path)
        self.edit = edit
        self.current = current


def fitted(change: Change, read: Read) -> Change:
    """The change as it has to be made now; `read` gives the files."""
    return structs.replace(change, edits=tuple(_fit(change, edit, read) for edit in change.edits))


def _fit(change: Change, edit: Edit, read: Read) -> Edit:
    current = read(edit.path)
    comes_back = change.moved is not None and edit.before is None
    if comes_back:  # with its folder: as it stood when that was moved away
        current = edit.after
    before = current if comes_back else edit.before
    fits, after = _carry(edit.path, before, edit.after, current)
    if not fits:
        raise Misfit(edit, current)
    if after is not None and edit.path.endswith("/SKILL.md"):
        stood = edit.after if current is None else current  # what comes back keeps its history
        known = parse_skill(change.name, stood or "").changes
        after = with_changes(after, tuple(dict.fromkeys((*known, change.id))))
    return Edit(edit.path, current, after)


def _carry(
    path: str, before: str | None, after: str | None, current: str | None
) -> tuple[bool, str | None]:
    if path.endswith("/SKILL.md"):
        return carry(without_changes(before), without_changes(after), without_changes(current))
    fits, result = carry(before, after, current)
    for target in TARGETS:
        if path != memory_path(target) or current == before:
            continue
        # Lines keep their order, but know nothing of a note that came another way meanwhile.
        if not fits or _twice(result) > _twice(current):
            return carry_notes(target, before, after, current)
    return fits, result


def _twice(text: str | None) -> int:
    notes = [note.text for note in notes_of(text)]
    return len(notes) - len(set(notes))
