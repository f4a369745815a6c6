"""Files that hold many sessions: one object each, as lines or as the elements of a list.

A session is handed on when the next one is complete, so that a warning about the end of the file
still finds a place. Sessions without an id of their own get the file's, with their number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeVar

from msgspec import Raw, structs

from agentlearn.sessions import document
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Session, Warning_

T = TypeVar("T")


class ManySessions:
    """The sessions of one file, in order."""

    def __init__(self, source: Source, dialect: str, unit: Literal["line", "entry"]) -> None:
        self.source = source
        self.dialect = dialect
        self.unit = unit
        self._file_id: str | None = None
        self._ids: set[str] = set()
        self._count = 0
        self._held: Session | None = None
        self._unplaced = self.draft()
        self._is_strange = False

    def draft(self) -> Draft:
        return Draft(self.dialect, self.source.name, self.unit)

    def warn(self, line: int, reason: str, lost: bool = True) -> None:
        self._unplaced.warn(line, reason, lost)

    def strange(self, number: int, what: str) -> None:
        """An object that is no session: said once, however many there are."""
        if not self._is_strange:
            self.warn(number, f"unknown {what}", lost=False)
        self._is_strange = True

    def done(self, draft: Draft, only: bool = False) -> Iterator[Session]:
        """Take a session that is complete; `only` if it is all of the file."""
        self._count += 1
        self._place(draft.warnings)
        if draft.id is None or draft.id in self._ids:
            number = "" if only else f"-{self._count}"
            draft.id = (draft.id or self.file_id()) + number
        self._ids.add(draft.id)
        before, self._held = self._held, draft.finish()
        if before is not None:
            yield before

    def end(self) -> Iterator[Session]:
        """The last session. A file that holds none gives an empty one, to carry the warnings."""
        if self._held is None:
            yield from self.done(self.draft(), only=True)
        if self._held is not None:
            self._place(self._held.warnings)
            if self._count == 1 and self._held.id == f"{self._file_id}-1":
                self._held = structs.replace(self._held, id=self.file_id())  # alone: no number
            yield self._held

    def file_id(self) -> str:
        if self._file_id is None:
            self._file_id = self.source.id_from_bytes()
        return self._file_id

    def _place(self, warnings: list[Warning_]) -> None:
        warnings.extend(self._unplaced.warnings)
        self._unplaced.warnings.clear()


def elements(
    source: Source, kind: type[T], many: ManySessions, raws: list[bytes] | None = None
) -> Iterator[tuple[int, T, bool]]:
    """The elements of a document, each with its number and whether it is the whole document.

    `raws` takes their bytes, for a list whose elements are the entries of one session.
    """
    data = source.stream.peek_all()
    value = document.load(source)
    parts = value if isinstance(value, list) else [Raw(document.strict(data))]
    holder = many.draft()
    if raws is not None:
        holder.raws = raws
    for number, element in document.numbered(parts, kind, holder):
        yield number, element, isinstance(value, dict)
    for warning in holder.warnings:
        many.warn(warning.line, warning.reason, warning.lost)
