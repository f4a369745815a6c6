"""Progress of long work: a bar on stderr, if that is a terminal that the result does not share."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from agentlearn.events import Emit, Event

T = TypeVar("T")
FEW = 20
"""So few are done before a bar could be read."""


def with_progress(items: Sequence[T], doing: str, unit: str) -> Iterator[T]:
    """The items one by one."""
    if len(items) <= FEW or not sys.stderr.isatty() or sys.stdout.isatty():
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
    console = Console(stderr=True)
    # What is printed meanwhile is the result, and it goes where it was sent: not to the bar.
    with Progress(
        *columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False
    ) as progress:
        yield from progress.track(items, total=len(items))


def live_status() -> Emit:
    """What a run is doing, on one line of a terminal that goes when something is to be printed."""
    from rich.console import Console

    from agentlearn.events import Completion, Progress, SessionSkipped

    status = Console(stderr=True).status("")
    batch = ""

    def emit(event: Event) -> None:
        nonlocal batch
        if isinstance(event, (Completion, SessionSkipped)):
            status.stop()
        if not isinstance(event, Progress):
            return
        step = ""
        if event.status == "reading":
            batch = f"file {event.iteration} of {event.max_iterations}"
        elif event.max_iterations > 1:
            step = f"{event.status}, round {event.iteration} of {event.max_iterations}"
        if shown := ": ".join(filter(None, (batch, step))):
            status.update(shown)
            status.start()

    return emit
