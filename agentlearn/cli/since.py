"""`--since`: so long ago, or a date."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import typer

from agentlearn.errors import BadInput
from agentlearn.sessions.text import parse_time

UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def since_option(meaning: str) -> Any:
    return typer.Option(
        "--since",
        metavar="WHEN",
        help=f"{meaning}: 30m, 12h, 7d, 2w, 2026-11-01.",
        show_default=False,
    )


def parse_since(text: str) -> datetime:
    """A moment from `7d`, `12h`, `30m`, `2w` or an ISO date."""
    unit = UNITS.get(text[-1:])
    if unit and text[:-1].isdecimal() and int(text[:-1]) < 100_000:
        return datetime.now(UTC) - timedelta(**{unit: int(text[:-1])})
    moment = parse_time(text)
    if moment is None:
        raise BadInput(f"--since {text} is no time", "for example --since 7d or --since 2026-11-01")
    return moment
