"""After the store was changed: what it taught goes into the base of knowledge, or leaves it."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable

from agentlearn.cli.bases import base_to_write, project_base, user_base
from agentlearn.config import resolve
from agentlearn.errors import AgentlearnError
from agentlearn.guard import plain
from agentlearn.knowledge.base import Base
from agentlearn.review.learned import learn, unlearn
from agentlearn.store import files
from agentlearn.store.store import Store
from agentlearn.store.values import Change

MARK, NOTHING_YET = "learned", "-"
"""The id of the last change whose knowledge is kept: what came after it, and was cut short or could
not be kept, comes with the next change."""


def keep_learned(store: Store, user: bool, made: Iterable[Change] = ()) -> None:
    """Keep what changes taught, if that is wanted, and forget what the store says no longer.

    The store is the truth and stands already: what goes wrong here is told, and fails nothing.
    """
    changes = list(store.state().changes.values())
    try:
        with user_base() if user else project_base() as base:
            new = _not_learned_yet(store, base, changes, list(made))
            wanted = new if resolve().auto_persist else []
            learn(store, base, wanted, lambda: base_to_write(user))
        if changes:
            _set_mark(store, changes[-1].id)
    except AgentlearnError as error:
        print(f"warning: the knowledge is left as it was: {plain(error.message)}", file=sys.stderr)


def forget_unsaid(store: Store, user: bool = False) -> None:
    """Forget what came from changes and is said in no file any more; nothing is made for it."""
    with (
        contextlib.suppress(AgentlearnError),
        user_base() if user else project_base() as base,
    ):
        if base.exists():
            unlearn(store, base)


def _set_mark(store: Store, id: str) -> None:
    """In its place: ids are all of one length, so that nobody ever sees half of one."""
    data = f"{id}\n".encode()
    with (
        contextlib.suppress(AgentlearnError, OSError),
        files.open_file(store.own, MARK, os.O_WRONLY | os.O_CREAT) as handle,
    ):
        os.pwrite(handle, data, 0)
        os.ftruncate(handle, len(data))


def begin_to_learn(store: Store) -> None:
    """Before the first change that may teach something: from here on nothing is passed over."""
    if not _mark(store):
        last = next(reversed(store.state().changes), NOTHING_YET)
        _set_mark(store, last)


def _mark(store: Store) -> str:
    with contextlib.suppress(AgentlearnError):
        return (files.read_text(store.own, MARK) or "").strip()
    return ""


def _not_learned_yet(
    store: Store, base: Base, changes: list[Change], made: list[Change]
) -> list[Change]:
    mark, ids = _mark(store), [change.id for change in changes]
    if mark in ids:
        return changes[ids.index(mark) + 1 :]
    return changes if mark == NOTHING_YET or not base.exists() else made
