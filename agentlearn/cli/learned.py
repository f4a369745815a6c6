"""After the store was changed: what it taught goes into the base of knowledge, or leaves it."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from agentlearn.cli.bases import base_to_write, project_base, user_base
from agentlearn.config import resolve
from agentlearn.errors import AgentlearnError
from agentlearn.guard import plain
from agentlearn.review.learned import learn
from agentlearn.store.store import Store
from agentlearn.store.values import Change


def keep_learned(store: Store, user: bool, made: Iterable[Change]) -> None:
    """Keep what changes taught, if that is wanted, and forget what the store says no longer.

    The store is the truth and stands already: what goes wrong here is told, and fails nothing.
    """
    wanted = list(made) if resolve().auto_persist else []
    try:
        with user_base() if user else project_base() as base:
            learn(store, base, wanted, lambda: base_to_write(user))
    except AgentlearnError as error:
        print(f"warning: the knowledge is left as it was: {plain(error.message)}", file=sys.stderr)
