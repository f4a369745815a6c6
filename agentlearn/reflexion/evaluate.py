"""The judge: a shell command in the workspace, on files that the agent cannot have changed.

Passed is an exit code of 0 and a score of at least the threshold. A judge that hangs, or prints no
score, or one that is no number, has not said that the task is done: so it is not.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agentlearn.guard import plain
from agentlearn.guard.secrets import redact
from agentlearn.reflexion.copying import remove
from agentlearn.reflexion.process import Ran, run_command
from agentlearn.reflexion.task import Evaluator, FileScore, RegexScore

TAIL_CHARS = 4000
NOT_RUN = (126, 127)
"""What a shell exits with where there is no such program, or it may not be run."""
SCORE_BYTES = 1024 * 1024
REGEX_SECONDS = 10.0
LAST_MATCH = """
import json, re, sys
pattern, *texts = json.load(sys.stdin.buffer)
last = None
for text in reversed(texts):  # what stdout says goes before
    for match in re.finditer(pattern, text):
        last = match[1] if match.re.groups else match[0]
print(json.dumps(last))
"""


class Evaluation(Struct, frozen=True):
    passed: bool
    score: float | None
    exit_code: int | None
    timed_out: bool = False
    reason: str | None = None
    """Why there is no score, or why the judge did not end by itself."""
    stdout: str = ""
    """Its end, without control codes and secrets."""
    stderr: str = ""
    elapsed_ms: int = 0
    reward: float = 0.0
    """1 if passed, else how much of the threshold was reached: always less than 1."""


def evaluate(judge: Evaluator, workspace: Path, env: dict[str, str], log: Path) -> Evaluation:
    if isinstance(judge.score, FileScore):
        _forget(workspace, judge.score.file)
    ran = run_command(judge.command, workspace, env, judge.timeout_seconds, log)
    score, reason = _score(judge, ran, workspace)
    if ran.timed_out:
        score, reason = None, f"it took over {judge.timeout_seconds:g} seconds"
    elif ran.exit_code is None:
        score, reason = None, ran.problem
    elif ran.exit_code in NOT_RUN:
        reason = reason or not_run("the judge", ran)
    passed = ran.exit_code == 0 and score is not None and score >= judge.threshold
    return Evaluation(
        passed=passed,
        score=score,
        exit_code=ran.exit_code,
        timed_out=ran.timed_out,
        reason=reason or ran.problem,
        stdout=_told(ran.stdout.tail(TAIL_CHARS)),
        stderr=_told(ran.stderr.tail(TAIL_CHARS)),
        elapsed_ms=ran.elapsed_ms,
        reward=_reward(passed, score, judge.threshold),
    )


def not_run(who: str, ran: Ran) -> str:
    """Why a shell could not run a command, as it says itself."""
    said = ran.stderr.tail(500).strip().splitlines()
    why = redact(plain(said[-1])) if said else f"exit code {ran.exit_code}"
    return f"{who} could not be run: {why}"


def _told(text: str) -> str:
    return redact(plain(text))


def _reward(passed: bool, score: float | None, threshold: float) -> float:
    if passed:
        return 1.0
    if score is None or threshold <= 0 or score <= 0:
        return 0.0
    return min(score / threshold, 0.99)


def _forget(workspace: Path, name: str) -> None:
    """What an agent wrote there is no score."""
    path = workspace / name
    if _is_inside(path.parent, workspace):
        remove(path)


def _is_inside(path: Path, folder: Path) -> bool:
    """Not by `resolve`, which fails on links that go round in circles."""
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _score(judge: Evaluator, ran: Ran, workspace: Path) -> tuple[float | None, str | None]:
    if judge.score == "exit_code":
        return (1.0 if ran.exit_code == 0 else 0.0), None
    if isinstance(judge.score, RegexScore):
        return _in_output(judge.score.regex, ran)
    assert isinstance(judge.score, FileScore)
    return _in_file(judge.score, workspace)


def _in_output(pattern: str, ran: Ran) -> tuple[float | None, str | None]:
    """The last match, looked for in a process of its own: an expression may take for ever."""
    given = msgspec.json.encode([pattern, ran.stdout.text(), ran.stderr.text()])
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", LAST_MATCH],
            input=given,
            capture_output=True,
            timeout=REGEX_SECONDS,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return None, f"looking for the score took over {REGEX_SECONDS:g} seconds"
    except subprocess.CalledProcessError:
        return None, "the score could not be looked for"
    found = msgspec.json.decode(done.stdout)
    return (None, "the judge printed no score") if found is None else _number(found)


def _in_file(where: FileScore, workspace: Path) -> tuple[float | None, str | None]:
    path = workspace / where.file
    try:
        if not _is_inside(path, workspace) or not path.is_file():
            return None, f"the judge wrote no {where.file}"
        with path.open("rb") as file:
            data = file.read(SCORE_BYTES)
        value: Any = msgspec.json.decode(data)
    except OSError as error:
        return None, f"{where.file} cannot be read: {error.strerror}"
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None, f"{where.file} is no JSON"
    for key in where.key.split(".") if where.key else ():
        if not isinstance(value, dict) or key not in value:
            return None, f"{where.file} has no {where.key}"
        value = value[key]
    return _number(value)


def _number(value: Any) -> tuple[float | None, str | None]:
    try:
        score = float(value) if not isinstance(value, (dict, list)) else math.nan
    except (TypeError, ValueError, OverflowError):
        score = math.nan
    if not math.isfinite(score):
        return None, f"the score is no number: {plain(str(value))[:80]}"
    return score, None
