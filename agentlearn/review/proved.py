"""What a session proved: a command of the project failed, and something that can be named made
it work.

A changed variant worked: another wrapper, a variable, a flag that the error speaks of. The same
command worked when another had been run first, or in more time. A linter named its rule, and the
same check passed later. The code itself said what it wants of a value. What works around a safety
check is no lesson, and neither is an ordinary failing test that the agent then mended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentlearn.guard import one_line
from agentlearn.review.around import AROUND
from agentlearn.review.complaints import ERROR_CHARS
from agentlearn.review.cures import remedy, slow, told
from agentlearn.review.lesson import Lesson
from agentlearn.review.linters import broken_rule
from agentlearn.review.runs import Run, lines_of
from agentlearn.review.showing import quoted
from agentlearn.review.variants import other_command, variant
from agentlearn.sessions.turns import Turn

NEAR_TURNS = 40
DEMANDS = re.compile(
    r"(?:E +)?(?!Assertion|Type|Attribute|Key|Index|Name|Import|Syntax)"
    r"(?:panic|\w*(?:Error|Exception)): .{0,120}?"
    r"(?:\b[Mm]ust (?:be|have|match|start|end|contain|not|only|begin)\b|\bhas to be\b"
    r"|\bshould be one of\b)"
)
"""An exception of the project's that says what a value has to be; a failing comparison does not."""
GIVEN_VALUE = re.compile(r"(['\"])[^'\"\n]{1,80}\1")
"""It may be anybody's name."""
HOOKED = {("git", "commit"), ("git", "push")}
STRENGTH = 7


def proved_lessons(runs: list[Run], turns: list[Turn]) -> Iterator[Lesson]:
    for number, run in enumerate(runs):
        if not run.failed:
            continue
        before, later = _near(runs, number)
        lesson = (
            variant(run, before, later, turns)
            or other_command(run, later, turns)
            or told(run, later)
            or remedy(run, later, turns)
            or slow(run, later)
            or _lint(run, later)
            or _demand(run, later)
        )
        if lesson is not None:
            yield lesson


def _near(runs: list[Run], number: int) -> tuple[list[Run], list[Run]]:
    """What was run some turns before a run, and after it."""
    turn = runs[number].turn
    first = last = number
    while first and turn - runs[first - 1].turn <= NEAR_TURNS:
        first -= 1
    while last + 1 < len(runs) and runs[last + 1].turn - turn <= NEAR_TURNS:
        last += 1
    return runs[first:number], runs[number + 1 : last + 1]


def _lint(failed: Run, later: list[Run]) -> Lesson | None:
    """A check named the rule that was broken, and passed when it was kept.

    A commit that a hook refused is a check too.
    """
    if failed.is_muddled or (failed.topic == "commands" and failed.core not in HOOKED):
        return None  # where texts are written beside it, it may be broken to see what is said
    worked = next((run for run in later if run.passed and _checks_the_same(failed, run)), None)
    found = broken_rule(failed.plain, failed.output) if worked is not None else None
    if found is None or worked is None:
        return None
    rule, said = found
    said = one_line(quoted(said), ERROR_CHARS)
    text = f"`{failed.shown}` rejects code by the rule {rule}: “{said}”."
    return Lesson(text, lines_of(failed, worked), "checks", strength=STRENGTH)


def _checks_the_same(failed: Run, run: Run) -> bool:
    """Nothing less than what failed: neither other files, nor without the rule."""
    if run.core != failed.core or run.folder != failed.folder or AROUND.search(_words(run)):
        return False
    return failed.core in HOOKED or set(run.arguments) <= set(failed.arguments)


def _words(run: Run) -> str:
    return " ".join((*run.variables, *run.arguments))


def _demand(failed: Run, later: list[Run]) -> Lesson | None:
    """The project's own code said what it wants of a value, and was content with another."""
    if failed.topic not in ("tests", "build"):
        return None
    worked = next((run for run in later if run.core == failed.core), None)
    if worked is None or not worked.passed:
        return None
    lines = (line.strip() for line in failed.output.splitlines())
    said = next((line for line in lines if 20 < len(line) < 200 and DEMANDS.match(line)), None)
    if said is None:
        return None
    said = GIVEN_VALUE.sub(r"\1…\1", quoted(said).partition(" [recovered")[0])
    said = one_line(said, ERROR_CHARS)
    text = f"The code under `{failed.shown}` demands: “{said}”."
    return Lesson(text, lines_of(failed, worked), failed.topic, strength=STRENGTH)
