"""Progress of long work: a bar on a terminal, on stderr, and nothing in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
FEW = 20
"""So few are done before a bar could be read."""


def with_progress(items: Sequence[T], doing: str, unit: str) -> Iterator[T]:
    """The items one by one."""
    if len(items) <= FEW or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn(doing),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
    )
    # Tables and JSON lines come while the bar is shown: only one of them may own the terminal.
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        yield from progress.track(items, total=len(items))
