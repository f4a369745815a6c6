"""Drop changes that wait for approval, all of them or the named ones.

What was discarded is not proposed again.
"""

from __future__ import annotations

import sys
from typing import Annotated

from agentlearn.cli import options
from agentlearn.cli.changes import as_dict, what
from agentlearn.cli.diff import FORMATS, Changes
from agentlearn.cli.output import choose_format, write_json
from agentlearn.cli.stores import User, open_store
from agentlearn.guard import one_line
from agentlearn.store.history import discard


def main(
    changes: Changes = None,
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    store = open_store(user)
    gone = discard(store, changes or [])
    if chosen == "json":
        state = store.state()
        write_json([as_dict(store, state, change) for change in gone])
        return
    for change in gone:
        print(one_line(f"discarded {change.id}: {what(change)}", 300))
    if not gone:
        print("note: nothing waits", file=sys.stderr)
