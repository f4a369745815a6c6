"""What a review sees of the store, and where its changes go.

Changes are made at once, kept aside until they are adopted, or only shown. Whichever it is, what
was changed before in the same review is seen by what comes after, as if it were on disk.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Literal

from agentlearn.errors import AgentlearnError
from agentlearn.store.carrying import Misfit, fitted
from agentlearn.store.journal import State
from agentlearn.store.memory import Note, Target, memory_path, notes_of
from agentlearn.store.skill import parse_skill
from agentlearn.store.store import Store
from agentlearn.store.values import Change, Skill

Mode = Literal["apply", "stage", "dry-run"]
STATUS = {"apply": "applied", "stage": "staged", "dry-run": "dry-run"}


class Shelf:
    """Skills and memory as they stand, with what is pending laid over them."""

    def __init__(self, store: Store, state: State, pending: dict[str, str | None]) -> None:
        self.store = store
        self.state = state
        self.pending = pending

    def read(self, logical: str) -> str | None:
        if logical in self.pending:
            return self.pending[logical]
        return self.store.read(logical)

    def lay(self, change: Change) -> None:
        """See the files of a change as if it were made."""
        self.pending.update((edit.path, edit.after) for edit in change.edits)

    def skill(self, name: str) -> Skill | None:
        try:
            text = self.read(f"skills/{name}/SKILL.md")
        except AgentlearnError as error:  # no text, too long, a link: somebody else's
            return Skill(name, "", name, "", "", (), False, error.message)
        return None if text is None else parse_skill(name, text)

    def skills(self) -> list[Skill]:
        names = set(self.store.folders())
        for path in self.pending:
            root, name, *rest = path.split("/")
            if root == "skills" and rest:
                names.add(name)
        found = (self.skill(name) for name in sorted(names))
        return [skill for skill in found if skill is not None]

    def files_of(self, skill: str) -> list[str]:
        """The files of a skill, relative to its folder."""
        found = set(self.store.files_of(skill))
        start = f"skills/{skill}/"
        for path, text in self.pending.items():
            if path.startswith(start):
                (found.discard if text is None else found.add)(path.removeprefix(start))
        return sorted(found)

    def memory(self, target: Target) -> str | None:
        return self.read(memory_path(target))

    def notes(self, target: Target) -> list[Note]:
        return notes_of(self.memory(target))


class Desk:
    """Takes the changes of a run, one after another, in one of three ways."""

    def __init__(self, store: Store, mode: Mode = "apply") -> None:
        self.store = store
        self.mode = mode
        self.shown: list[Change] = []
        """In a dry run: what would have been done."""

    @contextlib.contextmanager
    def at_work(self) -> Iterator[tuple[Shelf, Callable[[Change], None]]]:
        """The shelf as it is now, and what puts a change on it; the lock is held meanwhile."""
        if self.mode == "dry-run":
            yield self._shelf(self.store.journal.state(), self.shown), self.shown.append
            return
        with self.store.writing() as pen:
            if self.mode == "stage":
                yield self._shelf(pen.state, list(pen.state.staged.values())), pen.stage
            else:
                yield self._shelf(pen.state, []), pen.commit

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else writes meanwhile: what was looked at still stands when it is changed."""
        if self.mode == "dry-run":
            yield
            return
        with self.store.writing():  # the lock may be taken once more inside
            yield

    def look(self) -> Shelf:
        """The shelf without the lock, for reading."""
        if self.mode == "dry-run":
            return self._shelf(self.store.journal.state(), self.shown)
        state = self.store.state()
        return self._shelf(state, list(state.staged.values()) if self.mode == "stage" else [])

    def _shelf(self, state: State, pending: list[Change]) -> Shelf:
        shelf = Shelf(self.store, state, {})
        lay_in_turn(shelf, pending)
        return shelf


def lay_in_turn(shelf: Shelf, pending: list[Change]) -> list[Change]:
    """Lay changes over a shelf, one after another, as they come to what is there by then."""
    laid = []
    for change in pending:
        try:
            laid.append(fitted(change, shelf.read))
        except Misfit:  # its files were changed since: it is seen as it was meant
            laid.append(change)
        shelf.lay(laid[-1])
    return laid


def text_of(shelf: Shelf, path: str) -> str | None:
    """None for a file that is no text: it moves with its folder."""
    try:
        return shelf.read(path)
    except AgentlearnError:
        return None
