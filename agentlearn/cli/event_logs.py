"""Which log of events a command reads, and what it says of one that is not as it should be."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from agentlearn.cli.stores import open_store
from agentlearn.errors import BadInput
from agentlearn.events.lines import follow_lines, open_log, read_lines
from agentlearn.events.read import EventReader
from agentlearn.guard import plain
from agentlearn.store.places import shown_path

WAIT_MS = 200


class Log:
    """The file that was named, stdin for `-`, else the log of a store."""

    def __init__(self, named: str | None, user: bool) -> None:
        self.is_stdin = named == "-"
        self.is_named = named is not None
        self.path = Path(named) if named is not None else open_store(user).places.events

    def __str__(self) -> str:
        return "stdin" if self.is_stdin else plain(shown_path(self.path))

    def open(self) -> BinaryIO | None:
        """None where a store has no log yet."""
        file = open_log(self.path, follow_links=self.is_named)
        if file is None and self.is_named:
            raise BadInput(f"there is no file {self.path}")
        return file

    def lines(self) -> Iterator[bytes]:
        if self.is_stdin:
            yield from read_lines(sys.stdin.buffer)
            return
        file = self.open()
        if file is not None:
            with file:
                yield from read_lines(file)

    def followed(self) -> Iterator[bytes]:
        """A pipe ends by itself; a file is waited for, also where it is not there yet."""
        if self.is_stdin:
            return self.lines()
        if (file := self.open()) is not None:  # a wrong name is told, not waited for
            file.close()
        else:
            print(f"note: waiting for {self}", file=sys.stderr)
        return follow_lines(
            self.path, lambda: open_log(self.path, follow_links=self.is_named), wait_for_more
        )


def wait_for_more() -> None:
    """A moment; ends the command where nobody reads on, which no write would tell in time."""
    import os
    import select
    import stat
    import time

    try:
        out = sys.stdout.fileno()
        is_pipe = stat.S_ISFIFO(os.fstat(out).st_mode) or stat.S_ISSOCK(os.fstat(out).st_mode)
    except (OSError, ValueError):
        is_pipe = False
    if not is_pipe:
        time.sleep(WAIT_MS / 1000)
        return
    poll = select.poll()
    poll.register(out, 0)
    if poll.poll(WAIT_MS):
        raise BrokenPipeError


def tell_foreign(reader: EventReader, log: Log) -> None:
    """Lines that are no events are told once, whatever their number."""
    if reader.foreign:
        numbers = ", ".join(map(str, reader.numbers))
        more = ", …" if reader.foreign > len(reader.numbers) else ""
        are = (
            "1 line is no event" if reader.foreign == 1 else f"{reader.foreign} lines are no events"
        )
        print(f"warning: {log}: {are} ({numbers}{more})", file=sys.stderr)
