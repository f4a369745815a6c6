"""A pattern, looked for in all of a session, in a process of its own and within a time.

A model may send any regular expression, also one that would take for ever. It is held against the
redacted text alone: against the text itself, finding or not finding would tell a secret piece by
piece. Which entries have one is found out once, by the first search.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

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
SECONDS_FOR_SECRETS = 300.0
"""That is our own work, and takes about a second for ten million characters."""
MOST_PATTERN = 1000
MOST_HITS = 1000
AROUND = 80
FLAGS = re.IGNORECASE | re.MULTILINE
Rows = list[tuple[int, int, int, int]]


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
    if pages.secrets is None:
        pages.secrets = _ask_another(pages, ["secrets"], SECONDS_FOR_SECRETS)
    asked = ["hits", pages.unit, pattern, first, last, pages.secrets]
    return msgspec.convert(_ask_another(pages, asked, seconds), list[Hit])


def _ask_another(pages: Pages, asked: list[Any], seconds: float) -> Any:
    """What another process makes of the pages; it can be ended, and this one cannot."""
    # -P: nothing that lies in the folder we were called in is taken for ours.
    command = [sys.executable, "-P", "-m", "agentlearn.rlm.search", str(pages.file)]
    try:
        done = subprocess.run(
            command,
            input=msgspec.msgpack.encode([pages.index(), seconds, *asked]),
            capture_output=True,
            timeout=seconds,
            check=True,
            pass_fds=(pages.file,),
        )
    except subprocess.TimeoutExpired:
        raise TooLong(f"the search took over {seconds:g} seconds: ask for less") from None
    except subprocess.CalledProcessError:
        raise BadInput("the search failed: try another pattern") from None
    return msgspec.msgpack.decode(done.stdout)


def _check(pattern: str) -> None:
    if not pattern.strip():
        raise BadInput("the pattern is empty")
    if len(pattern) > MOST_PATTERN:
        raise BadInput(f"the pattern has {len(pattern)} characters, {MOST_PATTERN} are the most")
    try:
        _compiled(pattern)
    except (ValueError, re.error, RecursionError, OverflowError) as error:
        raise BadInput(f"it is no regular expression: {one_line(str(error), 200)}") from None


def _compiled(pattern: str) -> re.Pattern[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is odd about a model's pattern is nobody's business
        return re.compile(pattern, FLAGS)


# In the other process


def _secrets(file: int, rows: Rows) -> bytes:
    """For each entry whether it has a secret."""
    return bytes((entry := _entry(file, row)) is not redacted_entry(entry) for row in rows)


def _hits(
    file: int, rows: Rows, unit: str, pattern: str, first: int, last: int, secrets: bytes
) -> Iterator[Hit]:
    """Every entry that has the pattern, once."""
    found = _compiled(pattern)
    painter = Painter(unit, lines=False, tools=True)
    for row, has_secret in zip(rows, secrets, strict=True):
        if not first <= row[0] <= last:
            continue
        entry = _entry(file, row)
        text = ": ".join(painter.tagged(redacted_entry(entry) if has_secret else entry))
        if (match := found.search(text)) is not None:
            yield Hit(row[0], _around(text, match))


def _entry(file: int, row: tuple[int, int, int, int]) -> Entry:
    _, kind, start, end = row
    return entry_of(kind, os.pread(file, end - start, start))


def _around(text: str, match: re.Match[str]) -> str:
    """What stands around a match; who speaks is always said."""
    tag = text[: text.find(":") + 1]
    low, high = max(0, match.start() - AROUND), match.end() + AROUND
    around = one_line(redact(text[low : min(high, low + 4 * AROUND)]), 4 * AROUND)
    return around if low == 0 else f"{tag} …{around}"


def _end_by_itself(seconds: float) -> None:
    """Who asked may be gone: a pattern that takes for ever must not go on without him."""
    import resource

    most = int(seconds) + 2
    resource.setrlimit(resource.RLIMIT_CPU, (most, most))


def main() -> None:
    index, seconds, what, *given = msgspec.msgpack.decode(sys.stdin.buffer.read())
    _end_by_itself(seconds)
    file, rows = int(sys.argv[1]), msgspec.msgpack.decode(index)
    answer: Any = _secrets(file, rows) if what == "secrets" else []
    if what == "hits":
        for hit in _hits(file, rows, *given):
            answer.append(hit)
            if len(answer) == MOST_HITS:
                break
    sys.stdout.buffer.write(msgspec.msgpack.encode(answer))


if __name__ == "__main__":
    main()
