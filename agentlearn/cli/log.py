"""The changes to skills and memory, the newest first.

Every line is one change: its id, when it was made, what it did, who made it, which lines of which
session it rests on, and what became of it.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.changes import as_dict, by, sources, told_status, what, when
from agentlearn.cli.output import choose_format, json_line, write_bytes, write_json, write_table
from agentlearn.cli.stores import User, open_store
from agentlearn.errors import BadInput
from agentlearn.guard import plain
from agentlearn.store.journal import State
from agentlearn.store.values import Change

FORMATS = ("text", "json", "jsonl")


def main(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME]", show_default=False, help="Only those to this skill, MEMORY or USER."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", help="At most so many.", min=1, show_default=False),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="With the files before and after (json, jsonl).")
    ] = False,
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    if full and chosen == "text":
        raise BadInput("--full is for --format json and jsonl", "agentlearn diff shows what waits")
    store = open_store(user)
    state = store.state()
    found = [change for change in reversed(state.seen.values()) if _is_meant(change, name)][:limit]
    if chosen == "text":
        _print_table(state, found)
    elif chosen == "json":
        write_json([as_dict(store, state, change, full) for change in found])
    else:
        for change in found:
            write_bytes(json_line(as_dict(store, state, change, full)))
    if not found:
        what_for = f" to {name}" if name else ""
        print(plain(f"note: there are no changes{what_for}"), file=sys.stderr)


def _is_meant(change: Change, name: str | None) -> bool:
    return name is None or change.name in (name, name.upper().removesuffix(".MD"))


def _print_table(state: State, changes: list[Change]) -> None:
    rows = [
        [
            change.id,
            when(change),
            what(change),
            by(change),
            sources(change),
            told_status(state, change),
            change.text,
        ]
        for change in changes
    ]
    columns = ["change", "when", "what", "by", "from", "became", "text"]
    write_table(columns, rows, stretch=6, droppable=("from", "by", "when"))
