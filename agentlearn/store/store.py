"""Skills and memory on disk, every change journaled first: shown, made, staged, taken back.

One lock covers check, journal and write. A change is begun in the journal, its files are written
one by one, each atomically, then it is done in the journal. Who is killed in between leaves an
unfinished change; whoever opens the store next finishes it, or, if somebody has touched the files
meanwhile, puts back what was written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from agentlearn.errors import AgentlearnError
from agentlearn.store import files
from agentlearn.store.files import Escapes, Folder
from agentlearn.store.journal import Journal, State
from agentlearn.store.places import IGNORED, Places
from agentlearn.store.skill import parse_skill
from agentlearn.store.uninterrupted import uninterrupted
from agentlearn.store.values import Adopted, Change, Discarded, Done, Edit, Record, Staged, Undone

LOCK_SECONDS = 60.0
GITIGNORE = ".gitignore"


class Refused(AgentlearnError):
    """A change that a check refuses: an answer for the reviewer, an error for a person."""


class Blocked(Refused):
    """Nothing is wrong with the change: the store, as it is, cannot take it."""


class Store:
    """A store that may be read by anyone at any time; `writing` gives the pen."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.own = places.folder(places.own)
        self.journal = Journal(self.own)
        self._lock: Any = None

    def root(self, logical: str) -> tuple[Folder, str]:
        """The folder on disk, and the path in it, that a logical path stands for."""
        return self.places.root(logical)

    def read(self, logical: str) -> str | None:
        return files.read_text(*self.root(logical))

    def folders(self) -> list[str]:
        """The names of the skill folders."""
        found = files.list_folders(self.places.folder(self.places.skills))
        return [name for name in found if not name.startswith(".")]

    def files_of(self, skill: str) -> list[str]:
        return files.list_files(self.places.folder(self.places.skills), skill)

    def state(self) -> State:
        """What the journal says, after what a crash left is put right."""
        state = self.journal.state()
        if state.unfinished is None:
            return state
        try:
            with self.writing() as pen:
                return pen.state
        except AgentlearnError:  # who may only read shall still read
            return state

    @contextlib.contextmanager
    def writing(self) -> Iterator[Pen]:
        """Hold the lock of the store, with what a crash left put right."""
        files.make_folder(self.own)
        with self._locked():
            self._prepare()
            yield Pen(self)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        import filelock

        # Kept as long as the store: when a lock is thrown away its own code runs, and a Ctrl-C that
        # comes just then would be lost.
        lock = self._lock = self._lock or filelock.FileLock(self.places.lock, timeout=LOCK_SECONDS)
        try:
            lock.acquire()
        except filelock.Timeout:
            raise AgentlearnError(
                f"another command has been writing to {self.places.own} for a minute",
                "try again when it has ended",
            ) from None
        except OSError as error:
            raise files.told(self.own, self.places.lock.name, error) from None
        try:
            yield
        finally:
            lock.release()

    def _prepare(self) -> None:
        """What git shall not see; one name for the temporary file, so that none is left behind."""
        is_missing = not files.exists(self.own, GITIGNORE)
        if self.places.own != self.places.home and is_missing:
            files.write_text(self.own, GITIGNORE, IGNORED, "new")


class Pen:
    """The right to write, while the lock is held."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.journal = store.journal
        self.journal.cut_torn_end()
        self.state = self.journal.state()
        if self.state.unfinished is not None:
            self._recover(self.state.unfinished)

    def commit(self, change: Change) -> None:
        """Make a change: journal, files, and a last look; what does not pass it is rolled back."""
        with uninterrupted():
            self._record(change)
            try:
                self._move(change.moved)
                for edit in change.edits:
                    self._put(change, edit)
                problem = self._problem(change)
            except AgentlearnError as error:
                problem = error.message
            if problem is None:
                self._record(Done(change.id))
                return
            self._take_back(change)
            self._record(Undone(change.id, problem))
        raise Blocked(problem)

    def stage(self, change: Change) -> None:
        self._record(Staged(change))

    def adopted(self, change_id: str) -> None:
        self._record(Adopted(change_id))

    def discard(self, change_id: str) -> None:
        self._record(Discarded(change_id))

    def note(self, record: Record) -> None:
        self._record(record)

    def _record(self, record: Record) -> None:
        self.journal.append(record)
        self.state.take(record)

    def _put(self, change: Change, edit: Edit) -> None:
        folder, rest = self.store.root(edit.path)
        if edit.after is None:
            files.remove_file(folder, rest)
        else:
            files.write_text(folder, rest, edit.after, change.id)

    def _move(self, moved: tuple[str, str] | None) -> None:
        if moved is not None:
            files.move_folder(self.store.root(moved[0]), self.store.root(moved[1]))

    def _problem(self, change: Change) -> str | None:
        """What is wrong with the files of a change, loaded again as any agent would load them."""
        for edit in change.edits:
            root, name, *rest = edit.path.split("/")
            if self.store.read(edit.path) != edit.after:
                return f"{edit.path} does not hold what was written to it"
            if root == "skills" and rest == ["SKILL.md"] and edit.after is not None:
                wrong = parse_skill(name, edit.after).problem
                if wrong is not None:
                    return f"{edit.path} would be no valid skill: {wrong}"
        return None

    def _take_back(self, change: Change) -> None:
        """Put back what a change has written so far, where nobody has touched it since."""
        for edit in reversed(change.edits):
            comes_with_folder = change.moved is not None and edit.after is None
            stands = self._stands(edit)
            was_written = stands == edit.after != edit.before
            # Its folder may have been made, and nothing written yet: that goes as well.
            if not comes_with_folder and (was_written or stands is edit.before is None):
                self._put(change, Edit(edit.path, edit.after, edit.before))
        if change.moved is not None and not self._is_there(change.moved[0]):
            self._move((change.moved[1], change.moved[0]))

    def _stands(self, edit: Edit) -> str | None:
        """What is in a file of a change; what cannot be read was not written by it."""
        try:
            return self.store.read(edit.path)
        except AgentlearnError as error:
            return f"\0{error.message}"

    def _recover(self, change: Change) -> None:
        """Finish what was begun; if somebody has touched its files meanwhile, put it back."""
        with uninterrupted():
            try:
                problem = self._finished(change)
                if problem is not None:
                    self._take_back(change)
            except Escapes as error:  # a link or another thing took the place of its files
                problem = error.message
            except AgentlearnError as error:
                raise AgentlearnError(
                    f"change {change.id} was begun, and cannot be finished: {error.message}",
                    "mend that, and every command finishes it first",
                ) from None
            self._record(Done(change.id) if problem is None else Undone(change.id, problem))

    def _finished(self, change: Change) -> str | None:
        """Write what is not written yet; else the reason why the change cannot stand."""
        for edit in change.edits:
            files.remove_leftover(*self.store.root(edit.path), change.id)
        if change.moved is not None and all(map(self._is_there, change.moved)):
            return "a folder came back to where one was moved away"
        self._move(change.moved)
        found = [self._stands(edit) for edit in change.edits]
        for text, edit in zip(found, change.edits, strict=True):
            if text not in (edit.before, edit.after):
                return "its files were changed before it was finished"
        for text, edit in zip(found, change.edits, strict=True):
            if text != edit.after:
                self._put(change, edit)
        return self._problem(change)

    def _is_there(self, logical: str) -> bool:
        return files.exists(*self.store.root(logical))


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
