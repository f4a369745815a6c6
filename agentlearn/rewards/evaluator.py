"""Verdicts from a shell command: it is run once a session, and its exit code or score counts.

The session comes on stdin as native JSON lines; its id and path are in the environment. A number
on the last line of its output is the score; without one, exit code 0 is success and any other
failure. A command that cannot be run, or hangs, gives no verdict, and says so.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import tempfile
from typing import IO

from agentlearn.errors import BadInput
from agentlearn.rewards.draw import Verdict
from agentlearn.sessions.native_write import native_lines
from agentlearn.sessions.values import Session

TIMEOUT_SECONDS = 300.0
NOT_RUN = (126, 127)


class Evaluator:
    def __init__(self, command: str, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        if not command.strip():
            raise BadInput("--evaluator needs a command")
        self.command = command
        self.timeout_seconds = timeout_seconds

    def verdict(self, session: Session) -> Verdict | None:
        with tempfile.TemporaryFile() as given:
            given.writelines(native_lines(session))
            given.seek(0)
            code, output = self.run(session, given)
        if code is None:
            seconds = f"{self.timeout_seconds:g} seconds"
            print(f"warning: {session.id}: the evaluator took over {seconds}", file=sys.stderr)
            return None
        if code in NOT_RUN:
            raise BadInput(f"the evaluator cannot be run (exit code {code}): {self.command}")
        if code != 0:
            return Verdict(None, "failure", f"evaluator: exit code {code}")
        score = _score(output)
        if score is None:
            return Verdict(None, "success", "evaluator: exit code 0")
        return Verdict(score, None, f"evaluator: score {score:g}")

    def run(self, session: Session, given: IO[bytes]) -> tuple[int | None, str]:
        process = subprocess.Popen(
            ["sh", "-c", self.command],
            stdin=given,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={
                **os.environ,
                "AGENTLEARN_SESSION_ID": session.id,
                "AGENTLEARN_SESSION_PATH": session.path or "",
            },
        )
        try:
            output, _ = process.communicate(timeout=self.timeout_seconds)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            _end(process)
        return process.returncode, output.decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """Whatever the command started ends with it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()
    if process.stdout:
        process.stdout.close()


def _score(output: str) -> float | None:
    lines = output.strip().splitlines()
    try:
        score = float(lines[-1]) if lines else math.nan
    except ValueError:
        return None
    return score if math.isfinite(score) else None
