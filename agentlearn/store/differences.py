"""Changes as they are found by their ids and shown as differences, and what stands in their way."""

from __future__ import annotations

import difflib

from agentlearn.errors import BadInput
from agentlearn.store.clean import text_problems
from agentlearn.store.noting import no_secret_in
from agentlearn.store.shelf import Shelf
from agentlearn.store.store import Refused, Store
from agentlearn.store.values import Change

LISTS = "agentlearn diff shows what waits"


class Conflict(Refused):
    """The lines of a change are not as it left them."""

    def __init__(self, message: str, diff: str, hint: str | None = None) -> None:
        super().__init__(message, hint)
        self.diff = diff


def find_change(
    known: dict[str, Change], prefix: str, lists: str = "agentlearn log lists them"
) -> Change:
    """A change by its id, or by a beginning that only it has."""
    found = [change for key, change in known.items() if key.startswith(prefix)]
    exact = [change for change in found if change.id == prefix]
    if exact or (len(found) == 1 and prefix):
        return (exact or found)[0]
    if not found or not prefix:
        near = difflib.get_close_matches(prefix, known, 1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else lists
        raise BadInput(f"there is no change {prefix[:80]!r}", hint)
    ids = ", ".join(change.id for change in found[:5])
    raise BadInput(f"{prefix} fits {len(found)} changes: {ids}", "give more of the id")


def may_be_written(shelf: Shelf, change: Change, otherwise: str) -> None:
    """What comes into the files passes the guard, and no secret goes into the journal."""
    from agentlearn.guard.secrets import redact

    for edit in change.edits:
        place = shelf.store.places.shown(edit.path)
        stood = (edit.before or "").splitlines()
        comes = [line for line in (edit.after or "").splitlines() if line not in stood]
        wrong = next(text_problems("\n".join(comes)), None)
        if wrong is not None:
            raise Conflict(
                f"{otherwise}: what would come into {place} {wrong.message}",
                show_diff(redact(edit.before or ""), redact(edit.after or ""), place),
                f"edit {place} by hand",
            )
        no_secret_in(place, edit.before)


def show_change(store: Store, change: Change) -> str:
    """What a change does to its files, as one diff."""
    shown = [
        show_diff(edit.before, edit.after, store.places.shown(edit.path)) for edit in change.edits
    ]
    if change.moved is not None:
        old, new = (store.places.shown(path) for path in change.moved)
        shown.append(f"rename from {old}\nrename to {new}")
    return "\n".join(filter(None, shown))


def show_diff(
    before: str | None, after: str | None, path: str, old: str = "", new: str = ""
) -> str:
    """The difference as `diff -u` would show it; a file that comes or goes is /dev/null."""
    lines = difflib.unified_diff(
        (before or "").splitlines(),
        (after or "").splitlines(),
        "/dev/null" if before is None else f"a/{path}",
        "/dev/null" if after is None else f"b/{path}",
        old,
        new,
        lineterm="",
    )
    return "\n".join(lines)
