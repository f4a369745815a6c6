"""Bytes that come once, kept on disk so that they can be read again.

The file has no name, and is gone when nobody holds it any more or the process ends. It is written
at its end and read from anywhere, by several readers at once.
"""

from __future__ import annotations

import io
import os
import tempfile
import weakref
from typing import IO, Any


class Spool:
    def __init__(self) -> None:
        self.file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115
        weakref.finalize(self, self.file.close)
        self.size = 0

    def add(self, data: bytes | memoryview) -> None:
        self.file.seek(0, os.SEEK_END)  # a reader may have left it elsewhere
        self.file.write(data)
        self.size += len(data)

    def reader(self, start: int = 0) -> io.RawIOBase:
        """The bytes from one of them on, also those that are added later."""
        return _Reader(self, start)


class _Reader(io.RawIOBase):
    def __init__(self, spool: Spool, start: int) -> None:
        self._spool = spool
        self._next = start

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        file = self._spool.file
        file.seek(self._next)
        got: int = file.readinto(buffer)  # type: ignore[attr-defined]
        self._next += got
        return got
