"""Arguments and options that several commands share, so that they read the same everywhere."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Sessions = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[SESSION]...",
        show_default=False,
        help="A transcript, a folder, a glob, an id or its beginning, or - for stdin. "
        "None: stdin if it is a pipe, else this project's own sessions.",
    ),
]
Latest = Annotated[bool, typer.Option("--latest", help="Only the one that changed last.")]
Strict = Annotated[
    bool | None,
    typer.Option("--strict", help="Exit with 2 if a line cannot be read.", show_default=False),
]
Gamma = Annotated[
    float | None,
    typer.Option(
        "--gamma", metavar="G", help="Discount, 0 to 1 (default 0.99).", show_default=False
    ),
]
RewardRules = Annotated[
    str | None,
    typer.Option(
        "--rewards",
        metavar="FILE|native",
        help="Rules for rewards, in YAML (agentlearn config tells where the defaults are, "
        "to copy); native: only what the file states itself.",
        show_default=False,
    ),
]
Labels = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="FILE",
        help="Verdicts: CSV or JSON lines of session id, path or instance id, "
        "and a score or outcome.",
        show_default=False,
    ),
]
Evaluator = Annotated[
    str | None,
    typer.Option(
        "--evaluator",
        metavar="CMD",
        help="A shell command that judges each session: an exit code other than 0 is failure; "
        "with 0, a number on its last line is the score (1 or more is success), without one it is "
        "success. It gets the session as native JSON lines on stdin, AGENTLEARN_SESSION_ID and "
        "AGENTLEARN_SESSION_PATH; after 300 seconds it is ended and gives no verdict.",
        show_default=False,
    ),
]
Events = Annotated[
    str | None,
    typer.Option(
        "--events",
        metavar="FILE|-",
        help="Write the run's events here as JSON lines; - is stderr.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Short for --format json.")]
Output = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write here, not to stdout.", show_default=False
    ),
]


def format_option(known: tuple[str, ...]) -> Any:
    """`--format`, with the formats that a command knows; the first is the default."""
    return typer.Option(
        "--format",
        metavar="|".join(known),
        help=f"How the result is printed (default {known[0]}).",
        show_default=False,
    )
