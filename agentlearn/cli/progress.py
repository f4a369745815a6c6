"""Progress of long work, on stderr: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rich.console import RenderableType

    from agentlearn.events import Emit, Event, Progress

T = TypeVar("T")
FEW = 20
"""So few are done before a bar could be read."""
BAR = 24


def with_progress(items: Sequence[T], doing: str, unit: str) -> Iterator[T]:
    """The items one by one; a bar if stderr is a terminal that the result does not share."""
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


def show_progress() -> Emit:
    """How far a run is, on stderr: a bar on a terminal, elsewhere a plain line an event."""
    import os

    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        return LiveBar()
    return plain_lines()


def plain_lines() -> Emit:
    from agentlearn.cli.event_words import in_words

    def emit(event: Event) -> None:
        with contextlib.suppress(OSError):  # a run goes on where nobody listens
            # In one piece: a line of another thread must not end up inside.
            sys.stderr.write(f"{in_words(event)}\n")
            sys.stderr.flush()

    return emit


class LiveBar:
    """The step of a run, a bar, tokens and time, on one line that goes when there is other news."""

    def __init__(self) -> None:
        import atexit

        from rich.console import Console
        from rich.live import Live

        self.batch = self.batch_trace = ""
        """How far a run is that goes through several files, each with a run of its own."""
        self.step = ""
        self.fraction: float | None = None
        self.spent: dict[str, int] = {}
        """Tokens of each run so far."""
        self.tokens = 0
        self.since = time.monotonic()
        # What is printed to stdout meanwhile is the result: it goes where it was sent.
        self.live = Live(
            get_renderable=self.line,
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
        )
        atexit.register(self.live.stop)  # a run that breaks off must not keep the cursor

    def __call__(self, event: Event) -> None:
        from agentlearn.cli.event_words import in_words
        from agentlearn.events import Completion, Progress, SubcallFallback

        if isinstance(event, Completion):
            self.spent[event.trace_id] = event.usage.total
        if not isinstance(event, Progress):
            self.live.stop()
            is_news = isinstance(event, SubcallFallback) or (
                isinstance(event, Completion) and event.command == "distill"
            )
            if is_news:  # what it cost; a review tells that itself
                print(in_words(event), file=sys.stderr)
            if isinstance(event, SubcallFallback) and self.step:
                self.live.start(refresh=True)  # the run goes on, and the request may take long
            return
        if event.tokens is not None:
            self.spent[event.trace_id] = event.tokens
        self.show(event)

    def show(self, event: Progress) -> None:
        if event.max_iterations == 1:  # over before it can be read
            return
        of = f" of {event.max_iterations}" if event.max_iterations else ""
        step = f"{event.status}, {event.iteration}{of}"
        if event.status == "reading" or event.trace_id == self.batch_trace:
            self.batch, self.step, self.batch_trace = step, "", event.trace_id
        else:
            self.step = step
        self.fraction = event.fraction if event.max_iterations else None
        self.tokens = sum(self.spent.values())
        self.live.start()
        self.live.refresh()

    def line(self) -> RenderableType:
        from rich.progress_bar import ProgressBar
        from rich.table import Table
        from rich.text import Text

        seconds = int(time.monotonic() - self.since)
        bar = ProgressBar(1.0, self.fraction or 0.0, BAR, pulse=self.fraction is None)
        after = f"{self.tokens:,} tokens  " if self.tokens else ""
        after += f"{seconds // 60}:{seconds % 60:02}"
        line = Table.grid(padding=(0, 2, 0, 0))
        for _ in range(3):
            line.add_column(no_wrap=True)
        line.add_row(Text(": ".join(filter(None, (self.batch, self.step)))), bar, Text(after))
        return line
