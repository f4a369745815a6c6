"""What waits for approval, as a diff.

Changes wait where a review ran with --stage. `agentlearn adopt` makes them, `agentlearn discard`
drops them.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.changes import diff_as_dict, print_changes, sources, what
from agentlearn.cli.output import choose_format, write_json
from agentlearn.cli.stores import User, open_store
from agentlearn.store.differences import LISTS, find_change
from agentlearn.store.shelf import Shelf, lay_in_turn

FORMATS = ("text", "json")
Changes = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CHANGE]...",
        show_default=False,
        help="Ids, or beginnings of ids; none: all that wait.",
    ),
]


def main(
    changes: Changes = None,
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    store = open_store(user)
    state = store.state()
    # Against the files as they are now, and with what waits before it.
    waiting = lay_in_turn(Shelf(store, state, {}), list(state.staged.values()))
    staged = {change.id: change for change in waiting}
    wanted = [find_change(staged, prefix, LISTS) for prefix in changes or []] or list(
        staged.values()
    )
    if chosen == "json":
        write_json([diff_as_dict(store, state, change) for change in wanted])
        return
    heads = (f"staged {change.id}: {what(change)}, from {sources(change)}" for change in wanted)
    print_changes(store, zip(heads, wanted, strict=True))
    if not wanted:
        print("note: nothing waits", file=sys.stderr)
