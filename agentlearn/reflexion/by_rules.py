"""Reflections without a model: what failed, the errors behind it, what was tried, one next step."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import msgspec

from agentlearn.guard import one_line
from agentlearn.guard.orders import has_order
from agentlearn.guard.secrets import redact
from agentlearn.reflexion.reflect import NOT_HELPED, Failure, Reflected, cut, steady
from agentlearn.sessions.values import Call, Result

ERROR = re.compile(
    r"\b(?:error|exception|traceback|fatal|fail(?:ed|ure)?|panic|denied|refused|cannot|can't"
    r"|unknown|unexpected|undefined|invalid|missing|not found|no such|unrecogni[sz]ed|must"
    r"|required|expected|usage|hint)\b|\b[A-Z]\w*(?:Error|Exception)\b|^E\d+\b|^E  ",
    re.IGNORECASE,
)
HINTS = re.compile(r"\b(?:hint|use|try|did you mean|must|required|expected|needs?|first)\b", re.I)
ASSERTED = re.compile(r"E\s{2,}(?=\S)")
"""How pytest marks what stands behind a failure."""
COMPILER = re.compile(r"\S+:\d+(?::\d+)?: (?:fatal )?error\b|error\[\w+\]")
RAISED = re.compile(r"[\w.]*[A-Z]\w*(?:Error|Exception|Exit|Interrupt)\b(?::|$)")
NAMED = re.compile(
    r"(?:FAILED|ERROR) \S+(?:::\S|\.py\b)|--- FAIL: \w|test \S+ \.\.\. FAILED"
    r"|(?:FAIL|ERROR): \w+ \("
)
MARKED = re.compile(f"{ASSERTED.pattern}|{NAMED.pattern}")
CLOSING = re.compile(
    r"=*\s*\d+ \w+(?:, \d+ \w+)* in [\d.]+s.*|FAILED \(.*=\d+\)|Tests?(?: Suites)?: +\d.*"
    r"|Ran \d+ tests?.*|test result: .*|FAIL(?:ED)?|ERROR|FAIL\s\S+\s+[\d.]+s|=+ .* =+|!+ .* !+"
    r"|make(?:\[\d+\])?: \*\*\* .*|Traceback \(most recent call last\):|failures:"
    r"|error: (?:test failed, to rerun|could not compile|aborting due to).*|(?:BUILD|TESTS?) FAILED"
    r"|npm (?:ERR!|error) .*|.*\bexit(?:ed)?(?: with)?(?: status| code)+:? \d+\W*",
    re.IGNORECASE,
)
"""Lines that tell that something failed, and not what."""
NUMBER = re.compile(r"^\s*\d+\. ")
MOST_ERRORS, ERROR_CHARS, COMMAND_CHARS, MOST_FILES = 3, 200, 100, 5
RAW_ERRORS = 2
SEARCHED_CHARS = 1000
"""Of a line: one that is longer is no message."""


class ByRules:
    def reflect(self, failure: Failure) -> Reflected:
        attempt = failure.attempt
        errors = list(dict.fromkeys(_errors(failure)))[-MOST_ERRORS:]
        parts = [_what_failed(failure)]
        parts += [f"`{command}` said “{line}”." for command, line in errors]
        parts += [f"The judge said “{line}”." for line in _judge_errors(failure.told.raw)]
        parts += _what_was_changed(failure)
        parts += _what_was_tried(failure, errors)
        parts.append(_next_step(failure, errors))
        if attempt.problem:
            parts.insert(1, f"({one_line(attempt.problem, 200)})")
        return Reflected(cut(redact(" ".join(filter(None, parts)))))


def _what_failed(failure: Failure) -> str:
    evaluation = failure.attempt.evaluation
    if failure.attempt.timed_out:
        return "The attempt ran out of time before it was done. " + failure.told.sentence()
    if evaluation.timed_out:
        return "The judge ran out of time on what the attempt left."
    return failure.told.sentence() or "The judge did not pass it."


def _errors(failure: Failure) -> Iterator[tuple[str, str]]:
    """Each command of the agent that failed, and the line that tells why."""
    calls = {entry.id: entry for entry in failure.session.entries if isinstance(entry, Call)}
    for entry in failure.session.entries:
        call = calls.get(entry.call_id) if isinstance(entry, Result) else None
        if call is None or not isinstance(entry, Result):
            continue
        line = error_line(_without_prompt(entry.text, failure))
        # What an agent prints that left no transcript is searched whatever its exit code was.
        is_failure = entry.failed or entry.status == "interrupted"
        is_failure = is_failure or (call.tool == "agent" and bool(ERROR.search(line)))
        if is_failure and line and not has_order(line):
            yield one_line(_command(call), COMMAND_CHARS), line


def _without_prompt(text: str, failure: Failure) -> str:
    """What an agent printed, but for what it only repeats of what it was told."""
    known = " ".join([failure.prompt, *failure.reflections])
    kept = (line for line in text.splitlines() if NUMBER.sub("", line).strip() not in known)
    return "\n".join(kept)


def _command(call: Call) -> str:
    try:
        given = msgspec.json.decode(call.arguments)
        command = given.get("command") or given.get("cmd")
    except (msgspec.MsgspecError, AttributeError, RecursionError):
        command = None
    if isinstance(command, list):
        command = " ".join(map(str, command))
    return (command if isinstance(command, str) else call.text).replace("`", "'")


def error_line(text: str) -> str:
    """The line that tells most."""
    return next(iter(error_lines(text)), "")


def error_lines(text: str) -> list[str]:
    """The lines of an output, those nearest to the cause of its failure first.

    What a test program or a compiler marks as the error, the first before those that follow from
    it; else the last line that tells of an error and of a way, or of an error.
    """
    lines = [line.strip()[:SEARCHED_CHARS] for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if not CLOSING.fullmatch(line)] or lines
    last = max((at for at, line in enumerate(lines) if MARKED.match(line)), default=len(lines))
    after = set(lines[last + 1 :])
    telling = [line for line in reversed(lines) if ERROR.search(line)]
    helping = [line for line in telling if HINTS.search(line) and not MARKED.match(line)]
    ranked = [
        *(line for line in helping if line in after),
        *(line for before, line in pairwise(["", *lines]) if _is_first_asserted(before, line)),
        *filter(COMPILER.match, lines),
        *helping,
        *filter(RAISED.match, telling),
        *filter(NAMED.match, lines),
        *telling,
        *reversed(lines),
    ]
    return list(dict.fromkeys(map(_shown, ranked)))


def _is_first_asserted(before: str, line: str) -> bool:
    """The first line that pytest marks tells what was raised; those below it say more of that."""
    return bool(ASSERTED.match(line)) and not ASSERTED.match(before)


def _shown(line: str) -> str:
    return one_line(ASSERTED.sub("", line, 1), ERROR_CHARS).replace("“", '"').replace("”", '"')


def _judge_errors(raw: str) -> list[str]:
    """Only where the task lets all of the judge's words through."""
    lines = [line for line in error_lines(raw) if ERROR.search(line) or line.startswith("assert")]
    return [line for line in lines if not has_order(line)][:RAW_ERRORS]


