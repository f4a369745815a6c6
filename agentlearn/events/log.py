"""Where events go: nowhere, to several places, or to a file, a line each."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path

from agentlearn.errors import AgentlearnError
from agentlearn.events.values import Emit, Event


def new_trace_id() -> str:
    return secrets.token_hex(8)


def ignore(event: Event) -> None:
    """Where nobody listens."""


def tee(*emits: Emit) -> Emit:
    """Each event to all of them, also where one of them fails."""

    def emit(event: Event) -> None:
        failures = []
        for each in emits:
            try:
                each(event)
            except AgentlearnError as error:
                failures.append(error)
        if failures:
            raise failures[0]

    return emit


def _stop(error: AgentlearnError) -> None:
    raise error


class EventLog:
    """Appends a line an event to a file, whole and at once: several processes may write it.

    The first time a line cannot be written, `failed` hears of it: by default it raises, which fits
    a file that a person named. Later lines are then tried without another word.
    """

    def __init__(
        self,
        path: str | Path,
        failed: Callable[[AgentlearnError], None] = _stop,
        follow_links: bool = True,
    ) -> None:
        """`follow_links` is False for a file inside a project: a clone may bring a link."""
        self.path = Path(path)
        self.failed = failed
        self.follow_links = follow_links
        self.told = False

    def __call__(self, event: Event) -> None:
        try:
            self._append(event.line().encode() + b"\n")
        except OSError as error:
            if not self.told:
                self.told = True
                reason = error.strerror or type(error).__name__
                self.failed(AgentlearnError(f"events cannot be written to {self.path}: {reason}"))

    def _append(self, line: bytes) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        if not self.follow_links:
            flags |= os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe that nobody reads is not waited for
        file = os.open(self.path, flags, 0o600)
        try:
            if stat.S_ISREG(os.fstat(file).st_mode):
                self._append_to_file(file, line)
            else:
                os.write(file, line)
        finally:
            os.close(file)

    def _append_to_file(self, file: int, line: bytes) -> None:
        """A full disk may have cut the last line off: this one must not be glued to it."""
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
        size = os.fstat(file).st_size
        if size and self._last_byte(file) != b"\n":
            line = b"\n" + line
        if os.write(file, line) < len(line):
            os.ftruncate(file, size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def _last_byte(self, file: int) -> bytes:
        """A log may be moved away in this moment, as logs are: that costs no event."""
        try:
            with self.path.open("rb") as again:
                if os.path.samestat(os.fstat(again.fileno()), os.fstat(file)):
                    again.seek(-1, os.SEEK_END)
                    return again.read(1)
        except OSError:
            pass
        return b"\n"
