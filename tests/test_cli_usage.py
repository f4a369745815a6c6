"""`agentlearn usage`: what runs came to, each counted once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agentlearn.cli.usage_output import bar, duration
from agentlearn.events import Completion, Event, EventLog, Progress, SubcallFallback, Usage
from tests.commands import call, json_of, started
from tests.reflexions import Desk

NOW = datetime.now(UTC)


def ended(trace: str, outcome: str = "converged", **more: Any) -> Completion:
    values: dict[str, Any] = {
        "iterations": 1, "subcalls": 0, "input_tokens": 5, "output_tokens": 5, "elapsed_ms": 1500,
        "root_model": "big", "command": "review", "usage": Usage(100, 10),
    }  # fmt: skip
    return Completion(trace, outcome, **{**values, **more})


def ago(days: float, event: Event) -> str:
    return event.line(NOW - timedelta(days=days))


EVENTS = [
    ago(20, SubcallFallback("old", "small", "big", "no_access")),
    ago(20, ended("old", "failed", reason="model")),
    ago(8, Progress("a", 1, 6, "asking")),
    ago(8, SubcallFallback("a", "small", "big", "rate_limit")),
    ago(6, ended("a", "exhausted", reason="max_tokens", usage=Usage(7000, 200), command="distill")),
    ago(3, ended("b")),
    ago(3, ended("c", "aborted", reason="interrupted", root_model=None, usage=Usage())),
    ago(0.5, ended("d", root_model="org/tiny", command="reflexion", elapsed_ms=90_000)),
    ago(0.1, SubcallFallback("still-running", "small", "big", "no_access")),
]


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The log of a project in which the command is called."""
    path = tmp_path / ".agentlearn" / "events.jsonl"
    path.parent.mkdir()
    path.write_text("\n".join(EVENTS) + "\n")
    monkeypatch.chdir(tmp_path)
    return path


def test_runs_are_added_up_by_model(log: Path):
    result = call("usage")
    *table, _, sentence = result.stdout.splitlines()
    assert [line.split() for line in table] == [
        ["model", "runs", "converged", "exhausted", "failed", "aborted", "input", "output",
         "fallbacks", "time"],
        ["big", "3", "1", "1", "1", "0", "7200", "220", "2", "4.5", "s"],
        ["org/tiny", "1", "1", "0", "0", "0", "100", "10", "0", "1", "min", "30", "s"],
        ["no", "model", "1", "0", "0", "0", "1", "0", "0", "0", "1.5", "s"],
    ]  # fmt: skip
    assert sentence == (
        "5 runs (2 converged, 1 exhausted, 1 failed, 1 aborted), 7,300 tokens in, 230 out, "
        "1 min 36 s"
    )
    assert result.stderr == "note: 1 fallback of runs that have not ended\n"


def test_programs_get_numbers(log: Path):
    told = json_of("usage", "--by", "command", "--since", "7d")
    assert told["by"] == "command" and told["since"] < NOW.isoformat()
    assert [group["command"] for group in told["groups"]] == ["distill", "review", "reflexion"]
    assert told["groups"][0] == {
        "command": "distill",
        "runs": 1,
        "outcomes": {"converged": 0, "exhausted": 1, "failed": 0, "aborted": 0},
        "usage": {"input_tokens": 7000, "output_tokens": 200},
        "elapsed_ms": 1500,
        "fallbacks": 1,  # it happened earlier, but the run ended in this time
    }
    assert told["total"]["runs"] == 4 and told["total"]["fallbacks"] == 1
    assert json_of("usage", "--by", "model")["groups"][2]["model"] is None


def test_days_come_in_order(log: Path):
    days = [group["day"] for group in json_of("usage", "--by", "day")["groups"]]
    assert days == sorted(days) and len(days) == 4
    assert days[0] == f"{NOW - timedelta(days=20):%Y-%m-%d}"


@pytest.mark.parametrize(
    ("since", "runs"),
    [("90m", 0), ("24h", 1), ("4d", 3), ("1w", 4), ("3w", 5), ("2001-02-03", 5), ("2999-01-01", 0)],
)
def test_since(log: Path, since: str, runs: int):
    assert json_of("usage", "--since", since)["total"]["runs"] == runs


@pytest.mark.parametrize(
    "since", ["d", "7", "7y", "-1d", "1.5d", "2026-13-01", "9" * 30 + "w", "x"]
)
def test_a_wrong_time_is_one_sentence(log: Path, since: str):
    result = call("usage", f"--since={since}", code=2)
    assert result.stderr.startswith(f"error: --since {since} is no time\nhint: ")
    assert result.stdout == ""


