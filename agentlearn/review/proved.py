"""What a session proved: a command of the project failed, and something that can be named made
it work.

Three kinds. A changed variant worked: another wrapper, a variable, a flag that the error speaks
of. Nothing was edited in between, but another command ran (an install, a generator): it was
missing. A linter named its rule, and the same check passed later. What works around a safety
check is no lesson, and neither is an ordinary failing test that the agent then mended.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentlearn.guard import one_line
from agentlearn.review.lesson import Lesson
from agentlearn.review.linters import broken_rule
from agentlearn.review.runs import Run
from agentlearn.review.showing import clean, shown_variable
from agentlearn.sessions.turns import Turn

NEAR_TURNS, RIGHT_AFTER = 40, 6
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
TESTS_RAN = re.compile(
    r"--- FAIL|^FAILED |^not ok |\b[1-9]\d* (?:tests? )?fail(?:ed|ing|ures?)\b|[✗✕✘]",
    re.MULTILINE,
)
"""Where tests ran and failed, their words are about the code, not about how to run it."""
AROUND = re.compile(
    r"--no-verify|--no-gpg-sign|--force\b|--skip\S*|--ignore\S*|--break-system-packages|"
    r"--dangerously\S*|--insecure|--allow\S*|--no-check\S*|--legacy-peer-deps|HUSKY=0|SKIP=|"
    r"StrictHostKeyChecking|GIT_SSL_NO_VERIFY|NODE_TLS_REJECT_UNAUTHORIZED|--no-sandbox|\.lock\b|"
    r"-k\b|--quiet\b|-q\b|\|\| true"
)
ENVIRONMENT = re.compile(
    r"command not found|not found\b|no such file|does not match|not permitted|permission denied|"
    r"cannot find|could not find|no module named|modulenotfounderror|"
    r"unknown (?:flag|option|command)|unrecognized (?:arguments?|option)|not installed|"
    r"missing script|no rule to make target|"
    r"unsupported engine|requires? (?:node|python|go|java|ruby)|is not set|must be set|not set\b|"
    r"is required|connection refused|econnrefused|enoent|eacces|externally-managed|"
    r"no required module|not recognized|no workspaces? found|not a git repository|timed out|"
    r"specify --|^error\b.{0,80}\b(?:needs?|requires?|missing) --|"
    r"required (?:flag|option|argument)|"
    r"no tests? (?:ran|collected|found)|"
    r"toolchain|go\.mod|incompatible|mismatch|not a tty|no such (?:option|command|table|container)|"
    r"cannot connect|failed to connect|could not resolve|read-only file system|"
    r"network is unreachable|no network|bwrap:|out of date|"
    r"needs? to be (?:built|generated|installed)",
    re.IGNORECASE,
)
SHUT_IN = re.compile(
    r"\b(?:not permitted|permission denied|could not resolve|read-only file system|network"
    r"|connection refused|econnrefused|enotfound|eperm|eacces|bwrap)\b",
    re.IGNORECASE,
)
"""What a sandbox does to a program."""
NO_SUCH = re.compile(
    r"command not found|not found\s*$|missing script|no rule to make target|"
    r"no such (?:command|task)|unknown command|not recognized|couldn't find a script|"
    r"script not found|no module named",
    re.IGNORECASE,
)
UNATTENDED = ("--run", "--ci", "--watch=false", "--no-watch", "--yes", "--no-input", "--no-pager")
"""With these a program neither waits for a person nor for changes."""
ERROR_LINE = re.compile(
    r"error|fail|not found|no such|does not|not permitted|denied|cannot|can't|could not|missing|"
    r"unknown|unrecognized|requires?|must|refused|mismatch|unable|timed out|no rule to",
    re.IGNORECASE,
)
OUTSIDE = re.compile(r"[/~$.\\-]|[A-Za-z]:")
"""A folder that is no part of the project, or the way back to it: the agent had lost its way."""
DEMANDS = re.compile(
    r"(?:\bpanic|\b\w*(?:Error|Exception))\b.{0,120}?"
    r"(?:\b[Mm]ust (?:be|have|match|start|end|contain|not|only|begin)\b|\bhas to be\b"
    r"|\bshould be one of\b)"
)
"""An exception that says what a value has to be; a failing comparison does not."""
UNFORMATTED = re.compile(
    r"would (?:be )?reformat|not (?:properly )?formatted|formatter would have|code style issues|"
    r"formatting (?:issues?|errors?|differs)",
    re.IGNORECASE,
)
HOOKED = {("git", "commit"), ("git", "push")}
GENERAL = frozenset(
    ("git", "gh", "python", "node", "bash", "sh", "zsh", "ruby", "perl", "php", "open", "sqlite3")
)
"""Programs that every agent knows: what it tried with them tells nothing of the project."""
REMEDIES = re.compile(
    r"\b(?:install|sync|generate|codegen|build|migrate|up|tidy|setup|bootstrap|restore|fetch|pull|"
    r"download|vendor|prepare|init|compile|trust|fmt|format|start)\b"
)
BRINGS = re.compile(r"\b(?:install|ci|sync|generate|codegen|migrate|tidy|restore|fetch|download)\b")
MENDS = frozenset(("--fix", "--write"))
ERROR_CHARS = 140
VARIANT, REMEDY, NAMED = 8, 7, 7
"""What was proved comes before words that weigh just enough."""


def proved_lessons(runs: list[Run], turns: list[Turn]) -> Iterator[Lesson]:
    for number, run in enumerate(runs):
        if not run.failed:
            continue
        later = [item for item in runs[number + 1 :] if item.turn - run.turn <= NEAR_TURNS]
        lesson = (
            _variant(run, later)
            or _other_command(run, later, turns)
            or _remedy(run, later, turns)
            or _lint(run, later)
            or _demand(run, later)
        )
        if lesson is not None:
            yield lesson


def _variant(failed: Run, later: list[Run]) -> Lesson | None:
    """A variant of the command that did not fail the same way, and is part of one that worked."""
    error = error_line(failed.output)
    if error is None or not ENVIRONMENT.search(error) or _tells_nothing(failed):
        return None
    same = [run for run in later if run.core == failed.core]
    changed = next((run for run in same if _differs(failed, run)), None)
    if changed is None or (changed.failed and error_line(changed.output) == error):
        return None
    worked = next((run for run in same if run.passed and run.turn >= changed.turn), None)
    if worked is None or not _holds(worked, failed, changed):
        return None
    how = _difference(failed, changed)
    if how is None or AROUND.search(how):
        return None
    if changed.failed:  # it was one step on the way: what worked in the end is told
        how = f"`{worked.shown}` works."
    text = f"`{failed.shown}` fails here with “{error}”; {how}"
    return Lesson(text, _spans(failed, worked), failed.topic, strength=VARIANT)


def _other_command(failed: Run, later: list[Run], turns: list[Turn]) -> Lesson | None:
    """There is no such command here, and the same work was done by another right after."""
    error = error_line(failed.output)
    if error is None or not NO_SUCH.search(error) or failed.topic == "commands":
        return None
    near = [run for run in later if run.turn - failed.turn <= RIGHT_AFTER]
    worked = next((run for run in near if run.passed and run.topic == failed.topic), None)
    if worked is None or worked.core == failed.core or _edited(turns, failed.turn, worked.turn):
        return None
    if AROUND.search(worked.shown):
        return None
    text = f"`{failed.shown}` fails here with “{error}”; `{worked.shown}` works."
    return Lesson(text, _spans(failed, worked), failed.topic, strength=VARIANT)


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
    if changed.wrapper != failed.wrapper:
        return f"`{clean(' '.join((*changed.wrapper, *changed.core)))}` works."
    added = [each for each in changed.variables if each.partition("=")[0] not in _names(failed)]
    if added:
        return f"with `{' '.join(map(shown_variable, added))}` it works."
    if changed.folder != failed.folder and changed.folder and not OUTSIDE.match(changed.folder):
        return f"it works in the folder `{clean(changed.folder)}`."
    error = failed.output
    gone = [flag for flag in _flags(failed) if flag not in _flags(changed) and flag in error]
    new = [flag for flag in _flags(changed) if flag not in _flags(failed) and flag in error]
    if "timed out" in error:
        new += [flag for flag in changed.arguments if flag in UNATTENDED]
    if new:
        return f"with `{' '.join(new)}` it works."
    if gone:
        return f"without `{' '.join(gone)}` it works."
    if changed.program != failed.program:
        return f"`{clean(changed.program)}` works."
    return None


def _flags(run: Run) -> tuple[str, ...]:
    return tuple(word.partition("=")[0] for word in run.arguments if word.startswith("--"))


def _names(run: Run) -> list[str]:
    return [each.partition("=")[0] for each in run.variables]


def _remedy(failed: Run, later: list[Run], turns: list[Turn]) -> Lesson | None:
    """The same command worked after another one was run, and nothing was edited in between."""
    error = error_line(failed.output)
    if (
        error is None
        or _tells_nothing(failed)
        or not (ENVIRONMENT.search(error) or UNFORMATTED.search(error))
    ):
        return None
    worked = next((run for run in later if run.core == failed.core and not run.failed), None)
    if worked is None or not worked.passed or _edited(turns, failed.turn, worked.turn):
        return None
    between = [run for run in later if run.turn <= worked.turn and run.core != failed.core]
    remedies = [run for run in between if run.passed and _cures(run, run.turn == worked.turn)]
    if not remedies or AROUND.search(" ".join((*remedies[-1].core, *remedies[-1].arguments))):
        return None
    cure = remedies[-1]
    text = f"`{failed.shown}` fails here with “{error}” until `{cure.shown}` was run."
    return Lesson(text, _spans(failed, cure, worked), failed.topic, strength=REMEDY)


def _tells_nothing(failed: Run) -> bool:
    """A general program's failure, or a test's own, says nothing of how to run things here."""
    ran = failed.topic == "tests" and TESTS_RAN.search(failed.output) is not None
    return ran or failed.core[0] in GENERAL


def _cures(run: Run, beside: bool) -> bool:
    """`beside`: in one line with what worked, where one builds and cleans for many reasons."""
    if beside:
        return BRINGS.search(run.plain) is not None
    return REMEDIES.search(run.plain) is not None or not MENDS.isdisjoint(run.arguments)


def _edited(turns: list[Turn], start: int, end: int) -> bool:
    calls = (turn.call for turn in turns[start + 1 : end] if turn.call is not None)
    return any(
        EDITS.search(call.tool) or WRITES.search(call.arguments[:LONGEST_COMMAND]) for call in calls
    )


def _lint(failed: Run, later: list[Run]) -> Lesson | None:
    """A check named the rule that was broken, and passed when it was kept.

    A commit that a hook refused is a check too.
    """
    if failed.topic == "commands" and failed.core not in HOOKED:
        return None
    found = broken_rule(failed.plain, failed.output)
    worked = next((run for run in later if run.core == failed.core and run.passed), None)
    if found is None or worked is None:
        return None
    rule, said = found
    said = one_line(clean(said), ERROR_CHARS)
    text = f"`{failed.shown}` rejects code by the rule {rule}: “{said}”."
    return Lesson(text, _spans(failed, worked), "checks", strength=NAMED)


def _demand(failed: Run, later: list[Run]) -> Lesson | None:
    """The project's own code said what it wants of a value, and was content with another."""
    if failed.topic not in ("tests", "build"):
        return None
    worked = next((run for run in later if run.core == failed.core), None)
    if worked is None or not worked.passed:
        return None
    lines = (line.strip() for line in failed.output.splitlines())
    said = next((line for line in lines if DEMANDS.search(line) and 20 < len(line) < 200), None)
    if said is None:
        return None
    said = one_line(clean(said).partition(" [recovered")[0], ERROR_CHARS)
    text = f"The code under `{failed.shown}` demands: “{said}”."
    return Lesson(text, _spans(failed, worked), failed.topic, strength=NAMED)


def _spans(*runs: Run) -> tuple[tuple[int, int], ...]:
    lines = [line for run in runs for line in (run.call_line, run.result_line)]
    return tuple((line, line) for line in dict.fromkeys(lines))


def error_line(output: str) -> str | None:
    """The line that says what went wrong, short and without what is only true here."""
    lines = [line.strip() for line in output.splitlines()]
    wrong = [line for line in lines if ERROR_LINE.search(line) and len(line) > 12]
    telling = [line for line in wrong if ENVIRONMENT.search(line)]
    chosen = next(iter(telling or wrong), None)
    return None if chosen is None else one_line(clean(chosen), ERROR_CHARS)
