"""A command failed, and the same command worked after something was done first, or in more time."""

from __future__ import annotations

import re
from itertools import takewhile

from agentlearn.guard import one_line
from agentlearn.review.complaints import (
    AROUND,
    ENVIRONMENT,
    ERROR_CHARS,
    NO_SUCH,
    TESTS_RAN,
    UNFORMATTED,
    error_line,
    tells_nothing,
)
from agentlearn.review.lesson import Lesson
from agentlearn.review.runs import Run, is_missing, lines_of
from agentlearn.review.showing import clean
from agentlearn.sessions.turns import Turn

STRENGTH = 7
EDITS = re.compile(
    r"(?i)edit|write|patch|replace|create_file|insert|apply|str_replace|update_file|notebook"
    r"|^(?:task|agent|spawn_agent)$"  # a helper may edit, too
)
WRITES = re.compile(
    r"\bapply_patch\b|\bsed -i|\bperl -p?i|<<|\btee\b"
    r"|\bgit (?:apply|am|stash|checkout|switch|restore|revert|reset|merge|rebase|pull)\b"
)
"""What a shell command changes files with."""
LONGEST_COMMAND = 20_000
REMEDIES = re.compile(
    r"\b(?:install|sync|generate|codegen|build|migrate|up|tidy|setup|bootstrap|restore|fetch|pull|"
    r"download|vendor|prepare|init|compile|trust|fmt|format|start)\b"
)
BRINGS = re.compile(r"\b(?:install|ci|sync|generate|codegen|migrate|tidy|restore|fetch|download)\b")
MENDS = frozenset(("--fix", "--write"))
TELLS = re.compile(
    r"\b(?:run|running|try|execute|use|using|with|via)\b:?\s+[`'\"“]?"
    r"(?P<command>[a-z][\w@./-]{0,30}(?: [\w@./:=-]{1,40}){1,6})",
    re.IGNORECASE,
)
"""An error that says what to do about it."""
GOES_ON = frozenset(("to", "first", "and", "or", "in", "before", "again", "for", "if", "from"))
OUTPUT_CHARS = 8000
TIMED_OUT = re.compile(r"\btimed out after (\d[\w .]{0,15}(?:s|seconds|minutes|milliseconds))\b")


def remedy(failed: Run, later: list[Run], turns: list[Turn]) -> Lesson | None:
    """The same command worked after another one was run, and nothing was edited in between."""
    error = error_line(failed.output)
    if (
        error is None
        or tells_nothing(failed)
        or not (ENVIRONMENT.search(error) or UNFORMATTED.search(error))
    ):
        return None
    worked = next((run for run in later if run.core == failed.core and _got_on(run, error)), None)
    if worked is None:
        return None
    # No edit brings a program that is missing.
    if edited(turns, failed.turn, worked.turn) and not is_missing(failed, failed.output):
        return None
    between = [run for run in later if run.turn <= worked.turn and run.core != failed.core]
    cures = [run for run in between if run.passed and _cures(run, run.turn == worked.turn)]
    return _until(failed, error, cures[-1], worked) if cures else None


def _got_on(run: Run, error: str) -> bool:
    """It worked; or what was missing is there now, and the tests themselves fail."""
    is_there = NO_SUCH.search(error) is not None and TESTS_RAN.search(run.output) is not None
    return run.passed or (run.failed and run.topic == "tests" and is_there)


def _cures(run: Run, beside: bool) -> bool:
    """`beside`: in one line with what worked, where one builds and cleans for many reasons."""
    if beside:
        return BRINGS.search(run.plain) is not None
    return REMEDIES.search(run.plain) is not None or not MENDS.isdisjoint(run.arguments)


def told(failed: Run, later: list[Run]) -> Lesson | None:
    """The error said what to run first; that was run, and then the command worked."""
    worked = next((run for run in later if run.core == failed.core and run.passed), None)
    if worked is None or tells_nothing(failed):
        return None
    between = [run for run in later if run.turn <= worked.turn and run.core != failed.core]
    for line in failed.output[:OUTPUT_CHARS].splitlines():
        for found in TELLS.finditer(line):
            said = list(takewhile(lambda word: word not in GOES_ON, found["command"].split()))
            cure = next((run for run in between if not run.failed and _is(run, said)), None)
            if cure is not None:
                error = one_line(clean(line.strip()), ERROR_CHARS)
                return _until(failed, error, cure, worked, " ".join(said))
    return None


def _is(run: Run, said: list[str]) -> bool:
    words = [*run.core, *run.arguments]
    return 1 < len(said) <= len(words) and words[: len(said)] == said


def _until(failed: Run, error: str, cure: Run, worked: Run, shown: str = "") -> Lesson | None:
    if AROUND.search(" ".join((*cure.core, *cure.arguments))):
        return None
    text = (
        f"`{failed.shown}` fails here with “{error}” until `{shown or cure.shown_whole}` was run."
    )
    return Lesson(text, lines_of(failed, cure, worked), failed.topic, strength=STRENGTH)


def slow(failed: Run, later: list[Run]) -> Lesson | None:
    """It was stopped, and worked when it was given more time."""
    found = TIMED_OUT.search(failed.output)
    worked = next((run for run in later if run.core == failed.core and run.passed), None)
    if found is None or worked is None or worked.patience <= failed.patience:
        return None
    text = f"`{failed.shown}` takes longer than {found[1]} here: give it more time."
    return Lesson(text, lines_of(failed, worked), failed.topic, strength=STRENGTH)


def edited(turns: list[Turn], start: int, end: int) -> bool:
    calls = (turn.call for turn in turns[start + 1 : end] if turn.call is not None)
    return any(
        EDITS.search(call.tool) or WRITES.search(call.arguments[:LONGEST_COMMAND]) for call in calls
    )
