"""Commands that failed, and what made them work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from agentlearn.guard import one_line
from agentlearn.guard.shown import harmless
from agentlearn.rewards.patterns import Patterns
from agentlearn.rlm.pages import error_line
from agentlearn.rlm.variants import Command, likeness
from agentlearn.sessions.turns import Turn

NEAR_TURNS = 40
COMMAND_CHARS, ERROR_CHARS = 100, 80
STILL_RUNNING = re.compile(r"Script running with cell ID|Process running with session ID")
"""How Codex says that a command has not ended yet."""
WRITES_TEXT = re.compile(r"<<|\*\*\* Begin Patch")
"""Most of such a command is a file's text, which is like every other version of it."""
PIPED = re.compile(r"\s+(?:2>&1\s*)?\|(?!\|)\s.*\Z|\s+2>&1\s*\Z", re.DOTALL)
"""With spaces around it: one inside of quotes is part of a pattern."""


class Ran(NamedTuple):
    """A command that was run."""

    command: Command
    """Without what its output went through."""
    failed: bool
    passed: bool
    turn: int
    start: int
    end: int
    error: str = ""


class Fix(NamedTuple):
    failed: Ran
    worked: Ran

    @property
    def is_another_command(self) -> bool:
        """Else it is the same, and something else was changed."""
        failed, worked = self.failed.command.text, self.worked.command.text
        return failed.split() != worked.split()

    def __str__(self) -> str:
        failed, worked = harmless(self.failed.command.text), harmless(self.worked.command.text)
        error = one_line(harmless(self.failed.error), ERROR_CHARS)
        why = f" with “{error}”" if error else ""
        if not self.is_another_command:
            return f"`{one_line(failed, COMMAND_CHARS)}` failed{why}, until something was changed"
        failed, worked = _from_where_they_differ(failed, worked)
        return f"`{failed}` failed{why}; `{worked}` worked"


def fixes(turns: list[Turn], patterns: Patterns) -> Iterator[Fix]:
    """Each command that failed, with the one like it that worked soon after."""
    runs = list(_runs(turns, patterns))
    told: set[int] = set()
    for number, run in enumerate(runs):
        if not run.failed:
            continue
        worked = _remedy(run, runs[number + 1 : number + 1 + NEAR_TURNS])
        if worked is not None and worked.start not in told:
            told.add(worked.start)
            yield Fix(run, worked)


def _runs(turns: list[Turn], patterns: Patterns) -> Iterator[Ran]:
    goes_on = {turn.call.continues for turn in turns if turn.call is not None}
    for number, turn in enumerate(turns):
        call, result = turn.call, turn.result
        if call is None or result is None or call.id in goes_on:
            continue
        if result.status in ("rejected", "interrupted"):
            continue
        command = patterns.command_of(call)
        if command and not WRITES_TEXT.search(command):
            judged = patterns.judge_call(call, result)
            failed = judged in ("failed_call", "tests_failed")
            # Of a pipe the exit code is that of its end, which proves nothing.
            is_piped = re.search(r"\s\|(?!\|)\s", command) is not None
            passed = judged == "tests_passed" or not (failed or is_piped)
            if STILL_RUNNING.search(result.text[:200]):
                passed = False
            bare = Command(PIPED.sub("", command))
            error = error_line(result.text) if failed else ""
            yield Ran(bare, failed, passed, number, call.line, result.line, error)


def _remedy(failed: Ran, later: list[Ran]) -> Ran | None:
    """Of what worked soon after, the command most like the one that failed."""
    near = [
        (likeness(failed.command, other.command), other)
        for other in later
        if other.passed and other.turn - failed.turn <= NEAR_TURNS
    ]
    alike = [(much, other) for much, other in near if much]
    return max(alike, key=lambda pair: pair[0])[1] if alike else None


def _from_where_they_differ(one: str, other: str) -> tuple[str, str]:
    """Two long commands that begin alike, each from a word or two before the difference on."""
    one, other = (" ".join(command.split()) for command in (one, other))
    pairs = zip(one, other, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
    if same > COMMAND_CHARS // 2:
        cut = one.rfind(" ", 0, max(1, one.rfind(" ", 0, same))) + 1
        one, other = f"…{one[cut:]}", f"…{other[cut:]}"
    return one_line(one, COMMAND_CHARS), one_line(other, COMMAND_CHARS)
