"""Results on stdout: JSON, CSV and text tables. No colour, no box: they survive a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

from agentlearn.errors import BadInput
from agentlearn.guard import one_line

BARS = "▁▂▃▄▅▆▇█"


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
        sys.stdout.flush()
        binary.write(data)


def write_json(value: Any) -> None:
    import orjson

    write_bytes(orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


def json_line(value: Any) -> bytes:
    import orjson

    return orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)


class CsvWriter:
    """Rows as CSV, with a head. Text that a spreadsheet would run as a formula is quoted."""

    def __init__(self, columns: Sequence[str]) -> None:
        import csv

        self.writer = csv.writer(sys.stdout, lineterminator="\n")
        self.writer.writerow(columns)

    def row(self, values: Iterable[Any]) -> None:
        self.writer.writerow([_harmless(value) for value in values])


def _harmless(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value


def write_table(columns: Sequence[str], rows: Sequence[Sequence[str]], stretch: int = -1) -> None:
    """Aligned columns. Those of numbers go right; one column may take what width is left."""
    if not rows:
        return
    numeric = [all(_is_number(row[i]) for row in rows) for i in range(len(columns))]
    widths = [max(cells(columns[i]), *(cells(row[i]) for row in rows)) for i in range(len(columns))]
    if stretch >= 0:
        left = _terminal_width() - sum(widths) + widths[stretch] - 2 * (len(columns) - 1)
        widths[stretch] = max(min(widths[stretch], left), 12)
    for row in [columns, *rows]:
        parts = []
        for index, text in enumerate(row):
            shown = one_line(text, widths[index]) if index == stretch else text
            space = " " * max(widths[index] - cells(shown), 0)
            parts.append(space + shown if numeric[index] else shown + space)
        print("  ".join(parts).rstrip())


def _is_number(text: str) -> bool:
    return text.lstrip("+-").replace(".", "", 1).replace("–", "0").replace("%", "").isdigit()


def _terminal_width() -> int:
    import shutil

    return shutil.get_terminal_size((120, 24)).columns


def cells(text: str) -> int:
    """How many columns a text takes on a terminal: wide characters take two."""
    if text.isascii():
        return len(text)
    import unicodedata

    wide = sum(1 for c in text if unicodedata.east_asian_width(c) in "WF")
    combining = sum(1 for c in text if unicodedata.combining(c))
    return len(text) + wide - combining


def sparkline(values: Sequence[float], width: int = 16) -> str:
    """The course of some values in a few characters; every one is the mean of its stretch."""
    if not values:
        return ""
    count = min(width, len(values))
    means = []
    for index in range(count):
        part = values[index * len(values) // count : (index + 1) * len(values) // count]
        means.append(sum(part) / len(part))
    low, high = min(means), max(means)
    if not high > low:
        return BARS[3] * count
    scale = (len(BARS) - 1) / (high - low)
    return "".join(BARS[round((value - low) * scale)] for value in means)


def number(value: float | None, digits: int = 2) -> str:
    """A number for people; a dash where there is none."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text


def short_id(session_id: str) -> str:
    """The beginning of an id: enough to name the session again, so nothing is put behind it."""
    return one_line(session_id[:13], 13)
