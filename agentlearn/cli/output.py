"""Results on stdout: JSON, CSV and text tables. No colour, no box: they survive a pipe."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.guard import one_line

BARS = "▁▂▃▄▅▆▇█"
NARROW = 9
"""The least width of a column that takes what is left."""


def choose_format(wanted: str | None, as_json: bool, known: Sequence[str]) -> str:
    """The format that was asked for; the first of the known ones if none was."""
    if as_json:
        wanted = "json"
    chosen = wanted or known[0]
    if chosen not in known:
        raise BadInput(f"--format {chosen} is none of {', '.join(known)}")
    return chosen


def write_bytes(data: bytes) -> None:
    """To stdout as it is, also where stdout was replaced by a text buffer."""
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(data.decode())
    else:
        binary.write(data)


def write_json(value: Any) -> None:
    import orjson

    write_bytes(json_bytes(value, orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def json_line(value: Any) -> bytes:
    import orjson

    return json_bytes(value, orjson.OPT_APPEND_NEWLINE)


def json_bytes(value: Any, option: int) -> bytes:
    """JSON; what is no number (an overflow) becomes null."""
    import orjson

    try:
        return orjson.dumps(value, option=option)
    except TypeError:  # the name of a file need not be UTF-8
        return orjson.dumps(_as_utf8(value), option=option)


def _as_utf8(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _as_utf8(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_as_utf8(item) for item in value]
    return value


@contextlib.contextmanager
def whole_file(output: str, is_wanted: Callable[[], bool]) -> Iterator[Path]:
    """A place to write to; what stands there becomes the file when all went well, if it is wanted:
    a run that found nothing must not replace what an earlier one wrote.
    """
    path = Path(output)
    if not path.name or path.is_dir():
        raise BadInput(f"--output {output!r} is no name of a file")
    if path.exists() and not path.is_file():
        raise BadInput(f"--output {output} is a device or a pipe: redirect to it instead")
    path = path.resolve()  # through a link that was named, into the file it stands for
    unfinished: Path | None = None
    try:
        unfinished = _new_file_beside(path)
        yield unfinished
        if is_wanted():
            unfinished.replace(path)
    except OSError as error:
        raise AgentlearnError(f"cannot write {output}: {error.strerror or error}") from None
    finally:
        if unfinished is not None:
            with contextlib.suppress(OSError):
                unfinished.unlink()


def _new_file_beside(path: Path) -> Path:
    """An empty file that nobody else has, with the permissions that the file will have."""
    import os
    import tempfile

    handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".part", dir=path.parent)
    os.close(handle)
    made = Path(name)
    if path.exists():
        made.chmod(path.stat().st_mode & 0o777)
    else:
        mask = os.umask(0)
        os.umask(mask)
        made.chmod(0o666 & ~mask)
    return made


class CsvWriter:
    """Rows as CSV, with a head. Text that a spreadsheet would run as a formula is quoted."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.row(columns)

    def row(self, values: Iterable[Any]) -> None:
        import csv
        import io

        line = io.StringIO()
        # A lone carriage return is only quoted where it is a part of the line end.
        csv.writer(line, lineterminator="\r\n").writerow([_harmless(value) for value in values])
        write_bytes(line.getvalue()[:-2].encode("utf-8", "backslashreplace") + b"\n")


def _harmless(value: Any) -> Any:
    if isinstance(value, str) and len(value) > 1 and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value


def write_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    stretch: int = -1,
    droppable: Sequence[str] = (),
) -> None:
    """Aligned columns. Those of numbers go right; one column may take what width is left.

    On a terminal that is too narrow, the droppable columns go, one after the other.
    """
    if not rows:
        return
    rows = [[one_line(text, 300) for text in row] for row in rows]
    if sys.stdout.isatty() and droppable and _width(columns, rows, stretch) > terminal_width():
        gone = columns.index(droppable[0])
        columns = [*columns[:gone], *columns[gone + 1 :]]
        rows = [[*row[:gone], *row[gone + 1 :]] for row in rows]
        stretch = -1 if gone == stretch else stretch - (gone < stretch)
        write_table(columns, rows, stretch, droppable[1:])
        return
    numeric = [all(_is_number(row[i]) for row in rows) for i in range(len(columns))]
    widths = [max(cells(columns[i]), *(cells(row[i]) for row in rows)) for i in range(len(columns))]
    if stretch >= 0:
        left = terminal_width() - sum(widths) + widths[stretch] - 2 * (len(columns) - 1)
        widths[stretch] = max(min(widths[stretch], left), NARROW)
    for row in [columns, *rows]:
        parts = []
        for index, text in enumerate(row):
            shown = _fitting(text, widths[index]) if index == stretch else text
            space = " " * max(widths[index] - cells(shown), 0)
            parts.append(space + shown if numeric[index] else shown + space)
        print("  ".join(parts).rstrip())


def _width(columns: Sequence[str], rows: Sequence[Sequence[str]], stretch: int) -> int:
    """The least width of a table."""
    total = 2 * (len(columns) - 1)
    for index, name in enumerate(columns):
        widest = max(cells(name), *(cells(row[index]) for row in rows))
        total += min(widest, NARROW) if index == stretch else widest
    return total


def _fitting(text: str, width: int) -> str:
    """The start of a text, cut with `…` to so many columns of the terminal."""
    if cells(text) <= width:
        return text
    used = 1
    for index, character in enumerate(text):
        used += cells(character)
        if used > width:
            return text[:index] + "…"
    return text


def _is_number(text: str) -> bool:
    return text.lstrip("+-").replace(".", "", 1).replace("–", "0").replace("%", "").isdigit()


def terminal_width() -> int:
    import shutil

    return shutil.get_terminal_size((120, 24)).columns


def cells(text: str) -> int:
    """How many columns a text takes on a terminal: wide characters take two."""
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(1 for c in text if unicodedata.east_asian_width(c) in "WF")
    unseen = sum(1 for c in text if unicodedata.category(c) in ("Mn", "Me", "Cf"))
    return len(text) + wide - unseen


def sparkline(values: Sequence[float], width: int = 16) -> str:
    """The course of some values in a few characters; every one is the mean of its stretch."""
    if not any(values):
        return ""
    count = min(width, len(values))
    # As parts of the largest, so that neither huge nor tiny values leave the range of a float.
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0) or 1.0
    shares = [0.0 if math.isnan(v) else max(-1.0, min(v / largest, 1.0)) for v in values]
    means = []
    for index in range(count):
        part = shares[index * len(values) // count : (index + 1) * len(values) // count]
        means.append(sum(part) / len(part))
    low, high = min(means), max(means)
    if high - low < 1e-9:
        return BARS[3] * count
    scale = (len(BARS) - 1) / (high - low)
    return "".join(BARS[round((value - low) * scale)] for value in means)


def number(value: float | None, digits: int = 2) -> str:
    """A number for people; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    text = f"{value:.{digits}f}" if abs(value) < 1e15 else f"{value:.3g}"
    return text.lstrip("-") if float(text) == 0 else text


def short_id(session_id: str) -> str:
    """The beginning of an id: enough to name the session again, so nothing is put behind it."""
    return one_line(session_id[:13], 13)
