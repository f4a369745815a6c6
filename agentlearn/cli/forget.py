"""Forget what is known under these ids, or their beginnings.

What this project knows goes first; what only your own base knows goes from there.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.bases import as_dict, both_bases, user_base
from agentlearn.cli.output import choose_format, write_json
from agentlearn.cli.stores import User
from agentlearn.errors import BadInput
from agentlearn.guard import plain
from agentlearn.knowledge.base import Base
from agentlearn.knowledge.values import Item

FORMATS = ("text", "json")


def main(
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID...", help="As remember and agentlearn knowledge list say them."),
    ],
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    bases = [user_base()] if user else both_bases()
    wanted = [_known(bases, id) for id in ids]
    for base in bases:
        if items := [item for owner, item in wanted if owner is base]:
            base.forget(items)
    gone = {item.id: item for _, item in wanted}.values()
    if chosen == "json":
        write_json([as_dict(item) for item in gone])
        return
    for item in gone:
        print(plain(f"Forgot {item.kind}: {item.shown} (id: {item.id})"))
        if not user and user_base().get(item.id):
            hint = f"agentlearn forget {item.id} --user"
            print(f"note: your own base has it still: {hint}", file=sys.stderr)


def _known(bases: list[Base], id: str) -> tuple[Base, Item]:
    """The one item that an id means, in the first base that has it."""
    for base in bases:
        found = base.get(id)
        if len(found) > 1:
            known = ", ".join(item.id for item in found)
            raise BadInput(f"{id} is the beginning of several ids: {known}")
        if found:
            return base, found[0]
    raise BadInput(f"nothing is known under {id[:40]!r}", "agentlearn knowledge list")
