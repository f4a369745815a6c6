"""After the store was changed: what it taught goes into the base of knowledge, or leaves it."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from agentlearn.cli.bases import base_to_write, project_base, user_base
from agentlearn.config import resolve
from agentlearn.errors import AgentlearnError
from agentlearn.guard import plain
from agentlearn.review.learned import learn
from agentlearn.store import files
from agentlearn.store.store import Store
from agentlearn.store.values import Change

WAITING = "to-learn"
"""The ids of changes whose knowledge could not be kept: the next change brings it in."""


def keep_learned(store: Store, user: bool, made: Iterable[Change]) -> None:
    """Keep what changes taught, if that is wanted, and forget what the store says no longer.

    The store is the truth and stands already: what goes wrong here is told, and fails nothing.
    """
    wanted = list(made) if resolve().auto_persist else []
    try:
        late = _waiting(store)
        with user_base() if user else project_base() as base:
            learn(store, base, [*late, *wanted], lambda: base_to_write(user))
        if late:
            files.remove_file(store.own, WAITING)
    except AgentlearnError as error:
        _wait(store, wanted)
        print(f"warning: the knowledge is left as it was: {plain(error.message)}", file=sys.stderr)


def _waiting(store: Store) -> list[Change]:
    ids = (files.read_text(store.own, WAITING) or "").split()
    known = store.state().changes if ids else {}
    return [known[id] for id in ids if id in known]


def _wait(store: Store, changes: list[Change]) -> None:
    try:
        before = files.read_text(store.own, WAITING) or ""
        ids = dict.fromkeys([*before.split(), *(change.id for change in changes)])
        if ids:
            files.write_text(store.own, WAITING, "\n".join(ids) + "\n", "new")
    except AgentlearnError:
        return  # what was wrong is told already
