"""A line per turn: what was done, what came back, what it was worth.

Each line is {"session_id", "index", "action", "observation", "reward", "return", "sources",
"done"}, where sources says how much of the reward comes from where, and done marks a session's
last turn.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Annotated, Any

from agentlearn.cli import options
from agentlearn.cli.load import Loader
from agentlearn.cli.output import CsvWriter, choose_format, json_line, whole_file, write_bytes
from agentlearn.cli.score import Scorer
from agentlearn.config import resolve
from agentlearn.errors import BadInput
from agentlearn.rewards.draw import SOURCES
from agentlearn.rewards.worth import Scored, sums_by_source

FORMATS = ("jsonl", "json", "csv", "parquet")
COLUMNS = ("session_id", "index", "action", "observation", "reward", "return", "sources", "done")


def main(
    sessions: options.Sessions = None,
    gamma: options.Gamma = None,
    rewards: options.RewardRules = None,
    labels: options.Labels = None,
    evaluator: options.Evaluator = None,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
    output: options.Output = None,
    latest: options.Latest = False,
    strict: options.Strict = None,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    settings = resolve(gamma=gamma, rewards=rewards, strict=strict)
    if chosen == "parquet" and output is None:
        raise BadInput("--format parquet needs --output FILE")
    scorer = Scorer(settings, labels, evaluator)
    loader = Loader(sessions, latest, settings.strict)
    rows = (row for scored in scorer.score(loader, texts=True) for row in turn_rows(scored))
    if chosen == "parquet":
        from agentlearn.cli.parquet import write_parquet

        write_parquet(rows, str(output), lambda: loader.read > 0)
    elif output is None:
        _write(chosen, rows)
    else:
        with (
            whole_file(output, lambda: loader.read > 0) as unfinished,
            unfinished.open("w", newline="") as file,
            contextlib.redirect_stdout(file),
        ):
            _write(chosen, rows)
    scorer.finish()
    loader.finish()


def _write(format: str, rows: Iterator[dict[str, Any]]) -> None:
    if format == "jsonl":
        for row in rows:
            write_bytes(json_line(row))
    elif format == "json":
        write_bytes(json_line(list(rows)))
    else:
        _write_csv(rows)


def turn_rows(scored: Scored) -> Iterator[dict[str, Any]]:
    worth = scored.worth
    last = len(scored.turns) - 1
    for index, turn in enumerate(scored.turns):
        yield {
            "session_id": worth.id,
            "index": index,
            "action": turn.action,
            "observation": turn.observation,
            "reward": worth.rewards[index],
            "return": worth.returns[index],
            "sources": sums_by_source([scored.drawn[index]]),
            "done": index == last,
        }


def _write_csv(rows: Iterator[dict[str, Any]]) -> None:
    columns = [column for column in COLUMNS if column != "sources"] + list(SOURCES)
    writer = CsvWriter(columns)
    for row in rows:
        flat = {**row, **row["sources"]}
        writer.row(flat[column] for column in columns)
