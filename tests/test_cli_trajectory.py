"""`trajectory`: a line per turn, in every format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.commands import HEAD, HOSTILE, call, names_in, native_file
from tests.files import lines_file

TWO = (
    {"id": "s1", "rewards": [0.1, -0.2, 0, {"kind": "terminal", "value": 1.0}]},
    {"id": "s2", "rewards": [2]},
)


def rows(*args: str | Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in call("trajectory", *args).stdout.splitlines()]


def test_a_line_per_turn(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", *TWO)
    found = rows(path, "--gamma", "0.5")
    assert found[1] == {
        "session_id": "s1",
        "index": 1,
        "action": "do 1",
        "observation": "saw 1",
        "reward": -0.2,
        "return": 0.04999999999999999,
        "sources": {"stated": -0.2, "verdict": 0.0, "person": 0.0, "shaped": 0.0},
        "done": False,
    }
    assert [(row["session_id"], row["index"], row["done"]) for row in found] == [
        ("s1", 0, False), ("s1", 1, False), ("s1", 2, False), ("s1", 3, True), ("s2", 0, True),
    ]  # fmt: skip
    assert [row["return"] for row in found] == [0.125, 0.04999999999999999, 0.5, 1.0, 2.0]
    assert json.loads(call("trajectory", path, "--gamma", "0.5", "--json").stdout) == found


def test_the_same_numbers_as_returns(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", *TWO)
    sessions = json.loads(call("returns", path, "--json", "--gamma", "0.7").stdout)["sessions"]
    found = rows(path, "--gamma", "0.7")
    for session in sessions:
        own = [row for row in found if row["session_id"] == session["id"]]
        assert [row["reward"] for row in own] == session["rewards"]
        assert [row["return"] for row in own] == session["returns"]


def test_labels_land_on_the_last_turn(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", *TWO)
    labels = tmp_path / "labels.csv"
    labels.write_text("s1,0.5\n")
    found = rows(path, "--labels", labels)
    assert [row["sources"]["verdict"] for row in found] == [0, 0, 0, 0.5, 0]


def test_csv_with_newlines_and_formulas(tmp_path: Path) -> None:
    action = '=HYPERLINK("x"),\n"quoted"\r\nlast\rbare'
    path = lines_file(
        tmp_path / "a.jsonl",
        [
            {**HEAD, "id": "@s"},
            {"type": "turn", "action": action, "observation": "-1+1", "reward": -0.5},
            {"type": "turn", "action": "\t=x", "observation": HOSTILE},
        ],
    )
    text = call("trajectory", path, "--format", "csv").stdout_bytes.decode()
    first, second = csv.DictReader(io.StringIO(text, newline=""))
    assert first["action"] == "'" + action
    assert first["observation"] == "'-1+1"
    assert first["session_id"] == "'@s"
    assert (first["reward"], first["stated"], first["done"]) == ("-0.5", "-0.5", "False")
    assert second["action"] == "'\t=x"
    assert second["observation"] == HOSTILE
    assert "sources" not in first


def test_parquet(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", *TWO, {"id": "none"})
    output = tmp_path / "out.parquet"
    result = call("trajectory", path, "--format", "parquet", "--output", output)
    assert (result.stdout, result.stderr) == ("", "")
    assert pq.read_table(output).to_pylist() == rows(path)
    assert names_in(tmp_path) == ["a.jsonl", "out.parquet"]


def test_parquet_of_many_turns(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [1] * 4100})
    output = tmp_path / "out.parquet"
    call("trajectory", path, "--format", "parquet", "-o", output)
    table = pq.read_table(output)
    assert table.num_rows == 4100
    assert table.column("done").to_pylist() == [False] * 4099 + [True]


def test_where_parquet_goes(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", *TWO)
    result = call("trajectory", path, "--format", "parquet", code=2)
    assert result.stderr == "error: --format parquet needs --output FILE\n"
    for format in ("jsonl", "json", "csv"):
        output = tmp_path / f"turns.{format}"
        assert call("trajectory", path, "--format", format, "-o", output).stdout == ""
        assert output.read_text() == call("trajectory", path, "--format", format).stdout
    missing = tmp_path / "no/such/out.parquet"
    result = call("trajectory", path, "--format", "parquet", "-o", missing, code=1)
    assert result.stderr.startswith(f"error: cannot write {missing}: ")
    result = call("trajectory", path, "--format", "parquet", "-o", tmp_path, code=2)
    assert result.stderr == f"error: --output '{tmp_path}' is no name of a file\n"


def test_a_failed_run_leaves_the_old_file(tmp_path: Path) -> None:
    output = tmp_path / "out.parquet"
    output.write_bytes(b"precious")
    text = tmp_path / "notes.txt"
    text.write_text("no transcript")
    call("trajectory", text, "--format", "parquet", "-o", output, code=2)
    assert output.read_bytes() == b"precious"
    assert names_in(tmp_path) == ["notes.txt", "out.parquet"]


@pytest.mark.parametrize("format", ["jsonl", "json", "csv", "parquet"])
def test_huge_rewards_in_every_format(tmp_path: Path, format: str) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [1e308, 1e308, -1e308]})
    more = ["-o", str(tmp_path / "o.parquet")] if format == "parquet" else []
    shown = call("trajectory", path, "--gamma", "1", "--format", format, *more).stdout
    if format == "jsonl":
        assert [json.loads(line)["return"] for line in shown.splitlines()] == [1e308, 0.0, -1e308]


def test_what_a_lossy_file_says_goes_to_stderr(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", *TWO)
    path.write_text(path.read_text() + "{broken\n")
    result = call("trajectory", path)
    assert len([json.loads(line) for line in result.stdout.splitlines()]) == 5
    assert result.stderr.startswith(f"warning: {path}: 1 line skipped (8): not JSON")
    call("trajectory", path, "--strict", code=2)
