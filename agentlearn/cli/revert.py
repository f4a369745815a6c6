"""Take changes back: what they did is undone, by changes of their own.

Lines that were changed since are not touched: then nothing happens, and the difference is shown.
What was taken back is not proposed again; to have it again after all, revert the revert.
"""

from __future__ import annotations

from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.changes import diff_as_dict, print_changes, print_conflict, what
from agentlearn.cli.learned import forget_unsaid, keep_learned
from agentlearn.cli.output import choose_format, write_json
from agentlearn.cli.stores import User, open_store
from agentlearn.errors import BadInput
from agentlearn.store.differences import Conflict
from agentlearn.store.history import revert
from agentlearn.store.values import Change

FORMATS = ("text", "json")


def main(
    changes: Annotated[
        list[str],
        typer.Argument(metavar="CHANGE...", help="Ids, or beginnings of ids (agentlearn log)."),
    ],
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    store = open_store(user)
    try:
        made = revert(store, changes)
    except BadInput:
        forget_unsaid(store, user)  # one that was cut short may have left what it should not
        raise
    except Conflict as conflict:
        print_conflict(conflict, chosen)
        raise
    keep_learned(store, user, made)
    state = store.state()
    if chosen == "json":
        write_json([diff_as_dict(store, state, change) for change in made])
        return
    print_changes(
        store, ((_head(state.changes[change.undoes or ""], change), change) for change in made)
    )


def _head(undone: Change, change: Change) -> str:
    return f"{undone.id} taken back by {change.id}: {what(undone)}"
