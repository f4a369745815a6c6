"""What runs came to: how many, how they ended, the tokens that models counted, and the time.

Adds up the completions in the project's log, .agentlearn/events.jsonl, which every run adds to.
With --file, which may be repeated, other logs are read instead, such as the one that each run of
reflexion keeps in .agentlearn/runs/RUN; a run that several logs tell of counts once. Tokens count
for the root model of a run, also those of its sub-calls. Days are UTC.
"""

from __future__ import annotations

import sys
from typing import Annotated, get_args

import typer

from agentlearn.cli import options
from agentlearn.cli.output import choose_format, write_json
from agentlearn.cli.since import parse_since, since_option
from agentlearn.cli.stores import User
from agentlearn.errors import BadInput
from agentlearn.events.read import EventReader
from agentlearn.events.totals import By, Totals

FORMATS = ("text", "json")
KINDS = ("completion", "subcall_fallback")


def main(
    since: Annotated[str | None, since_option("Only runs that ended since then")] = None,
    by: Annotated[
        str, typer.Option("--by", metavar="model|command|day", help="What makes a row.")
    ] = "model",
    file: Annotated[
        list[str] | None,
        typer.Option(
            "--file",
            metavar="FILE|-",
            help="Read this log instead (may be repeated); - is stdin.",
            show_default=False,
        ),
    ] = None,
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    from agentlearn.cli.usage_output import as_dict, print_totals

    chosen = choose_format(format, json, FORMATS)
    totals = Totals(_checked(by), parse_since(since) if since else None)
    _read(totals, file, user)
    if chosen == "json":
        write_json(as_dict(totals))
    elif totals.all.runs:
        print_totals(totals)
    if not totals.all.runs:
        print(f"note: no run has ended{f' since {since}' if since else ''}", file=sys.stderr)
    if totals.unfinished:
        times = "1 fallback" if totals.unfinished == 1 else f"{totals.unfinished} fallbacks"
        print(f"note: {times} of runs that have not ended", file=sys.stderr)


def _checked(by: str) -> By:
    for known in get_args(By):
        if by == known:
            return known  # type: ignore[no-any-return]
    raise BadInput(f"--by {by} is none of {', '.join(get_args(By))}")


def _read(totals: Totals, files: list[str] | None, user: bool) -> None:
    from agentlearn.cli.event_logs import Log, tell_foreign

    for named in files or (None,):
        log, reader = Log(named, user), EventReader(KINDS)
        for kept in reader.read(log.lines()):
            totals.add(kept)
        tell_foreign(reader, log)
    totals.finish()
