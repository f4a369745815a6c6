"""A command failed, and a changed variant of it worked, or another that does the same work."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from agentlearn.review.around import AROUND, DESTROYS, SAYS_LESS, VARIABLES
from agentlearn.review.command_lines import BUILDS
from agentlearn.review.complaints import ENVIRONMENT, NO_ANSWER, NO_SUCH, SHUT_IN
from agentlearn.review.cures import edited, is_gone
from agentlearn.review.lesson import Lesson
from agentlearn.review.runs import Run, is_missing, lines_of
from agentlearn.review.showing import clean, shown_variable
from agentlearn.sessions.turns import Turn

STRENGTH = 8
RIGHT_AFTER, SOON_AFTER = 6, 12
NEARLY = 0.75
NO_EDIT_HELPS = re.compile(
    r"command not found|does not match|not permitted|permission denied|read-only file system"
    r"|externally-managed|toolchain|unsupported engine|requires? (?:node|python|go|java|ruby)"
    r"|please use|failed to spawn|unknown (?:flag|option)|unrecognized|unexpected argument",
    re.IGNORECASE,
)
"""What is wrong then is the way it was run, whatever else was done meanwhile."""
UNATTENDED = ("--run", "--ci", "--watch=false", "--no-watch", "--yes", "--no-input", "--no-pager")
"""With these a program neither waits for a person nor for changes."""
OUTSIDE = re.compile(r"[/~$.\\-]|[A-Za-z]:")
"""A folder that is no part of the project, or the way back to it: the agent had lost its way."""
FOLDER = re.compile(r"[\w.+-]+(?:/[\w.+-]+){0,5}")
FINDS = re.compile(r"PATH|HOME|ROOT|BIN|PREFIX|DIR")
KINDS = (
    re.compile(r"type|tsc|mypy|pyright"),
    re.compile(r"fmt|format|prettier|black"),
    re.compile(r"lint|ruff|vet|clippy|biome|flake8|rubocop|check"),
)
"""Of checks: of types, of the form, of the code."""
SORTS = ("e2e", "integration", "unit", "smoke", "bench")


def variant(failed: Run, before: list[Run], later: list[Run], turns: list[Turn]) -> Lesson | None:
    """A variant of the command that did not fail the same way, and is part of one that worked."""
    error = failed.error
    if error is None or not ENVIRONMENT.search(error) or failed.tells_nothing:
        return None
    same = [run for run in later if run.core == failed.core]
    changed = next((run for run in same if _differs(failed, run)), None)
    if changed is None or (changed.failed and changed.error == error):
        return None
    is_found = is_missing(failed, failed.output) and not is_missing(changed, changed.output)
    worked = next((run for run in same if run.passed and run.turn >= changed.turn), None)
    worked = changed if is_found else worked  # it is there now, whatever it says
    if worked is None or not _holds(worked, failed, changed):
        return None
    others = [*same, *before] if NO_ANSWER.search(error) else same
    if any(run.passed and run.core == failed.core and not _differs(failed, run) for run in others):
        return None  # it works without any change, too
    how = _difference(failed, changed)
    if how is None or AROUND.search(how) or SAYS_LESS.search(how):
        return None
    if edited(turns, failed.turn, worked.turn) and not _is_about_the_way(failed, changed):
        return None
    if (
        changed.failed and not is_found
    ):  # it was one step on the way: what worked in the end is told
        how = f"`{worked.shown}` works."
    text = f"`{failed.shown}` fails here with “{error}”; {how}"
    return Lesson(text, lines_of(failed, worked), failed.topic, strength=STRENGTH)


def _is_about_the_way(failed: Run, changed: Run) -> bool:
    """The error speaks of what was changed, or of what no edit mends."""
    added = set(_names(changed)) - set(_names(failed))
    return NO_EDIT_HELPS.search(failed.error or "") is not None or any(
        name in failed.output for name in added
    )


def other_command(failed: Run, later: list[Run], turns: list[Turn]) -> Lesson | None:
    """There is no such command here, and the same work was done by another right after."""
    error = failed.error
    if error is None or any(run.core == failed.core and not run.failed for run in later):
        return None
    near = [run for run in later if run.turn - failed.turn <= RIGHT_AFTER and run.passed]
    worked = next((run for run in near if _is_named(failed, run)), None)
    if worked is None and NO_SUCH.search(error) and failed.topic != "commands":
        # Where the program itself is missing, no edit makes the other one work.
        is_sure = is_gone(failed)
        last = failed.turn + (SOON_AFTER if is_sure else RIGHT_AFTER)
        soon = [run for run in later if run.turn <= last and run.passed]
        worked = next((run for run in soon if _is_same_work(failed, run)), None)
        if worked is None or (not is_sure and edited(turns, failed.turn, worked.turn)):
            return None
    if worked is None or AROUND.search(worked.shown) or DESTROYS.search(worked.plain):
        return None
    if is_gone(failed) and _is_misspelt(failed.core[0], worked.core[0]):
        return None
    text = f"`{failed.shown}` fails here with “{error}”; `{worked.shown}` works."
    return Lesson(text, lines_of(failed, worked), failed.topic, strength=STRENGTH)


def _is_misspelt(name: str, other: str) -> bool:
    return name != other and SequenceMatcher(None, name, other).ratio() >= NEARLY


def _is_named(failed: Run, run: Run) -> bool:
    """The error itself says what to use: `Use "pnpm install" instead`."""
    name = rf"\buse:? [\"'`]?{re.escape(run.plain)}\b"
    return len(run.core) > 1 and re.search(name, failed.output[-4000:], re.IGNORECASE) is not None


def _is_same_work(failed: Run, run: Run) -> bool:
    if run.topic != failed.topic or run.core == failed.core:
        return False
    one, other = (" ".join((*each.core, *each.arguments[:2])) for each in (failed, run))
    if failed.topic == "tests":
        return all(sort in other for sort in SORTS if sort in one)
    if failed.topic == "checks":
        return _kind(one) == _kind(other)
    word = BUILDS.search(failed.plain)
    return word is not None and word[0] in run.plain


def _kind(words: str) -> int:
    return next((place for place, kind in enumerate(KINDS) if kind.search(words)), len(KINDS))


def _differs(one: Run, other: Run) -> bool:
    let_out = other.outside and not one.outside and SHUT_IN.search(one.output) is not None
    return let_out or _way(one) != _way(other)


def _way(run: Run) -> tuple[object, ...]:
    """How it was run, whatever it was run on."""
    return run.wrapper, run.variables, run.folder, run.prepared, _flags(run), run.program


def _holds(worked: Run, failed: Run, changed: Run) -> bool:
    """Whether what was changed is still so in the run that worked."""
    added = set(_names(changed)) - set(_names(failed))
    return (
        set(worked.wrapper) >= set(changed.wrapper)
        and added <= set(_names(worked))
        and changed.folder in (failed.folder, worked.folder)
        and changed.prepared in (failed.prepared, worked.prepared)
    )


def _difference(failed: Run, changed: Run) -> str | None:
    """What made the difference, in words; None if it cannot be named."""
    if changed.outside and not failed.outside and SHUT_IN.search(failed.output):
        return "it works outside the sandbox, where the person allows it."
    if (flags := _named_flags(failed, changed)) is not None:
        return flags
    if any(flag in failed.output for flag in set(_flags(failed)) - set(_flags(changed))):
        return None  # it was left out since it is unknown: whoever made it up knows that
    if changed.prepared and changed.prepared != failed.prepared:
        return f"after `{changed.prepared}` it works."
    if changed.wrapper != failed.wrapper:
        return f"`{changed.shown_bare}` works."
    added = [each for each in changed.variables if each.partition("=")[0] not in _names(failed)]
    if added:
        names = [each.partition("=")[0] for each in added]
        is_around = any(VARIABLES.search(name) for name in names)
        if NO_SUCH.search(failed.error or "") and not any(map(FINDS.search, names)):
            return None  # no other variable brings what is missing
        shown = " ".join(map(shown_variable, added))
        return None if is_around or AROUND.search(" ".join(added)) else f"with `{shown}` it works."
    if folder := _folder_below(failed.folder, changed.folder):
        return f"it works in the folder `{folder}`."
    is_other = changed.shown_bare != failed.shown_bare
    return f"`{changed.shown_bare}` works." if is_other else None


def _named_flags(failed: Run, changed: Run) -> str | None:
    """A flag that the error speaks of, and that is new."""
    error = failed.output
    new = [word for word in changed.arguments if _flag(word) and _flag(word) not in _flags(failed)]
    new = [word for word in new if _flag(word) in error]
    if "timed out" in error:
        new += [flag for flag in changed.arguments if flag in UNATTENDED]
    if new and not AROUND.search(" ".join(new)):
        return f"with `{' '.join(map(_flag, new))}` it works."
    return None


def _folder_below(old: str | None, new: str | None) -> str | None:
    """The folder of the project that one went into; the way back to the project is none."""
    if new is None or new == old or clean(new) == "~":
        return None
    if old and new.startswith(f"{old.rstrip('/')}/"):
        new = new[len(old.rstrip("/")) + 1 :]
    elif OUTSIDE.match(new):
        return None
    return new if FOLDER.fullmatch(new) else None


def _flags(run: Run) -> tuple[str, ...]:
    return tuple(_flag(word) for word in run.arguments if _flag(word))


def _flag(word: str) -> str:
    return word.partition("=")[0] if word.startswith("--") and len(word) > 2 else ""


def _names(run: Run) -> list[str]:
    return [each.partition("=")[0] for each in run.variables]
