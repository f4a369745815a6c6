"""What is known that bears on a conversation, as one block for the next prompt.

Search terms come from the person's and the tools' words among its last five messages. Prints a
block that begins with [KNOWLEDGE_CONTEXT], of notes and knowledge over the floor, or nothing.
"""

from __future__ import annotations

from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.bases import known_context
from agentlearn.cli.load import Loader, piped_in
from agentlearn.cli.output import choose_format, write_bytes, write_json
from agentlearn.knowledge.context import search_words

FORMATS = ("text", "json")


def main(
    session: Annotated[
        str | None,
        typer.Argument(
            metavar="[SESSION]", show_default=False, help="A transcript, an id, or - for stdin."
        ),
    ] = None,
    latest: options.Latest = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    loader = Loader([session] if session else None, latest or not (session or piped_in()))
    words: list[str] = []
    for found in loader.sessions():
        words = search_words(found.entries)  # of several, the last
    block = known_context(words)
    if chosen == "json":
        write_json({"words": words, "block": block})
    else:
        write_bytes(block.encode("utf-8", "replace"))
    loader.finish()
