"""What `agentlearn usage` prints: a table with bars on a terminal, plain columns elsewhere."""

from __future__ import annotations

import sys
from typing import Any

from agentlearn.cli.output import cells, write_table
from agentlearn.events.totals import OUTCOMES, Total, Totals

NO_NAME = {"model": "no model", "command": "unknown", "day": ""}
WIDEST_BAR = 32
EIGHTHS = " ▏▎▍▌▋▊▉█"


def as_dict(totals: Totals) -> dict[str, Any]:
    return {
        "by": totals.by,
        "since": totals.since.isoformat() if totals.since else None,
        "groups": [{totals.by: key, **_numbers(total)} for key, total in totals.in_order()],
        "total": _numbers(totals.all),
    }


def _numbers(total: Total) -> dict[str, Any]:
    return {
        "runs": total.runs,
        "outcomes": total.outcomes,
        "usage": {
            "input_tokens": total.usage.input_tokens,
            "output_tokens": total.usage.output_tokens,
        },
        "elapsed_ms": total.elapsed_ms,
        "fallbacks": total.fallbacks,
    }


def print_totals(totals: Totals) -> None:
    columns = [totals.by, "runs", *OUTCOMES, "input", "output", "fallbacks", "time"]
    rows = [_row(key or NO_NAME[totals.by], total) for key, total in totals.in_order()]
    if sys.stdout.isatty():
        _print_with_bars(totals, columns, rows)
    else:
        write_table(columns, rows)
    print()
    print(_sentence(totals.all))


def _row(name: str, total: Total) -> list[str]:
    return [
        name,
        str(total.runs),
        *(str(total.outcomes[outcome]) for outcome in OUTCOMES),
        str(total.usage.input_tokens),
        str(total.usage.output_tokens),
        str(total.fallbacks),
        duration(total.elapsed_ms),
    ]


def _sentence(total: Total) -> str:
    ended = ", ".join(f"{count:,} {outcome}" for outcome, count in total.outcomes.items() if count)
    runs = "1 run" if total.runs == 1 else f"{total.runs:,} runs"
    usage = total.usage
    tokens = f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"
    return f"{runs} ({ended}), {tokens}, {duration(total.elapsed_ms)}"


def duration(milliseconds: int) -> str:
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {seconds} s"
    return f"{minutes // 60} h {minutes % 60} min"


def _print_with_bars(totals: Totals, columns: list[str], rows: list[list[str]]) -> None:
    """A row a group, with a bar where there is room; what is too wide even so goes as elsewhere."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    columns, rows = _without_zeros(columns, rows)
    widths = [max(map(cells, column)) for column in zip(columns, *rows, strict=True)]
    console = Console()
    room = console.width - sum(widths) - 2 * len(columns)
    if room < -2:
        droppable = [name for name in (*OUTCOMES[::-1], "fallbacks", "time") if name in columns]
        write_table(columns, rows, droppable=droppable)
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for index, name in enumerate(columns):
        table.add_column(name, justify="right" if index else "left", no_wrap=True)
    what, shares = _shares(totals)
    width = min(room, WIDEST_BAR) if room >= len(what) else 0
    if width:
        table.add_column(what, no_wrap=True)
    for row, share in zip(rows, shares, strict=True):
        bars = [Text(bar(share, width), style="cyan")] if width else []
        table.add_row(*map(Text, row), *bars)
    console.print(table)


def _without_zeros(columns: list[str], rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Outcomes and fallbacks that never happened take no room."""
    kept = [
        index
        for index, name in enumerate(columns)
        if name not in (*OUTCOMES, "fallbacks") or any(row[index] != "0" for row in rows)
    ]
    return [columns[index] for index in kept], [[row[index] for index in kept] for row in rows]


def _shares(totals: Totals) -> tuple[str, list[float]]:
    """What the bars show: tokens, or runs where no model was asked; as parts of the largest."""
    tokens = [total.usage.total for _, total in totals.in_order()]
    runs = [total.runs for _, total in totals.in_order()]
    what, values = ("share of tokens", tokens) if any(tokens) else ("share of runs", runs)
    return what, [value / max(values) for value in values]


def bar(share: float, width: int) -> str:
    """As long as its share, to an eighth of a character; what is not nothing can be seen."""
    eighths = max(round(share * width * 8), 1 if share else 0)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
