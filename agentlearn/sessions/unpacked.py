"""Compressed bytes as they were before: gzip and zstd, known by how they begin."""

from __future__ import annotations

import io
from typing import IO, Any

ZSTD = b"\x28\xb5\x2f\xfd"
GZIP = b"\x1f\x8b"


def decompressed(raw: IO[bytes]) -> IO[bytes]:
    """The stream itself, or what it decompresses to."""
    head = b""
    while len(head) < 4:
        more = raw.read(4 - len(head))
        if not more:
            break
        head += more
    whole: Any = Joined(head, raw)
    if head.startswith(GZIP):
        import gzip

        return gzip.GzipFile(fileobj=whole)  # type: ignore[return-value]
    if head.startswith(ZSTD):
        return _Unpacked(whole)  # type: ignore[return-value]
    return whole  # type: ignore[no-any-return]


class Joined(io.RawIOBase):
    """A few bytes that were already taken, then the rest of the stream."""

    def __init__(self, head: bytes, rest: IO[bytes]) -> None:
        self._head = head
        self._rest = rest

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        head = self._head
        if not head:
            return self._rest.read(size)
        if size < 0:
            self._head = b""
            return head + self._rest.read()
        taken, self._head = head[:size], head[size:]
        return taken

    def readinto(self, buffer: Any) -> int:
        if self._head:
            taken, self._head = self._head[: len(buffer)], self._head[len(buffer) :]
            buffer[: len(taken)] = taken
            return len(taken)
        return self._rest.readinto(buffer)  # type: ignore[attr-defined, no-any-return]

    def close(self) -> None:
        self._rest.close()
        super().close()


class _Unpacked(io.RawIOBase):
    """What a zstd stream holds, frame after frame. The package's own reader does not tell whether
    the last frame came to its end.
    """

    SLICE = 1024
    """A bomb unpacks to 32,000 times its size: so little of it is unpacked at once."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._packed = b""
        self._made = bytearray()
        self._frame: Any = None

    def readable(self) -> bool:
        return True

    def read(self, size: int) -> bytes:  # type: ignore[override]
        """Some bytes, as far as what came so far gives them: a pipe may be silent after that."""
        made = self._made
        while len(made) < size and (self._packed or not made):
            self._packed = self._packed or self._raw.read(64 * self.SLICE)
            try:
                if not self._unpack():
                    break
            except Exception:
                if not made:
                    raise
                break  # what stands before the damage is given first
        some = bytes(made[:size])
        del made[:size]
        return some

    def _unpack(self) -> bool:
        """Unpack a slice; False at the end."""
        if not self._packed:
            if self._frame is not None:
                raise EOFError("the last frame has no end")
            return False
        import zstandard

        frame = self._frame or zstandard.ZstdDecompressor().decompressobj()
        taken = self._packed[: self.SLICE]
        self._made += frame.decompress(taken)
        self._packed = frame.unused_data + self._packed[len(taken) :]
        self._frame = None if frame.eof else frame
        return True
