"""Evaluators: real commands, what they say, and how those that hang are ended."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from agentlearn.cli.evaluator import Evaluator
from agentlearn.errors import BadInput
from agentlearn.sessions.values import Message, Session
from tests.commands import HOSTILE, assert_harmless, call, native_file

SESSION = Session(
    id="s1", dialect="native", entries=[Message("user", "hi", 1)], path="runs/a b.jsonl"
)


def told(command: str, seconds: float = 20.0) -> tuple[float | None, str | None, str] | None:
    verdict = Evaluator(command, seconds).verdict(SESSION)
    return None if verdict is None else (verdict.score, verdict.outcome, verdict.said)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("true", (None, "success", "evaluator: exit code 0")),
        ("false", (None, "failure", "evaluator: exit code 1")),
        ("exit 3", (None, "failure", "evaluator: exit code 3")),
        ("echo 0.75; exit 3", (None, "failure", "evaluator: exit code 3")),
        ("echo 0.75", (0.75, None, "evaluator: score 0.75")),
        ("echo log; echo; echo ' -2 '; echo", (-2.0, None, "evaluator: score -2")),
        ("echo 5; echo all fine", (None, "success", "evaluator: exit code 0")),
        ("echo 5 >&2", (None, "success", "evaluator: exit code 0")),
        ("printf 1e-3", (0.001, None, "evaluator: score 0.001")),
        ("printf '\\377\\376\\n1\\n'", (1.0, None, "evaluator: score 1")),
        ("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo 7", (7.0, None, "evaluator: score 7")),
        ("exit 255", (None, "failure", "evaluator: exit code 255")),
    ],
)
def test_exit_codes_and_scores(command: str, expected: object) -> None:
    assert told(command) == expected


@pytest.mark.parametrize("score", ["nan", "inf", "-inf", "1e999"])
def test_a_score_that_is_no_number_is_no_verdict(
    score: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(f"echo {score}") is None
    assert capsys.readouterr().err == (
        f"warning: s1: the evaluator gave the score {float(score)}: no verdict\n"
    )


@pytest.mark.parametrize(
    "command", ["kill -9 $$", "sh -c 'kill -9 $$'; exit $?", "echo 1; kill -9 $$"]
)
def test_one_that_a_signal_killed_gives_no_verdict(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(command) is None
    assert capsys.readouterr().err == (
        "warning: s1: the evaluator was killed by SIGKILL: no verdict\n"
    )


def test_it_is_given_the_session(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    command = f'echo "$AGENTLEARN_SESSION_ID|$AGENTLEARN_SESSION_PATH" > "{seen}"; cat >> "{seen}"'
    assert told(command) == (None, "success", "evaluator: exit code 0")
    names, *lines = seen.read_text().splitlines()
    assert names == "s1|runs/a b.jsonl"
    assert [json.loads(line)["type"] for line in lines] == ["session", "message", "outcome"]


def test_a_command_that_reads_nothing_of_much() -> None:
    big = Session(id="s", dialect="native", entries=[Message("user", "x" * 60_000, 1)] * 100)
    verdict = Evaluator("exit 0").verdict(big)
    assert verdict is not None and verdict.outcome == "success"


@pytest.mark.parametrize("command", ["no-such-command-here", "/"])
def test_a_command_that_cannot_be_run(command: str) -> None:
    with pytest.raises(BadInput) as caught:
        told(command)
    assert caught.value.message.startswith("the evaluator cannot be run (exit code 12")
    assert caught.value.message.endswith(command)


@pytest.mark.parametrize("command", ["", "   ", "\n"])
def test_no_command(command: str) -> None:
    with pytest.raises(BadInput):
        Evaluator(command)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:  # one that is dead and was not waited for is not running
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def _ended(pid: int) -> bool:
    for _ in range(100):
        if not _is_running(pid):
            return True
        time.sleep(0.05)
    return False


def test_one_that_hangs_ends_with_its_children(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pids = tmp_path / "pids"
    command = (
        f"sleep 300 & echo $! > {pids}; sh -c 'echo $$ >> {pids}; trap \"\" TERM INT; sleep 300'"
    )
    assert told(command, 0.4) is None
    assert (
        capsys.readouterr().err == "warning: s1: the evaluator took over 0.4 seconds: no verdict\n"
    )
    started = [int(line) for line in pids.read_text().split()]
    assert len(started) == 2
    assert all(_ended(pid) for pid in started)


def test_what_it_leaves_behind_is_ended_and_not_waited_for(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    # The child holds the output open; the verdict is there when the command itself ends.
    assert told(f"sleep 300 & echo $! > {pids}; echo 1", 30) == (1.0, None, "evaluator: score 1")
    assert _ended(int(pids.read_text()))


def test_endless_output_is_not_kept() -> None:
    assert told("yes", 0.4) is None


def test_hostile_ids_in_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    session = Session(id=HOSTILE, dialect="native", entries=[])
    assert Evaluator("sleep 60", 0.1).verdict(session) is None
    assert_harmless(capsys.readouterr().err)


def test_one_session_of_many_fails(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", *({"id": f"s{n}", "rewards": [0]} for n in range(3)))
    command = 'test "$AGENTLEARN_SESSION_ID" != s1'
    found = call("returns", path, "--evaluator", command, "--format", "jsonl").stdout
    outcomes = [json.loads(line)["outcome"] for line in found.splitlines()]
    assert outcomes == ["success", "failure", "success"]
    result = call("returns", path, "--evaluator", "no-such-command-here", code=2)
    assert "the evaluator cannot be run" in result.stderr