def _what_was_changed(failure: Failure) -> list[str]:
    attempt = failure.attempt
    parts = []
    if attempt.changed:
        parts.append(f"The attempt changed {_files(attempt.changed)}.")
    else:
        parts.append("The attempt changed no file.")
    if attempt.tampered:
        parts.append(f"Its changes to {_files(attempt.tampered)} were put back: they do not count.")
    return parts


def _what_was_tried(failure: Failure, errors: list[tuple[str, str]]) -> list[str]:
    if not failure.earlier:
        return []
    tried = list(dict.fromkeys(_files(each.changed) for each in failure.earlier if each.changed))
    parts = [f"Earlier attempts had changed {'; '.join(tried[-3:])}."] if tried else []
    is_told = failure.told.level != "none"
    rewards = failure.attempt.evaluation.reward, failure.earlier[-1].evaluation.reward
    is_better = is_told and rewards[0] > rewards[1]
    is_another = bool(errors) and steady(errors[-1][1]) not in steady(" ".join(failure.reflections))
    if failure.reflections and not is_better and not is_another:
        parts.append(NOT_HELPED)
    return parts


def _next_step(failure: Failure, errors: list[tuple[str, str]]) -> str:
    """The one thing to do otherwise."""
    attempt = failure.attempt
    if errors:
        line = errors[-1][1]
        how = f"do what “{line}” asks for" if HINTS.search(line) else f"deal with “{line}”"
        return f"Next time, {how} before anything else."
    if attempt.tampered:
        return "Next time, change the code under test and leave the judge's files as they are."
    if attempt.timed_out:
        return "Next time, do the smallest part that can pass first."
    if not attempt.changed:
        return "Next time, make a change: nothing was done that could pass."
    if failure.told.names:
        first = failure.told.names[0]
        return f"Next time, start from {first} and change what it checks in another way."
    return f"Next time, try another way than the one in {_files(attempt.changed)}."


def _files(paths: tuple[str, ...]) -> str:
    more = len(paths) - MOST_FILES
    shown = ", ".join(f"`{one_line(path, 80)}`" for path in paths[:MOST_FILES])
    return f"{shown} and {more} more" if more > 0 else shown
