"""What runs said of themselves: progress, completions, changes, fallbacks; the oldest first.

Reads the project's log, .agentlearn/events.jsonl, which every run adds to. A run of
reflexion keeps its own in .agentlearn/runs/RUN/events.jsonl as well: name it with --file. Times
are UTC. Events hold no text of a session.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.output import choose_format, write_bytes
from agentlearn.cli.since import parse_since, since_option
from agentlearn.cli.stores import User
from agentlearn.errors import BadInput
from agentlearn.events.read import KINDS, EventReader, Kept

FORMATS = ("text", "json", "jsonl")
SHORT_TRACE = 8
WIDEST = max(map(len, KINDS))


def main(
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on with what is added, until Ctrl-C.")
    ] = False,
    trace: Annotated[
        str | None,
        typer.Option(
            "--trace",
            metavar="ID",
            help="Only those of this run: its trace id or the beginning of it.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="KIND",
            help=f"Only of this kind (may be repeated): {', '.join(KINDS)}.",
            show_default=False,
        ),
    ] = None,
    since: Annotated[str | None, since_option("Only those since then")] = None,
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            metavar="FILE|-",
            help="Read this log instead; - is stdin.",
            show_default=False,
        ),
    ] = None,
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    from agentlearn.cli.event_logs import Log, tell_foreign

    chosen = choose_format(format, json, FORMATS)
    if follow and chosen == "json":
        raise BadInput("--follow has no end, as json needs one", "--format jsonl")
    if trace == "":
        raise BadInput("--trace needs the beginning of an id")
    reader = EventReader(_checked(kind), trace or "", parse_since(since) if since else None)
    log = Log(file, user)
    lines = log.followed() if follow else log.lines()
    try:
        count = _print(reader.read(lines), chosen, flush=follow or log.is_stdin)
    finally:
        tell_foreign(reader, log)
    if not count:
        fits = " that fit" if reader.lines > reader.foreign else ""
        print(f"note: there are no events{fits} in {log}", file=sys.stderr)


def _checked(kinds: list[str] | None) -> Sequence[str]:
    for kind in kinds or ():
        if kind not in KINDS:
            raise BadInput(f"--kind {kind} is none of {', '.join(KINDS)}")
    return kinds or KINDS


def _print(events: Iterable[Kept], chosen: str, flush: bool) -> int:
    """As they come, however many there are."""
    count = 0
    for count, kept in enumerate(events, 1):
        if chosen == "json":
            write_bytes((b"[\n  " if count == 1 else b",\n  ") + kept.line().encode())
        else:
            line = kept.line() if chosen == "jsonl" else as_text(kept)
            write_bytes(line.encode() + b"\n")
        if flush:
            sys.stdout.flush()
    if chosen == "json":
        write_bytes(b"\n]\n" if count else b"[]\n")
    return count


def as_text(kept: Kept) -> str:
    from agentlearn.cli.event_words import in_words

    trace = kept.event.trace_id[:SHORT_TRACE]
    return f"{kept.at:%Y-%m-%d %H:%M:%S}  {kept.kind:{WIDEST}}  {trace}  {in_words(kept.event)}"
