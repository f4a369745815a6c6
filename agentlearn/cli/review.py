"""Read sessions, and write what the next one should know: skills and memory.

A reviewer that may use nothing but skill and memory tools reads each session: the model that was
named, or plain rules that need neither a key nor a network. Every change names the lines it rests
on; `agentlearn why` shows them, `agentlearn revert` takes a change back. With --dry-run nothing
is written, with --stage changes wait for `agentlearn adopt` (exit 3).
"""

from __future__ import annotations

from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.load import Loader
from agentlearn.cli.output import choose_format
from agentlearn.cli.stores import User, open_store
from agentlearn.config import resolve
from agentlearn.store.values import Change

FORMATS = ("text", "json", "jsonl")


def main(
    sessions: options.Sessions = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="The model that reviews, on any server with the OpenAI chat API "
            "(OPENAI_API_KEY, OPENAI_BASE_URL); scripted:FILE answers from a file.",
            show_default=False,
        ),
    ] = None,
    reviewer: Annotated[
        str | None,
        typer.Option(
            "--reviewer",
            metavar="auto|model|rules",
            help="Who reviews (default auto: the model if one is named, else the rules).",
            show_default=False,
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, write nothing.")
    ] = False,
    stage: Annotated[
        bool, typer.Option("--stage", help="Keep the changes aside until they are adopted.")
    ] = False,
    force: Annotated[
        bool, typer.Option("--force", help="Review also what the gate would pass over.")
    ] = False,
    nudge_interval: Annotated[
        int | None,
        typer.Option(
            "--nudge-interval",
            metavar="N",
            help="So many tool calls make a session worth a review (default 10).",
            show_default=False,
        ),
    ] = None,
    max_iterations: Annotated[
        int | None,
        typer.Option(
            "--max-iterations",
            metavar="N",
            help="Rounds of tools for the model (default 6).",
            show_default=False,
        ),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens",
            metavar="N",
            help="Tokens the model may read and write for one session (default 200000).",
            show_default=False,
        ),
    ] = None,
    max_chars: Annotated[
        int | None,
        typer.Option(
            "--max-chars",
            metavar="N",
            help="So much of the transcript a model reads (default 12000).",
            show_default=False,
        ),
    ] = None,
    long: Annotated[
        str | None,
        typer.Option(
            "--long",
            metavar="evidence|tail|ends|rlm",
            help="What a model reads of a session that is longer: its weightiest turns (default), "
            "its end, both ends; rlm: another model reads all of it first, which costs more.",
            show_default=False,
        ),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option(
            "--prompt", metavar="FILE", help="What the model is told instead.", show_default=False
        ),
    ] = None,
    events: options.Events = None,
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
    latest: options.Latest = False,
    strict: options.Strict = None,
) -> None:
    from agentlearn.cli import review_run as run
    from agentlearn.cli.learned import begin_to_learn, keep_learned
    from agentlearn.cli.review_output import Printer

    chosen = choose_format(format, json, FORMATS)
    settings = resolve(
        model=model,
        reviewer=reviewer,
        nudge_interval=nudge_interval,
        max_iterations=max_iterations,
        max_tokens=max_tokens,
        max_chars=max_chars,
        long=long,
        strict=strict,
    )
    mode = run.mode_of(dry_run, stage)
    store = open_store(user)
    chosen_model = run.choose_reviewer(settings)
    loader = Loader(sessions, latest, settings.strict, keep_bytes=True)
    takes_long = chosen_model is not None or len(loader.candidates) > 1
    emit = run.event_sink(events, store, mode, takes_long)
    if mode != "dry-run":
        begin_to_learn(store)
    reviewing = run.prepare(store, mode, settings, chosen_model, prompt, force, emit)
    printer = Printer(chosen, store, mode)

    def learned(changes: list[Change]) -> None:
        # Also where nothing changed: a person may have changed the files by hand.
        if mode == "apply" and store.places.own.is_dir():
            keep_learned(store, user, changes)

    try:
        code = run.review_all(loader, reviewing, printer, learned)
    finally:
        printer.finish()  # what was made is told, whatever came after
    loader.finish(code)
