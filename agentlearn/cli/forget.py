"""Forget what is known under these ids, or their beginnings."""

from __future__ import annotations

from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.bases import as_dict, both_bases
from agentlearn.cli.output import choose_format, write_json
from agentlearn.errors import BadInput
from agentlearn.guard import plain

FORMATS = ("text", "json")


def main(
    ids: Annotated[
        list[str],
        typer.Argument(
            metavar="ID...", help="As remember and agentlearn knowledge list tell them."
        ),
    ],
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    bases = both_bases()
    wanted = []
    for id in ids:
        found = [(base, item) for base in bases for item in base.get(id)]
        if not found:
            raise BadInput(f"nothing is known under {id[:40]!r}", "agentlearn knowledge list")
        if len({item.id for _, item in found}) > 1:
            known = ", ".join(item.id for _, item in found)
            raise BadInput(f"{id} is the beginning of several ids: {known}")
        wanted += found
    for base in bases:
        items = [item for owner, item in wanted if owner is base]
        if items:
            base.forget(items)
    gone = {item.id: item for _, item in wanted}.values()
    if chosen == "json":
        write_json([as_dict(item) for item in gone])
        return
    for item in gone:
        print(plain(f"Forgot {item.kind}: {item.shown} (id: {item.id})"))
