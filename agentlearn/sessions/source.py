"""Where a transcript's bytes come from: a file or a pipe, decompressed, and the files beside it.

A `Source` is opened once and read forward; `peek` looks ahead without consuming, so that a pipe
can be detected and then read. gzip and zstd are recognised by their first bytes, never by name.
The bytes of a pipe come once: those that are needed again are kept on disk, never in memory.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self, TypeVar

from agentlearn.errors import BadInput
from agentlearn.sessions.unpacked import Joined, decompressed

if TYPE_CHECKING:
    from agentlearn.sessions.spool import Spool

ZIP = b"PK\x03\x04"
SQLITE = b"SQLite format 3\x00"
MOST_EXPANDED = 256 * 1024 * 1024
"""A file that is one JSON value is held in memory as a whole, and archives can be bombs."""

T = TypeVar("T")


class Stream:
    """Bytes with a look ahead. One that breaks off is read up to there; `broken` says why."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._ahead = b""
        self._taken = 0
        """So much of what is ahead was read already: cutting it off each time would be slow."""
        self._read_some = getattr(raw, "read1", raw.read)
        self._is_compressed = not isinstance(raw, Joined)
        self._digest: Any = None
        self._sha256: str | None = None
        self._kept: Spool | None = None
        self.broken: str | None = None

    def peek(self, size: int, until: bytes | None = None) -> bytes:
        """Up to `size` of the next bytes, still to be read.

        Fewer at the end, and where `until` stands in them: a pipe may be silent after that.
        """
        parts = [self._ahead[self._taken :]]
        have = len(parts[0])
        while have < size and not (until and until in parts[-1]):
            more = self._some(size - have)
            if not more:
                break
            parts.append(more)
            have += len(more)
        self._ahead, self._taken = b"".join(parts), 0
        return self._ahead[:size]

    def peek_all(self) -> bytes:
        """All that is left, still to be read: for a file that is one JSON value."""
        self._ahead = self.read()
        return self._ahead

    def readinto(self, buffer: memoryview) -> int:
        if self._ahead:
            taken = self._ahead[self._taken : self._taken + len(buffer)]
            self._taken += len(taken)
            if self._taken == len(self._ahead):
                self._ahead, self._taken = b"", 0
        elif self._is_compressed:
            taken = self._some(len(buffer))
        else:
            got: int = self._raw.readinto(buffer)  # type: ignore[attr-defined]
            self._seen(buffer[:got])
            return got
        buffer[: len(taken)] = taken
        return len(taken)

    def read(self) -> bytes:
        ahead, self._ahead, self._taken = self._ahead[self._taken :], b"", 0
        if not self._is_compressed:
            rest = self._raw.read()
            self._seen(rest)
            self._seen(b"")
            return ahead + rest if rest else ahead
        parts, size = [ahead], len(ahead)
        while more := self._some(1 << 20):
            parts.append(more)
            size += len(more)
            if size > MOST_EXPANDED:
                megabytes = MOST_EXPANDED // 1024 // 1024
                raise BadInput(f"a compressed file expands to one value of over {megabytes} MB")
        return b"".join(parts)

    def _some(self, size: int) -> bytes:
        """The next bytes, at most `size`. Compressed data may be cut short or damaged."""
        if not self._is_compressed:
            some = self._raw.read(size)
        else:
            try:
                some = self._read_some(size)
            except Exception as error:  # each decompressor has errors of its own
                self.broken = f"the compressed data ends early or is damaged: {error}"
                some = b""
        self._seen(some)
        return some

    def keep_digest(self) -> None:
        """Hash what is read, for a pipe that cannot be read again."""
        import hashlib

        self._digest = hashlib.sha256()

    def keep_bytes(self) -> Spool:
        """Keep what is read, and hash it."""
        from agentlearn.sessions.spool import Spool

        self.keep_digest()
        self._kept = Spool()
        return self._kept

    def _seen(self, data: bytes | memoryview) -> None:
        if self._digest is not None:
            self._digest.update(data)
            if not data:
                self._sha256 = self._digest.hexdigest()
            elif self._kept is not None:
                self._kept.add(data)

    def digest(self) -> str:
        """The hash of all the bytes: those that are still to come are waited for."""
        if self._sha256 is None:
            self._spool_rest()
        return self._sha256 or ""

    def _spool_rest(self) -> None:
        """Read what is left to disk, and go on reading there."""
        from agentlearn.sessions.spool import Spool

        rest = self._kept or Spool()
        start = rest.size
        while some := self._some(1 << 20):
            if rest is not self._kept:
                rest.add(some)
        self._digest = None  # all of it is hashed, and must not be a second time
        self._raw = Joined(b"", rest.reader(start))  # type: ignore[arg-type, assignment]
        self._is_compressed = False

    def close(self) -> None:
        self._raw.close()


class Source:
    """A named stream of bytes. `path` is None for a pipe."""

    def __init__(self, path: Path | None, raw: IO[bytes] | None = None, keep: bool = False) -> None:
        """`keep` the bytes, if they come from a pipe: evidence will be asked for."""
        self.path = path
        self.name = "-" if path is None else str(path)
        self._file = raw if raw is not None else _open(path)
        self.stream = Stream(decompressed(self._file))
        self._is_pipe = path is None or path.is_fifo()
        self.elsewhere: frozenset[int] = frozenset()
        """Lines that another file has, too, where they count."""
        self.kept: Spool | None = None
        if self._is_pipe and keep:
            self.kept = self.stream.keep_bytes()
        elif self._is_pipe:
            self.stream.keep_digest()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.path is not None:
            self.stream.close()
            self._file.close()  # a decompressor leaves it open

    def own(self, lines: Iterator[tuple[int, T]]) -> Iterator[tuple[int, T]]:
        """The numbered lines without those that count elsewhere."""
        if not self.elsewhere:
            return lines
        return (each for each in lines if each[0] not in self.elsewhere)

    def beside(self, *names: str) -> Path | None:
        """The first of these files that stands in the transcript's folder (`..` is one up)."""
        if self.path is None:
            return None
        for name in names:
            candidate = self.path.parent / name
            if candidate.is_file():
                return candidate
        return None

    def id_from_bytes(self) -> str:
        """The first 12 hex digits of the hash of the (decompressed) bytes: of all of them, also
        where a pipe has given only some yet.
        """
        if self.path is None or self._is_pipe:
            return self.stream.digest()[:12]
        with Source(self.path) as again:
            again.stream.keep_digest()
            block = memoryview(bytearray(1 << 20))
            while again.stream.readinto(block):
                pass
            return again.stream.digest()[:12]


def _open(path: Path | None) -> IO[bytes]:
    if path is None:
        if sys.stdin is None:
            raise BadInput("there is nothing on stdin: it is closed")
        # What is there, at once: a buffer waits until it is full, and a pipe may stay open.
        return getattr(sys.stdin.buffer, "raw", sys.stdin.buffer)
    try:
        if is_events_folder(path):
            return _events_as_lines(path)
        return path.open("rb", buffering=0)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror or error}") from None


def is_events_folder(path: Path) -> bool:
    """Whether a folder is one session, an event a file, as OpenHands keeps its conversations."""
    return path.name == "events" and path.is_dir() and any(path.glob("event-*.json"))


def _events_as_lines(folder: Path) -> IO[bytes]:
    """The events in order, one a line: then they are read like any other session."""
    lines = []
    for path in sorted(folder.glob("event-*.json")):
        data = path.read_bytes()
        lines.append(b" ".join(data.splitlines()) + b"\n")
    return io.BytesIO(b"".join(lines))
