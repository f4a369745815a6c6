"""A session as text within a budget of characters: what a reviewer reads.

Every entry is tagged (user:, assistant:, system:, tool_call:, tool_result:) and what it goes on
with is indented. Over the budget, --keep says what stays: the tail, both ends, or the turns with
the largest rewards and what surrounds them. With no SESSION, this project's latest is shown;
several are told apart by a line "# session ID" before each.
"""

from __future__ import annotations

import itertools
from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.load import Loader, piped_in
from agentlearn.cli.output import choose_format, write_bytes, write_json
from agentlearn.config import resolve

FORMATS = ("text", "json")


def main(
    sessions: options.Sessions = None,
    max_chars: Annotated[
        int | None,
        typer.Option(
            "--max-chars",
            metavar="N",
            help="Budget in characters (default 12000).",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        str | None,
        typer.Option(
            "--keep",
            metavar="tail|ends|evidence",
            help="What stays when it is too long (default tail).",
            show_default=False,
        ),
    ] = None,
    lines: Annotated[
        bool, typer.Option("--lines", help="Put the line number before each entry: [L120].")
    ] = False,
    no_tools: Annotated[
        bool, typer.Option("--no-tools", help="Leave out calls and their results.")
    ] = False,
    rewards: options.RewardRules = None,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
    latest: options.Latest = False,
    strict: options.Strict = None,
) -> None:
    from agentlearn.guard import one_line
    from agentlearn.render import render_session, was_truncated

    chosen = choose_format(format, json, FORMATS)
    settings = resolve(max_chars=max_chars, keep=keep, rewards=rewards, strict=strict)
    if not sessions and not piped_in():
        latest = True  # all sessions of a project are more than anyone wants to read
    loader = Loader(sessions, latest, settings.strict)
    rules = None
    if settings.keep == "evidence":
        from agentlearn.rewards.rules import load_rules

        rules = load_rules(settings.rewards)
    end = "\n" if chosen == "text" and settings.max_chars > 1 else ""
    rendered = []
    found = loader.sessions()
    first = list(itertools.islice(found, 2))
    several = len(first) > 1
    for number, session in enumerate(itertools.chain(first, found)):
        turns, weights = session.turns(), None
        if rules is not None:
            from agentlearn.rewards.worth import score_session

            scored = score_session(session, rules, 1.0)
            turns = scored.turns
            weights = [sum(abs(drawn.value) for drawn in each) for each in scored.drawn]
        text = render_session(
            session,
            settings.max_chars - len(end),
            settings.keep,
            lines=lines,
            tools=not no_tools,
            turns=turns,
            weights=weights,
        )
        if chosen == "json":
            rendered.append(
                {
                    "id": session.id,
                    "path": session.path,
                    "dialect": session.dialect,
                    "max_chars": settings.max_chars,
                    "chars": len(text),
                    "truncated": was_truncated(text),
                    "text": text,
                }
            )
            continue
        if several:
            heading = f"{chr(10) if number else ''}# session {one_line(session.id, 200)}\n"
            write_bytes(heading.encode("utf-8", "replace"))
        write_bytes((text + end).encode("utf-8", "replace"))
    if chosen == "json":
        write_json(rendered)
    loader.finish()
