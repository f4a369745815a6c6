"""A command failed, and the same command worked after something was done first, or in more time."""

from __future__ import annotations

import re
from itertools import pairwise, takewhile

from agentlearn.guard import one_line
from agentlearn.review.around import AROUND, DESTROYS
from agentlearn.review.complaints import (
    ENVIRONMENT,
    ERROR_CHARS,
    ERROR_LINE,
    NO_ANSWER,
    NO_SUCH,
    TESTS_RAN,
    UNFORMATTED,
)
from agentlearn.review.lesson import Lesson
from agentlearn.review.runs import Run, is_missing, lines_of
from agentlearn.review.showing import quoted
from agentlearn.review.wrappers import PLAIN_VALUE
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
    r"\b(?:install|ci|sync|generate|codegen|build|migrate|upgrade|up|tidy|setup|bootstrap|restore|fetch"
    r"|pull|download|vendor|prepare|init|compile|trust|fmt|format|start)\b"
)
BRINGS = re.compile(r"\b(?:install|ci|sync|generate|codegen|migrate|tidy|restore|fetch|download)\b")
STARTS = re.compile(r"\b(?:up|start|serve|run|launch|create)\b")
MENDS = frozenset(("--fix", "--write"))
TELLS = re.compile(
    r"\b(?:run|running|execute)\b(?: the following(?: command)?[^:]{0,60})?:?\s+[`'\"“]?"
    r"(?P<command>[a-z][\w-]{0,30}(?: [\w:-]{1,40}){1,6})(?P<end>[^ ]|$)?",
    re.IGNORECASE,
)
"""An error that says what to do about it."""
MERELY_NOTES = re.compile(
    r"^\W*(?:warn|note|info|hint|notice|npm (?:notice|warn)|to \w+)", re.IGNORECASE
)
ASKS_FOR = re.compile(r"\bplease run\b|\bfirst\b", re.IGNORECASE)
BOX = re.compile(r"[│║┃╔╗╚╝═─╭╮╰╯┌┐└┘]+")
GOES_ON = frozenset(("to", "first", "and", "or", "in", "before", "again", "for", "if", "from"))
TAKES_A_NAME = frozenset(("install", "add", "get", "i"))
MOST_NAMES = 3
OUTPUT_CHARS = 8000
TIMED_OUT = re.compile(
    r"^(?:Exit code \d+\s+)?(?:Error: )?Command timed out after "
    r"(?P<shown>(?:(?P<minutes>\d{1,3})m ?)?(?P<number>\d{1,7})(?:\.\d+)? ?"
    r"(?P<unit>ms|milliseconds|s|seconds))\b",
    re.IGNORECASE | re.MULTILINE,
)


def remedy(failed: Run, later: list[Run], turns: list[Turn]) -> Lesson | None:
    """The same command worked after another one was run, and nothing was edited in between."""
    error = failed.error
    if error is None or failed.tells_nothing:
        return None
    if not (ENVIRONMENT.search(error) or UNFORMATTED.search(error)):
        return None
    again = [run for run in later if run.core == failed.core]
    worked = next((run for run in again if _got_on(run, error)), None)
    if worked is None:
        return None
    if edited(turns, failed.turn, worked.turn) and not is_gone(failed):
        return None
    before = [run for run in later[: later.index(worked)] if run.core != failed.core and run.passed]
    cure = _the_one(failed, [run for run in before if _cures(run, worked, error)])
    return None if cure is None else _until(failed, error, cure, worked)


def is_gone(failed: Run) -> bool:
    """The program itself is missing, and is none of the project's: no edit brings it."""
    of_project = "/" in failed.program or failed.wrapper[-1:] == ("-m",)
    return not of_project and is_missing(failed, failed.output)


def _got_on(run: Run, error: str) -> bool:
    """It worked; or what was missing is there now, and the tests themselves fail."""
    is_there = NO_SUCH.search(error) is not None and TESTS_RAN.search(run.output) is not None
    return run.passed or (run.failed and run.topic == "tests" and is_there)


def _cures(run: Run, worked: Run, error: str) -> bool:
    if NO_ANSWER.search(error):
        return STARTS.search(run.plain) is not None
    if run.turn == worked.turn:  # in one line one builds and cleans for many reasons
        return BRINGS.search(run.plain) is not None
    return REMEDIES.search(run.plain) is not None or not MENDS.isdisjoint(run.arguments)


