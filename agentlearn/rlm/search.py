"""A pattern, looked for in all of a session, in a process of its own and within a time.

A model may send any regular expression, also one that would take for ever. What matches is
redacted, and must match still: a secret cannot be guessed piece by piece.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from agentlearn.errors import BadInput
from agentlearn.guard import one_line
from agentlearn.guard.secrets import redact
from agentlearn.render import Painter
from agentlearn.rlm.pages import Pages, entry_of
from agentlearn.sessions.redacted import redacted_entry
from agentlearn.sessions.values import Entry

SECONDS = 10.0
MOST_PATTERN = 1000
MOST_HITS = 1000
AROUND = 80
FLAGS = re.IGNORECASE | re.MULTILINE


class Hit(Struct, frozen=True):
    line: int
    text: str
    """What speaks there, and what stands around the match."""


class TooLong(BadInput):
    """The search took longer than it may."""


def search(
    pages: Pages, pattern: str, first: int, last: int, seconds: float = SECONDS
) -> list[Hit]:
    """Where the pattern is found in these lines, in their order, at most MOST_HITS."""
    _check(pattern)
    asked = msgspec.msgpack.encode([pages.unit, pattern, first, last, pages.index()])
    # -P: nothing that lies in the folder we were called in is taken for ours.
    command = [sys.executable, "-P", "-m", "agentlearn.rlm.search", str(pages.file)]
    try:
        done = subprocess.run(
            command,
            input=asked,
            capture_output=True,
            timeout=seconds,
            check=True,
            pass_fds=(pages.file,),
        )
    except subprocess.TimeoutExpired:
        raise TooLong(f"the search took over {seconds:g} seconds: ask for less") from None
    except subprocess.CalledProcessError as error:
        why = one_line(error.stderr.decode("utf-8", "replace")[-200:], 200)
        raise BadInput(f"the search failed: {why}") from None
    return msgspec.msgpack.decode(done.stdout, type=list[Hit])


def _check(pattern: str) -> None:
    if not pattern.strip():
        raise BadInput("the pattern is empty")
    if len(pattern) > MOST_PATTERN:
        raise BadInput(f"the pattern has {len(pattern)} characters, {MOST_PATTERN} are the most")
    try:
        re.compile(pattern, FLAGS)
    except (re.error, RecursionError, OverflowError) as error:
        raise BadInput(f"it is no regular expression: {error}") from None


def _hits(file: int, unit: str, pattern: str, first: int, last: int, index: bytes) -> Iterator[Hit]:
    """In the other process: every entry that has the pattern, once."""
    import os

    found = re.compile(pattern, FLAGS)
    painter = Painter(unit, lines=False, tools=True)
    rows: list[tuple[int, int, int, int]] = msgspec.msgpack.decode(index)
    for line, kind, start, end in rows:
        if not first <= line <= last:
            continue
        entry = entry_of(kind, os.pread(file, end - start, start))
        if found.search(_tagged(painter, entry)) is None:
            continue
        text = _tagged(painter, redacted_entry(entry))
        if (match := found.search(text)) is not None:
            yield Hit(line, _around(text, match))


def _tagged(painter: Painter, entry: Entry) -> str:
    return ": ".join(painter.tagged(entry))


def _around(text: str, match: re.Match[str]) -> str:
    """What stands around a match; who speaks is always said."""
    tag = text[: text.find(":") + 1]
    low, high = max(0, match.start() - AROUND), match.end() + AROUND
    around = one_line(redact(text[low : min(high, low + 4 * AROUND)]), 4 * AROUND)
    return around if low == 0 else f"{tag} …{around}"


def main() -> None:
    unit, pattern, first, last, index = msgspec.msgpack.decode(sys.stdin.buffer.read())
    hits: list[Hit] = []
    for hit in _hits(int(sys.argv[1]), unit, pattern, first, last, index):
        hits.append(hit)
        if len(hits) == MOST_HITS:
            break
    sys.stdout.buffer.write(msgspec.msgpack.encode(hits))


if __name__ == "__main__":
    main()
