"""A session as text within a budget of characters: what a reviewer reads.

Every entry is tagged (user:, assistant:, system:, tool_call:, tool_result:) and what it goes on
with is indented. Over the budget, --keep says what stays: the tail, both ends, or the turns with
the largest rewards and what surrounds them. With no SESSION, this project's latest is shown;
several share the budget evenly and are told apart by a line "# session ID" before each.
"""

from __future__ import annotations

import itertools
import shlex
import sys
from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.load import Loader, piped_in
from agentlearn.cli.output import choose_format, write_bytes, write_json
from agentlearn.config import resolve
from agentlearn.sessions.values import Session

FORMATS = ("text", "json")
LEAST_CHARS = 200
"""Less of a session is not worth its place among others."""


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
    found = loader.sessions()
    shown = list(itertools.islice(found, max(1, settings.max_chars // LEAST_CHARS)))
    left_out = list(itertools.islice(found, 1))
    unshown = len(left_out) + sum(1 for _ in found)
    share = settings.max_chars // max(1, len(shown))
    has_headings = chosen == "text" and len(shown) + unshown > 1 and share >= LEAST_CHARS
    end = "\n" if chosen == "text" and share > 1 else ""
    rendered = []
    for number, session in enumerate(shown):
        heading = ""
        if has_headings:
            heading = f"{chr(10) if number else ''}# session {one_line(session.id, share // 2)}\n"
        turns, weights = session.turns(), None
        if rules is not None:
            from agentlearn.rewards.worth import score_session

            scored = score_session(session, rules, 1.0)
            turns = scored.turns
            weights = [sum(abs(drawn.value) for drawn in each) for each in scored.drawn]
        text = render_session(
            session,
            share - len(heading) - len(end),
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
                    "max_chars": share,
                    "chars": len(text),
                    "truncated": was_truncated(text),
                    "text": text,
                }
            )
            continue
        write_bytes((heading + text + end).encode("utf-8", "replace"))
    if chosen == "json":
        write_json(rendered)
    if left_out:
        _tell_left_out(left_out[0], unshown, shown)
    loader.finish()


def _tell_left_out(first: Session, count: int, shown: list[Session]) -> None:
    from agentlearn.guard import one_sentence

    total = len(shown) + count
    sessions = f"{count} of {total} sessions are" if count > 1 else f"1 of {total} sessions is"
    print(
        f"note: {sessions} left out: each is shown at least {LEAST_CHARS} characters of",
        file=sys.stderr,
    )
    hint = f"a part of each: --max-chars {total * LEAST_CHARS}"
    if first.path not in (None, "-", *(session.path for session in shown)):
        hint += f"; or name one: agentlearn render {shlex.quote(first.path or '')}"
    print(f"hint: {one_sentence(hint)}", file=sys.stderr)
