"""The base of knowledge as a whole: list, export and import as JSON lines, prune what is worn out.

list shows all that is known, by subject, with the ids for forget. export prints every field
of every item; import takes them back, and what is there already keeps the higher confidence. prune
forgets what is unused for 90 days, unverified and under 0.5.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.bases import as_dict, base_to_write, project_base, user_base
from agentlearn.cli.load import piped_in
from agentlearn.cli.output import choose_format, write_bytes, write_json
from agentlearn.cli.stores import User
from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.guard import plain
from agentlearn.knowledge.base import Base
from agentlearn.knowledge.portable import LOW_CONFIDENCE, is_worn_out, items_in, line_of
from agentlearn.knowledge.values import Item

FORMATS = ("text", "json")
MOST_COMPARED = 1000
"""Of larger imports conflicts are told when they are recalled."""
ACTIONS = ("list", "export", "import", "prune")


def main(
    action: Annotated[str, typer.Argument(metavar="list|export|import|prune")],
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", show_default=False, help="What import reads (or stdin)."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="prune: show what would go, forget nothing.")
    ] = False,
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    if action not in ACTIONS:
        raise BadInput(f"{action[:40]!r} is none of {', '.join(ACTIONS)}")
    if file is not None and action != "import":
        raise BadInput(f"{action} takes no file", "agentlearn knowledge export > FILE")
    if action == "list":
        _list(user, chosen)
    elif action == "export":
        _export(user)
    elif action == "import":
        _import(file, user, chosen)
    else:
        _prune(user, dry_run, chosen)


def _list(user: bool, chosen: str) -> None:
    with user_base() if user else project_base() as base:
        items = base.items("ORDER BY subject, predicate, number")
    if chosen == "json":
        write_json([as_dict(item) for item in items])
        return
    for item in items:
        about = f"{item.kind}, {item.confidence:.2f}, {item.source}"
        where = f" ({item.scope}/)" if item.scope else ""
        print(plain(f"{item.id}  [{about}] {item.shown}{where}"))
    if not items:
        print("note: nothing is known yet (agentlearn remember, review)", file=sys.stderr)


def _export(user: bool) -> None:
    with user_base() if user else project_base() as base:
        items, damage = base.all_that_can_be_read()
    for item in items:
        write_bytes(line_of(item))
    if damage is not None:
        hint = "move the file away, then agentlearn knowledge import what was printed"
        found = f"{len(items)} item{'s' * (len(items) != 1)} could be read"
        raise AgentlearnError(f"{damage.message}; {found}", hint)


def _import(file: str | None, user: bool, chosen: str) -> None:
    if file in (None, "-"):
        if not piped_in():
            raise BadInput("there is nothing to import", "agentlearn knowledge import FILE")
        items = list(items_in(sys.stdin.buffer))
    else:
        try:
            with Path(str(file)).open("rb") as lines:
                items = list(items_in(lines))
        except OSError as error:
            raise BadInput(f"cannot read {file}: {error.strerror}") from None
    with base_to_write(user) as base:
        new, again = base.replace_all(items)
        if len(items) <= MOST_COMPARED:
            _tell_conflicts(base, items)
    if chosen == "json":
        write_json({"new": new, "known": again})
    else:
        print(f"imported {new + again}: {new} new, {again} known already")


def _tell_conflicts(base: Base, items: list[Item]) -> None:
    for item in items:
        for other in base.others(item)[:1]:
            said = f"{item.shown} (id: {item.id}) conflicts with {other.shown} (id: {other.id})"
            print(plain(f"note: {said}: both are kept"), file=sys.stderr)


def _prune(user: bool, dry_run: bool, chosen: str) -> None:
    with user_base() if user else project_base() as base:
        low = base.items("WHERE verified = 0 AND confidence < ?", (LOW_CONFIDENCE,))
        worn = [item for item in low if is_worn_out(item)]
        if worn and not dry_run:
            base.forget(worn)
    if chosen == "json":
        write_json([as_dict(item) for item in worn])
        return
    for item in worn:
        print(plain(f"{item.id}  {item.shown}"))
    done = "would be forgotten" if dry_run else "forgotten"
    print(f"{len(worn)} {done}", file=sys.stderr)
