"""What sessions too long for any prompt have to say: an answer, with the lines it rests on.

A root model gets an outline and tools to look, search and ask a cheaper model about parts; it never
gets the whole text. Places in the answer are checked, and those that are not there are struck out.
Without a model the answer is what the session itself shows: what was rejected, corrected, solved.
With no SESSION, this project's latest is read. Exit 0 if the run converged, 1 if a limit ended it
(what was found is printed), 4 if the model failed.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.load import Loader, piped_in
from agentlearn.cli.output import choose_format
from agentlearn.config import resolve

FORMATS = ("text", "json")


def main(
    sessions: options.Sessions = None,
    question: Annotated[
        str | None,
        typer.Option(
            "--question",
            metavar="TEXT",
            help='What to find out (default "What should the next session know?").',
            show_default=False,
        ),
    ] = None,
    root_model: Annotated[
        str | None,
        typer.Option(
            "--root-model",
            metavar="NAME",
            help="The model that explores (default: the model of the settings).",
            show_default=False,
        ),
    ] = None,
    subcall_model: Annotated[
        str | None,
        typer.Option(
            "--subcall-model",
            metavar="NAME",
            help="A cheaper one, for all steps but the first and for reading parts.",
            show_default=False,
        ),
    ] = None,
    max_iterations: Annotated[
        int | None,
        typer.Option(
            "--max-iterations", metavar="N", help="Rounds (default 15).", show_default=False
        ),
    ] = None,
    max_subcalls: Annotated[
        int | None,
        typer.Option(
            "--max-subcalls",
            metavar="N",
            help="Questions about parts (default 50).",
            show_default=False,
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens",
            metavar="N",
            help="Tokens, read and written, of all models (default 1000000).",
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout", metavar="SECONDS", help="For all of it (default 900).", show_default=False
        ),
    ] = None,
    max_chars: Annotated[
        int | None,
        typer.Option(
            "--max-chars",
            metavar="N",
            help="Without a model: so long an answer (default 12000).",
            show_default=False,
        ),
    ] = None,
    no_model: Annotated[
        bool, typer.Option("--no-model", help="Answer from evidence alone, whatever is set.")
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Pay again for parts that were read before.")
    ] = False,
    events: options.Events = None,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
    latest: options.Latest = False,
    strict: options.Strict = None,
) -> None:
    from agentlearn.cli import distill_run as run
    from agentlearn.cli.explorers import root_of

    chosen = choose_format(format, json, FORMATS)
    settings = resolve(
        root_model=root_model,
        subcall_model=subcall_model,
        distill_max_iterations=max_iterations,
        distill_max_subcalls=max_subcalls,
        distill_max_tokens=max_tokens,
        distill_timeout=timeout,
        max_chars=max_chars,
        strict=strict,
    )
    asked = run.checked_question(question)
    root = None if no_model else root_of(settings)
    if root is None:
        print("note: no model was used: the answer is what the session shows", file=sys.stderr)
        if question is not None:
            print("note: the question is not understood without one", file=sys.stderr)
    loader = Loader(
        sessions, latest or not (sessions or piped_in()), settings.strict, keep_bytes=False
    )
    emit = run.events_to(events, costs=root is not None)
    if root is None:
        done = run.by_evidence(loader, settings.max_chars, emit)
    else:
        done = run.by_model(loader, asked, root, settings, emit, cached=not no_cache)
    code = run.show(done, chosen)
    loader.finish(code)
