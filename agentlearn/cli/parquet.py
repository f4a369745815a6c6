"""Turns as a Parquet file, in batches, so that memory does not grow with the sessions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from agentlearn.cli.output import whole_file
from agentlearn.errors import AgentlearnError
from agentlearn.rewards.draw import SOURCES

BATCH = 2000


def write_parquet(
    rows: Iterator[dict[str, Any]], output: str, is_wanted: Callable[[], bool]
) -> None:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
        import pyarrow.parquet as pq  # type: ignore[import-untyped]
    except ImportError:
        hint = "in the folder of agentlearn: pip install '.[parquet]'"
        raise AgentlearnError("writing Parquet needs the package pyarrow", hint) from None
    schema = pa.schema(
        [
            ("session_id", pa.string()),
            ("index", pa.int64()),
            ("action", pa.string()),
            ("observation", pa.string()),
            ("reward", pa.float64()),
            ("return", pa.float64()),
            ("sources", pa.struct([(name, pa.float64()) for name in SOURCES])),
            ("done", pa.bool_()),
        ]
    )
    with (
        whole_file(output, is_wanted) as unfinished,
        pq.ParquetWriter(unfinished, schema) as writer,
    ):
        while batch := list(itertools.islice(rows, BATCH)):
            writer.write_table(pa.Table.from_pylist(batch, schema=schema))
