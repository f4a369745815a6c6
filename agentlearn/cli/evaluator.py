"""Verdicts from a shell command: it is run once a session, and its exit code or score counts.

The session comes on stdin as native JSON lines; its id and path are in the environment. An exit
code other than 0 is failure; with 0, a number on the last line of the output is the score, and
without one it is success. A command that hangs, that a signal killed, or whose score is no finite
number, gives no verdict, and that is said; one that cannot be run ends the run. What it leaves
running in the background is ended with it, and not waited for.

Its verdict stands in no file: the evidence is what the command said, in the words of the reward.
"""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from typing import IO

from agentlearn.errors import BadInput
from agentlearn.guard import plain
from agentlearn.rewards.draw import Verdict
from agentlearn.sessions.native_write import native_lines
from agentlearn.sessions.values import Session

TIMEOUT_SECONDS = 300.0
NOT_RUN = (126, 127)
NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?(?:nan|inf)")
LAST_BYTES = 4096
"""So much of the end of the output is kept: the score stands on its last line."""


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
            _tell(session, f"took over {self.timeout_seconds:g} seconds")
            return None
        if code in NOT_RUN:
            raise BadInput(f"the evaluator cannot be run (exit code {code}): {self.command}")
        if killed_by := _signal_of(code):
            _tell(session, f"was killed by {killed_by}")
            return None
        if code != 0:
            return Verdict(None, "failure", f"evaluator: exit code {code}")
        score = _score(output)
        if score is None:
            return Verdict(None, "success", "evaluator: exit code 0")
        if not math.isfinite(score):
            _tell(session, f"gave the score {score}")
            return None
        return Verdict(score, None, f"evaluator: score {score:g}")

    def run(self, session: Session, given: IO[bytes]) -> tuple[int | None, str]:
        process = subprocess.Popen(
            ["sh", "-c", self.command],
            stdin=given,
            stdout=subprocess.PIPE,
            start_new_session=True,
            env={
                **os.environ,
                "AGENTLEARN_SESSION_ID": _for_environment(session.id),
                "AGENTLEARN_SESSION_PATH": _for_environment(session.path or ""),
            },
        )
        assert process.stdout is not None
        kept = bytearray()
        reading = threading.Thread(target=_keep_end, args=(process.stdout, kept), daemon=True)
        reading.start()
        try:
            process.wait(timeout=self.timeout_seconds)
        except subprocess.TimeoutExpired:
            return None, ""
        finally:
            _end(process)
            # A child that left the group may still hold the pipe; what it says does not count.
            reading.join(timeout=1.0)
        return process.returncode, bytes(kept).decode("utf-8", "replace")


def _signal_of(code: int) -> str | None:
    """The signal that ended the command; a shell tells that of its last child as 128 and more."""
    number = -code if code < 0 else code - 128
    if number <= 0:
        return None
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}" if code < 0 else None


def _tell(session: Session, why: str) -> None:
    print(f"warning: {plain(session.id)}: the evaluator {why}: no verdict", file=sys.stderr)


def _keep_end(output: IO[bytes], kept: bytearray) -> None:
    with output:
        while block := os.read(output.fileno(), 65536):
            kept += block
            del kept[:-LAST_BYTES]


def _end(process: subprocess.Popen[bytes]) -> None:
    """Whatever the command started ends with it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    process.wait()


def _for_environment(text: str) -> str:
    """An id comes from a transcript: no system takes a NUL, or a value without end."""
    return text.replace("\0", "")[:4096]


def _score(output: str) -> float | None:
    """The number on the last line; None if there is none."""
    lines = output.strip().splitlines()
    return float(lines[-1]) if lines and NUMBER.fullmatch(lines[-1].strip()) else None
