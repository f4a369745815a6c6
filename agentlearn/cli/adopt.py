"""Make the changes that wait for approval, all of them or the named ones.

They are fitted to the files as they are now. If one does not fit, none is made.
"""

from __future__ import annotations

import sys
from typing import Annotated

from agentlearn.cli import options
from agentlearn.cli.changes import diff_as_dict, print_changes, print_conflict, what
from agentlearn.cli.diff import FORMATS, Changes
from agentlearn.cli.learned import keep_learned
from agentlearn.cli.output import choose_format, write_json
from agentlearn.cli.stores import User, budgets, open_store
from agentlearn.store.differences import Conflict
from agentlearn.store.history import adopt


def main(
    changes: Changes = None,
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    store = open_store(user)
    try:
        made = adopt(store, changes or [], budgets())
    except Conflict as conflict:
        print_conflict(conflict, chosen)
        raise
    if made:
        keep_learned(store, user, made)
    if chosen == "json":
        state = store.state()
        write_json([diff_as_dict(store, state, change) for change in made])
        return
    print_changes(store, ((f"adopted {change.id}: {what(change)}", change) for change in made))
    if not made:
        print("note: nothing waits", file=sys.stderr)
