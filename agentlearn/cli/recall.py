"""Find what is known: a line each, best first, or the conventions of a folder.

Words find words, parts of names (create invoice finds createInvoice), other endings and, where
nothing has a word, what is spelled almost like it. Relevance is from 0 to 1 for every kind.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from agentlearn.cli import options
from agentlearn.cli.bases import as_dict, both_bases, scope_of
from agentlearn.cli.output import choose_format, write_json
from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.guard import plain
from agentlearn.knowledge.recall import Found, conventions, is_harmless_text, recall
from agentlearn.knowledge.tools import NOTHING_FOUND, answer_line, asked
from agentlearn.knowledge.values import KINDS, Item

FORMATS = ("text", "json")


def main(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="QUERY",
            show_default=False,
            help="What to look for.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000)] = 5,
    min_relevance: Annotated[
        float,
        typer.Option("--min-relevance", metavar="R", min=0.0, max=1.0, help="The floor, 0 to 1."),
    ] = 0.3,
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="|".join(KINDS), help="Only this kind.", show_default=False),
    ] = None,
    directory: Annotated[
        str | None,
        typer.Option(
            "--directory",
            metavar="D",
            help="Leave out what holds for other folders only.",
            show_default=False,
        ),
    ] = None,
    conventions_: Annotated[
        bool,
        typer.Option(
            "--conventions",
            help="The conventions of --directory (default: here), its parents', then all.",
        ),
    ] = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    query = " ".join(words or []).strip()
    if kind is not None and kind not in KINDS:
        raise BadInput(f"--kind {kind[:40]} is none of {', '.join(KINDS)}")
    bases = both_bases()
    if math.isnan(min_relevance):
        raise BadInput("--min-relevance is from 0 to 1")
    if conventions_:
        # Without a folder it is the one that the person stands in.
        items = conventions(bases, query or None, scope_of(directory or "."), limit)
        for base in bases:
            base.used(items)  # each knows its own
        _print_conventions(items, chosen)
        return
    if not query:
        raise BadInput("there is nothing to look for", "agentlearn recall QUERY")
    scope = None if directory is None else scope_of(directory)
    troubles: list[AgentlearnError] = []
    answers = asked(
        bases,
        lambda some: recall(some, query, limit, min_relevance, kind, scope),
        troubles.append,
    )
    for base in bases:
        base.used([one.item for one in answers if one.base is base])
    if chosen == "json":
        write_json([_as_dict(one) for one in answers])
    else:
        for one in answers:
            print(answer_line(one))
    if troubles:  # what the other base knows is told; that one could not be read is no success
        raise troubles[0]
    if not answers and chosen == "text":
        print(NOTHING_FOUND)


def _as_dict(found: Found) -> dict[str, Any]:
    conflicts = [claim for claim in found.conflicts if is_harmless_text(claim)]
    return {**as_dict(found.item), "relevance": found.relevance, "conflicts": conflicts}


def _print_conventions(found: list[Item], chosen: str) -> None:
    if chosen == "json":
        write_json([as_dict(item) for item in found])
        return
    for item in found:
        where = f" ({item.scope}/)" if item.scope else ""
        print(plain(f"- [{item.subject}] {item.object}{where}"))
    if not found:
        print("No relevant conventions found.")
