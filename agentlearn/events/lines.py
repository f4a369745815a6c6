"""The lines of a log, read piece by piece: to the end, or as they are written.

A log may be cut short, moved away or not be there yet while it is followed. A line counts when its
end is there; the last line of a file that is read to the end may do without.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from agentlearn.errors import BadInput

PIECE = 256 * 1024
LONGEST = 64 * 1024
"""No event is as long; of what is, only the beginning is kept."""


class Cutter:
    """Cuts pieces into lines, and keeps the last one until its end comes."""

    def __init__(self) -> None:
        self.rest = b""

    def cut(self, piece: bytes) -> Iterator[bytes]:
        first, *others = piece.split(b"\n")
        self.rest += first[: LONGEST - len(self.rest)]
        for other in others:
            yield self.rest
            self.rest = other[:LONGEST]

    def end(self) -> Iterator[bytes]:
        if self.rest:
            yield self.rest
        self.rest = b""


def read_lines(file: BinaryIO) -> Iterator[bytes]:
    """All lines, from a pipe as they come."""
    cutter = Cutter()
    while piece := _read(file):
        yield from cutter.cut(piece)
    yield from cutter.end()


def follow_lines(
    path: Path, open_it: Callable[[], BinaryIO | None], wait: Callable[[], None]
) -> Iterator[bytes]:
    """All lines, and then those that come; `wait` is called between two looks, and may raise."""
    while True:
        file = open_it()
        if file is None:
            wait()
            continue
        with file:
            yield from _lines_until_replaced(path, file, wait)


def _lines_until_replaced(path: Path, file: BinaryIO, wait: Callable[[], None]) -> Iterator[bytes]:
    cutter = Cutter()
    while True:
        is_over = _is_replaced(path, file)  # asked first: then all that it will ever hold is there
        while piece := _read(file):
            yield from cutter.cut(piece)
        if is_over:
            yield from cutter.end()
            return
        if _is_cut_short(file):
            file.seek(0)
            cutter = Cutter()
            continue
        wait()


def _read(file: BinaryIO) -> bytes:
    """A piece, as much as is there; a pipe that nobody writes to has nothing."""
    return file.read1(PIECE) or b""  # type: ignore[attr-defined]


def _is_replaced(path: Path, file: BinaryIO) -> bool:
    try:
        return not os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except OSError:
        return True


def _is_cut_short(file: BinaryIO) -> bool:
    return file.seekable() and file.tell() > os.fstat(file.fileno()).st_size


def open_log(path: Path, follow_links: bool = True) -> BinaryIO | None:
    """A log to read; None if there is none.

    `follow_links` is False for a file inside a project: a clone may bring a link, or a pipe that
    would be waited for.
    """
    try:
        if follow_links:
            return path.open("rb")
        opened = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP and not follow_links:
            raise BadInput(f"{path} is a link: a log is a file of its own") from None
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from None
    file = os.fdopen(opened, "rb")
    if stat.S_ISREG(os.fstat(opened).st_mode):
        return file
    file.close()
    raise BadInput(f"{path} is no file")
