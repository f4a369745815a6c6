"""Output without end, in bounded space: its two ends in memory, its beginning in a log."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import IO

from agentlearn.guard.secrets import redact

END_BYTES = 64 * 1024
LOG_BYTES = 8 * 1024 * 1024
LONGEST_LINE = 1024 * 1024
KEY_BEGINS, KEY_ENDS = b"-----BEGIN", b"-----END"


class Kept:
    """The beginning and the end of what was said, and how much it was."""

    def __init__(self, end_bytes: int = END_BYTES) -> None:
        self.end_bytes = end_bytes
        self.head = bytearray()
        self.last = bytearray()
        self.size = 0

    def add(self, block: bytes) -> None:
        self.size += len(block)
        room = self.end_bytes - len(self.head)
        if room > 0:
            self.head += block[:room]
            block = block[room:]
        if block:
            self.last += block
            if len(self.last) > 4 * self.end_bytes:  # cutting it each time would be slow
                del self.last[: -self.end_bytes]

    @property
    def left_out(self) -> int:
        return self.size - len(self.head) - len(self.last[-self.end_bytes :])

    def text(self) -> str:
        """All of it, or its two ends with a marker between them."""
        if self.size == len(self.head) + len(self.last):
            return _decoded(bytes(self.head + self.last))
        end = bytes(self.last[-self.end_bytes :])
        return (
            f"{_decoded(bytes(self.head))}\n…({self.left_out} bytes left out)…\n"
            f"{_decoded(_from_a_character(end))}"
        )

    def tail(self, max_chars: int) -> str:
        """The end, cut between characters."""
        text = _decoded(_from_a_character(bytes((self.head + self.last)[-4 * max_chars - 4 :])))
        return text[-max_chars:]


def _from_a_character(data: bytes) -> bytes:
    """Without the rest of a character whose beginning was cut off."""
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


def _decoded(data: bytes) -> str:
    """UTF-8; a character that is cut off at the end is left out."""
    return codecs.getincrementaldecoder("utf-8")("replace").decode(data)


class Log:
    """A file that takes so much and no more: then it says how much was left out, and the end.

    It takes whole lines, without their secrets: a log is there when the program is killed, too. A
    full disk is told in `problem`, and does not end what is logged.
    """

    def __init__(self, path: Path | None, most_bytes: int = LOG_BYTES) -> None:
        self.path = path
        self.most_bytes = most_bytes
        self.taken = 0
        self.pending = b""
        self.rest = Kept()
        self.problem: str | None = None
        self.file: IO[bytes] | None = None

    def __enter__(self) -> Log:
        if self.path is not None:
            try:
                self.file = self.path.open("wb", buffering=0)
            except OSError as error:
                self.problem = f"the log cannot be written: {error.strerror}"
        return self

    def add(self, block: bytes) -> None:
        room = self.most_bytes - self.taken
        if room < len(block):
            self.rest.add(block[max(room, 0) :])
            block = block[: max(room, 0)]
        if not block:
            return
        self.taken += len(block)
        data = self.pending + block
        end = data.rfind(b"\n") + 1
        begun = data.rfind(KEY_BEGINS)
        if begun >= 0 and KEY_ENDS not in data[begun:]:
            end = min(end, begun)  # a key is known as one only when all of it is there
        if not end and len(data) > LONGEST_LINE:
            end = len(data)
        self.pending = data[end:]
        self._write(data[:end])

    def _write(self, data: bytes) -> None:
        if self.file is None or not data:
            return
        text = data.decode("utf-8", "surrogateescape")
        try:
            self.file.write(redact(text).encode("utf-8", "surrogateescape"))
        except OSError as error:
            self.problem = f"the log is not whole: {error.strerror}"
            self.file.close()
            self.file = None

    def __exit__(self, *error: object) -> None:
        end = b""
        if self.rest.size:
            end = bytes((self.rest.head + self.rest.last)[-END_BYTES:])
            left_out = self.rest.size - len(end)
            end = (f"\n…({left_out} bytes left out)…\n".encode() if left_out else b"") + end
        self._write(self.pending + end)
        if self.file is not None:
            self.file.close()
            self._look_again()

    def _look_again(self) -> None:
        """What only several lines together tell was not seen while they came one by one."""
        assert self.path is not None
        try:
            text = self.path.read_bytes().decode("utf-8", "surrogateescape")
            if (clean := redact(text)) != text:
                self.path.write_bytes(clean.encode("utf-8", "surrogateescape"))
        except OSError as error:
            self.problem = f"the log is not whole: {error.strerror}"
