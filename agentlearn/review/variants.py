"""A command failed, and a changed variant of it worked, or another that does the same work."""

from __future__ import annotations

import re

from agentlearn.review.complaints import (
    AROUND,
    ENVIRONMENT,
    NO_SUCH,
    SHUT_IN,
    error_line,
    tells_nothing,
)
from agentlearn.review.cures import edited
from agentlearn.review.lesson import Lesson
from agentlearn.review.runs import Run, is_missing, lines_of
from agentlearn.review.showing import clean, shown_variable
from agentlearn.sessions.turns import Turn

STRENGTH = 8
RIGHT_AFTER, SOON_AFTER = 6, 12
UNATTENDED = ("--run", "--ci", "--watch=false", "--no-watch", "--yes", "--no-input", "--no-pager")
"""With these a program neither waits for a person nor for changes."""
SAYS_LESS = re.compile(r"--quiet\b|-q\b")
OUTSIDE = re.compile(r"[/~$.\\-]|[A-Za-z]:")
"""A folder that is no part of the project, or the way back to it: the agent had lost its way."""


def variant(failed: Run, later: list[Run]) -> Lesson | None:
    """A variant of the command that did not fail the same way, and is part of one that worked."""
    error = error_line(failed.output)
    if error is None or not ENVIRONMENT.search(error) or tells_nothing(failed):
        return None
    same = [run for run in later if run.core == failed.core]
    changed = next((run for run in same if _differs(failed, run)), None)
    if changed is None or (changed.failed and error_line(changed.output) == error):
        return None
    worked = next((run for run in same if run.passed and run.turn >= changed.turn), None)
    if worked is None or not _holds(worked, failed, changed):
        return None
    how = _difference(failed, changed)
    if how is None or AROUND.search(how) or SAYS_LESS.search(how):
        return None
    if changed.failed:  # it was one step on the way: what worked in the end is told
        how = f"`{worked.shown}` works."
    text = f"`{failed.shown}` fails here with “{error}”; {how}"
    return Lesson(text, lines_of(failed, worked), failed.topic, strength=STRENGTH)


def other_command(failed: Run, later: list[Run], turns: list[Turn]) -> Lesson | None:
    """There is no such command here, and the same work was done by another right after."""
    error = error_line(failed.output)
    if error is None or not NO_SUCH.search(error) or failed.topic == "commands":
        return None
    # Where the program itself is missing, no edit makes the other one work.
    is_gone = is_missing(failed, failed.output)
    near = [
        run for run in later if run.turn - failed.turn <= (SOON_AFTER if is_gone else RIGHT_AFTER)
    ]
    worked = next((run for run in near if run.passed and run.topic == failed.topic), None)
    if worked is None or any(run.core == failed.core and not run.failed for run in later):
        return None
    if not is_gone and edited(turns, failed.turn, worked.turn):
        return None
    if AROUND.search(worked.shown):
        return None
    text = f"`{failed.shown}` fails here with “{error}”; `{worked.shown}` works."
    return Lesson(text, lines_of(failed, worked), failed.topic, strength=STRENGTH)


def _differs(one: Run, other: Run) -> bool:
    same_way = (one.wrapper, one.variables, one.folder) == (
        other.wrapper,
        other.variables,
        other.folder,
    )
    let_out = other.outside and not one.outside and SHUT_IN.search(one.output) is not None
    return let_out or not same_way or _flags(one) != _flags(other) or one.program != other.program


def _holds(worked: Run, failed: Run, changed: Run) -> bool:
    """Whether what was changed is still so in the run that worked."""
    added = set(_names(changed)) - set(_names(failed))
    return (
        set(worked.wrapper) >= set(changed.wrapper)
        and added <= set(_names(worked))
        and changed.folder in (failed.folder, worked.folder)
    )


def _difference(failed: Run, changed: Run) -> str | None:
    """What made the difference, in words; None if it cannot be named."""
    if changed.outside and not failed.outside and SHUT_IN.search(failed.output):
        return "it works outside the sandbox, where the person allows it."
    error = failed.output
    gone = [flag for flag in _flags(failed) if flag not in _flags(changed) and flag in error]
    new = [flag for flag in _flags(changed) if flag not in _flags(failed) and flag in error]
    if "timed out" in error:
        new += [flag for flag in changed.arguments if flag in UNATTENDED]
    if new:
        return f"with `{' '.join(new)}` it works."
    if gone:
        return f"without `{' '.join(gone)}` it works."
    if changed.wrapper != failed.wrapper:
        return f"`{clean(' '.join((*changed.wrapper, *changed.core)))}` works."
    added = [each for each in changed.variables if each.partition("=")[0] not in _names(failed)]
    if added:
        return f"with `{' '.join(map(shown_variable, added))}` it works."
    if folder := _folder_below(failed.folder, changed.folder):
        return f"it works in the folder `{clean(folder)}`."
    if changed.program != failed.program:
        return f"`{clean(changed.program)}` works."
    return None


def _folder_below(old: str | None, new: str | None) -> str | None:
    """The folder of the project that one went into; the way back to the project is none."""
    if new is None or new == old:
        return None
    if old and new.startswith(f"{old.rstrip('/')}/"):
        return new[len(old.rstrip("/")) + 1 :]
    return None if OUTSIDE.match(new) else new


def _flags(run: Run) -> tuple[str, ...]:
    return tuple(word.partition("=")[0] for word in run.arguments if word.startswith("--"))


def _names(run: Run) -> list[str]:
    return [each.partition("=")[0] for each in run.variables]
