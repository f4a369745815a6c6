"""The journal: every change to the store, in order, a line each, appended and never rewritten.

A line counts when its end is written. One without an end was cut by a crash before any file was
touched; the next writer cuts it off. Lines of a newer version, damaged by hand, or naming files
that no change may touch, are passed by and counted. Changes without our seal came from elsewhere,
with a clone say: they are shown, and nothing is ever done by them.
"""

from __future__ import annotations

import os
from typing import Literal

import msgspec
from msgspec import Struct, field

from agentlearn.errors import AgentlearnError
from agentlearn.store import files
from agentlearn.store.files import Folder
from agentlearn.store.seal import is_sealed, sealed
from agentlearn.store.values import (
    Adopted,
    Change,
    Discarded,
    Done,
    Record,
    Reviewed,
    Staged,
    Undone,
)

NAME = "journal.jsonl"
Status = Literal["applied", "taken back", "staged", "discarded", "undone", "unfinished", "foreign"]


class State(Struct):
    """What the records add up to."""

    seen: dict[str, Change] = field(default_factory=dict)
    """Every change there ever was, in order, whatever became of it."""
    changes: dict[str, Change] = field(default_factory=dict)
    """Those that were made, in order, also those that were taken back since."""
    unfinished: Change | None = None
    staged: dict[str, Change] = field(default_factory=dict)
    discarded: dict[str, Change] = field(default_factory=dict)
    undone: dict[str, Change] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    """Why each of the undone was."""
    taken_back: dict[str, str] = field(default_factory=dict)
    """The change that took each one back."""
    reviews: list[Reviewed] = field(default_factory=list)
    foreign: dict[str, Change] = field(default_factory=dict)
    """Those that were written down elsewhere: nobody here made them, and nobody takes them back."""
    unread: list[int] = field(default_factory=list)
    """The lines that are no records."""

    def take(self, record: Record) -> None:
        """What one more record changes."""
        if isinstance(record, Change):
            self.unfinished = record
            self._see(record)
        elif isinstance(record, Done):
            self._finish(record.id)
        elif isinstance(record, Undone):
            if self.unfinished is not None and self.unfinished.id == record.id:
                self.undone[record.id] = self.unfinished
                self.reasons[record.id] = record.reason
                self.unfinished = None
        elif isinstance(record, Staged):
            self.staged[record.change.id] = record.change
            self._see(record.change)
        elif isinstance(record, Adopted):
            self.staged.pop(record.id, None)
        elif isinstance(record, Discarded):
            if found := self.staged.pop(record.id, None):
                self.discarded[record.id] = found
        else:
            self.reviews.append(record)

    def show(self, change: Change) -> bool:
        """A change from elsewhere; False if it bears the id of one of ours."""
        if change.id in self.seen and change.id not in self.foreign:
            return False
        self.foreign[change.id] = self.seen[change.id] = change
        return True

    def _see(self, change: Change) -> None:
        self.foreign.pop(change.id, None)
        self.seen.pop(change.id, None)  # one that was staged stands where it was made
        self.seen[change.id] = change

    def _finish(self, change_id: str) -> None:
        change = self.unfinished
        if change is None or change.id != change_id:
            return
        self.changes[change_id] = change
        self.unfinished = None
        self.staged.pop(change_id, None)  # who adopted it was killed before saying so
        self.undone.pop(change_id, None)
        if change.undoes is not None:
            self.taken_back[change.undoes] = change_id

    def stands(self, change_id: str) -> bool:
        """Whether a change is in force: what took it back may have been taken back itself."""
        in_force = True
        known = {change_id}
        while (by := self.taken_back.get(change_id)) is not None and by not in known:
            in_force = not in_force
            known.add(by)
            change_id = by
        return in_force

    def status(self, change_id: str) -> Status:
        if change_id in self.foreign:
            return "foreign"
        if change_id in self.changes:
            return "applied" if self.stands(change_id) else "taken back"
        if change_id in self.staged:
            return "staged"
        if change_id in self.discarded:
            return "discarded"
        return "undone" if change_id in self.undone else "unfinished"

    def knows(self, change_id: str) -> bool:
        return change_id in self.seen


BESIDE = ("references", "templates", "scripts", "assets")


class Journal:
    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.path = folder.path / NAME

    def state(self) -> State:
        data = files.read_bytes(self.folder, NAME) or b""
        state = State()
        for number, line in enumerate(data[: data.rfind(b"\n") + 1].split(b"\n"), 1):
            if line.strip() and not _take_line(state, line):
                state.unread.append(number)
        return state

    def append(self, record: Record) -> None:
        """One whole line, on the disk when this returns. The caller holds the lock."""
        line = sealed(msgspec.json.encode(record)) + b"\n"
        is_new = not files.exists(self.folder, NAME)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        try:
            with files.open_file(self.folder, NAME, flags) as handle:
                size = os.fstat(handle).st_size
                try:
                    _write_all(handle, line)
                    os.fsync(handle)
                except OSError:
                    os.ftruncate(handle, size)  # half a line is no line
                    raise
            if is_new:
                files.flush_folder(self.folder)
        except OSError as error:
            raise files.told(self.folder, NAME, error) from None

    def cut_torn_end(self) -> None:
        """Cut off what a crash left without a line end. The caller holds the lock."""
        data = files.read_bytes(self.folder, NAME)
        if not data or data.endswith(b"\n"):
            return
        try:
            with files.open_file(self.folder, NAME, os.O_WRONLY) as handle:
                os.ftruncate(handle, data.rfind(b"\n") + 1)
                os.fsync(handle)
        except OSError as error:
            raise files.told(self.folder, NAME, error) from None


DECODER = msgspec.json.Decoder(Record)


def _take_line(state: State, line: bytes) -> bool:
    """Whether a line of the journal is a record, and has found its place in the state."""
    try:
        record = DECODER.decode(line)
        _check_paths(record)
    except (msgspec.MsgspecError, UnicodeError, RecursionError, AgentlearnError):
        return False
    if is_sealed(line):
        state.take(record)
        return True
    if isinstance(record, (Change, Staged)):
        return state.show(record.change if isinstance(record, Staged) else record)
    return isinstance(record, Reviewed) or record.id in state.foreign


def _write_all(handle: int, data: bytes) -> None:
    """A nearly full disk takes a part first, and says what is wrong when asked for the rest."""
    done = 0
    while done < len(data):
        done += os.write(handle, data[done:])


def _check_paths(record: Record) -> None:
    """A journal that came from elsewhere may name any file: only those of a store are touched."""
    change = record.change if isinstance(record, Staged) else record
    if not isinstance(change, Change):
        return
    for path in [edit.path for edit in change.edits]:
        root, *rest = files.parts_of(path)
        is_skill_file = len(rest) == 2 and rest[1] == "SKILL.md"
        is_beside = len(rest) > 2 and rest[1] in BESIDE
        if root == "skills" and (is_skill_file or is_beside) and not rest[0].startswith("."):
            continue
        if path not in ("memory/MEMORY.md", "memory/USER.md"):
            raise files.Escapes(f"{path[:200]!r} is no file of a store")
    for path in change.moved or ():
        root, *rest = files.parts_of(path)
        if root not in ("skills", "archive") or len(rest) != 1 or rest[0].startswith("."):
            raise files.Escapes(f"{path[:200]!r} is no skill of a store")