def _the_one(failed: Run, cures: list[Run]) -> Run | None:
    """Of several things that were done, the one that belongs to the command; else nobody knows."""
    own = {failed.core[0], *failed.wrapper[:1]}
    for some in ([run for run in cures if own & {run.core[0], *run.wrapper[:1]}], cures):
        if len({run.core for run in some}) == 1:
            return some[-1]
        if some:
            return None
    return None


def told(failed: Run, later: list[Run]) -> Lesson | None:
    """The error said what to run first; that was run, and then the command worked."""
    worked = next((run for run in later if run.core == failed.core and run.passed), None)
    if worked is None or failed.tells_nothing:
        return None
    between = [run for run in later[: later.index(worked)] if run.core != failed.core]
    for line in _telling(failed.output[:OUTPUT_CHARS]):
        for found in TELLS.finditer(line):
            words = found["command"].split()
            said = list(takewhile(lambda word: word not in GOES_ON, words))
            if said == words and found["end"] is None:
                continue  # it goes on with what is no plain word
            cure = next((run for run in between if not run.failed and _is(run, said)), None)
            if cure is not None:
                error = one_line(quoted(line), ERROR_CHARS)
                return _until(failed, error, cure, worked, " ".join(said))
    return None


def _telling(output: str) -> list[str]:
    """The lines that say that something is wrong; what to run may stand on the next."""
    lines = [line for line in (BOX.sub(" ", line).strip() for line in output.splitlines()) if line]
    joined = [
        f"{line} {after}" if line.endswith(":") else line for line, after in pairwise([*lines, ""])
    ]
    return [
        line[:400]
        for line in joined
        if not MERELY_NOTES.match(line) and (ERROR_LINE.search(line) or ASKS_FOR.search(line))
    ]


def _is(run: Run, said: list[str]) -> bool:
    """It is what was said, word by word; a package that is named may be anybody's."""
    names = [after for word, after in pairwise(said) if word in TAKES_A_NAME]
    if len(said) < 2 or any(not name.startswith("-") for name in names):
        return False
    words = [*run.core, *run.arguments]
    return any(each[: len(said)] == said for each in (words, [*run.wrapper, *words]))


def _until(failed: Run, error: str, cure: Run, worked: Run, shown: str = "") -> Lesson | None:
    words = " ".join((*cure.variables, *cure.core, *cure.arguments))
    named = [word for word in cure.arguments if not word.startswith("-")]
    brings = cure.core[-1] in TAKES_A_NAME and not shown
    if AROUND.search(words) or DESTROYS.search(words):
        return None
    if brings and not (len(named) <= MOST_NAMES and all(map(PLAIN_VALUE.fullmatch, named))):
        return None
    first = shown or " ".join((cure.shown_whole, *(named if brings else ())))
    text = f"`{failed.shown}` fails here with “{error}” until `{first}` was run."
    return Lesson(text, lines_of(failed, cure, worked), failed.topic, strength=STRENGTH)


def slow(failed: Run, later: list[Run]) -> Lesson | None:
    """It was stopped, and the very same worked when it was given more time."""
    found = TIMED_OUT.search(failed.output[:OUTPUT_CHARS])
    if found is None:
        return None
    had_ms = int(found["minutes"] or 0) * 60_000 + int(found["number"]) * (
        1 if found["unit"].lower().startswith("m") else 1000
    )
    same = [run for run in later if (run.core, run.arguments) == (failed.core, failed.arguments)]
    worked = next((run for run in same if run.passed and run.patience_ms >= 2 * had_ms), None)
    if worked is None:
        return None
    text = f"`{failed.shown}` takes longer than {found['shown']} here: give it more time."
    return Lesson(text, lines_of(failed, worked), failed.topic, strength=STRENGTH)


def edited(turns: list[Turn], start: int, end: int) -> bool:
    calls = (turn.call for turn in turns[start + 1 : end] if turn.call is not None)
    return any(
        EDITS.search(call.tool) or WRITES.search(call.arguments[:LONGEST_COMMAND]) for call in calls
    )