def test_a_wrong_group_is_one_sentence(log: Path):
    said = call("usage", "--by", "year", code=2).stderr
    assert said == "error: --by year is none of model, command, day\n"


def test_no_events_are_no_error(log: Path):
    log.unlink()
    result = call("usage")
    assert (result.stdout, result.stderr) == ("", "note: no run has ended\n")
    log.write_text(Progress("t", 1, 2, "asking").line())
    assert call("usage", "--since", "7d").stderr == "note: no run has ended since 7d\n"
    assert json_of("usage")["groups"] == []


def test_a_run_in_two_logs_counts_once(log: Path, tmp_path: Path):
    run = tmp_path / "run.jsonl"
    later = [json.loads(line) for line in EVENTS]
    for each in later:
        each["at"] = NOW.isoformat()  # each log writes the time at which it got the event
    run.write_text("\n".join(map(json.dumps, later)) + "\n" + ended("only here").line())
    once = json_of("usage")["total"]
    twice = json_of("usage", "--file", log, "--file", run)["total"]
    assert twice == {
        **once,
        "runs": once["runs"] + 1,
        "outcomes": {**once["outcomes"], "converged": once["outcomes"]["converged"] + 1},
        "usage": {
            "input_tokens": once["usage"]["input_tokens"] + 100,
            "output_tokens": once["usage"]["output_tokens"] + 10,
        },
        "elapsed_ms": once["elapsed_ms"] + 1500,
    }


def test_stdin_garbage_and_ones_own_store(log: Path, own_home: Path):
    result = call("usage", "--file", "-", "--json", stdin=log.read_text() + "garbage\n")
    assert json.loads(result.stdout)["total"]["runs"] == 5
    assert "warning: stdin: 1 line is no event (10)\n" in result.stderr
    (own_home / "agentlearn").mkdir()
    EventLog(own_home / "agentlearn" / "events.jsonl")(ended("mine"))
    assert json_of("usage", "--user")["total"]["runs"] == 1


def test_a_resumed_run_does_not_count_its_tokens_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    desk = Desk(tmp_path / "project")
    monkeypatch.chdir(desk.folder)
    (desk.folder / "replies.jsonl").write_text(
        json.dumps({"text": "I give up.", "usage": {"input_tokens": 10, "output_tokens": 2}}) + "\n"
    )
    model = f"scripted:{desk.folder / 'replies.jsonl'}"
    desk.write(agent={"model": model}, reflector="none", max_episodes=1)
    result = desk.run(code=1)
    desk.run("--resume", result["run"], code=1)
    told = json_of("usage", "--by", "command")
    assert [group["command"] for group in told["groups"]] == ["reflexion"]
    assert told["total"]["usage"] == {"input_tokens": 10, "output_tokens": 2}


def shown_on_a_terminal(*words: str, columns: int, **more: str) -> str:
    import pty

    terminal, inside = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", **more}
    command = [sys.executable, "-m", "agentlearn", *words]
    subprocess.run(command, stdout=inside, stderr=subprocess.DEVNULL, env=env, check=True)
    os.close(inside)
    shown = b""
    try:
        while piece := os.read(terminal, 65536):
            shown += piece
    except OSError:  # so a terminal ends
        pass
    os.close(terminal)
    return shown.decode()


def test_a_terminal_shows_bars(log: Path):
    shown = shown_on_a_terminal("usage", columns=140)
    assert "share of tokens" in shown and "█" * 32 in shown and "\x1b[" in shown
    assert "\x1b[36m" not in shown_on_a_terminal("usage", columns=140, NO_COLOR="1")
    for columns in (100, 80, 60, 40, 30):
        shown = shown_on_a_terminal("usage", columns=columns, NO_COLOR="1")
        assert "…" not in shown and "7200" in shown  # no number is cut


def test_a_pipe_gets_plain_columns(log: Path):
    result = started("usage", env={**os.environ, "FORCE_COLOR": "1"})
    assert b"\x1b" not in result.stdout and "█".encode() not in result.stdout


def test_bars_and_times():
    assert bar(1.0, 4) == "████" and bar(0.5, 4) == "██" and bar(0.0, 4) == ""
    assert bar(1e-9, 4) == "▏" and bar(0.53125, 4) == "██▏"
    assert [duration(ms) for ms in (0, 1540, 59_940, 61_000, 3_720_000)] == [
        "0.0 s", "1.5 s", "59.9 s", "1 min 1 s", "1 h 2 min",
    ]  # fmt: skip
