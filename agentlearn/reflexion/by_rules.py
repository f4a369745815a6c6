"""Reflections without a model: what failed, the errors behind it, what was tried, one next step."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from agentlearn.guard import one_line
from agentlearn.guard.orders import has_order
from agentlearn.guard.secrets import redact
from agentlearn.reflexion.reflect import Failure, Reflected, cut
from agentlearn.sessions.values import Call, Result

ERROR = re.compile(
    r"\b(?:error|exception|traceback|fatal|fail(?:ed|ure)?|panic|denied|refused|cannot|can't"
    r"|unknown|unexpected|undefined|invalid|missing|not found|no such|unrecogni[sz]ed|must"
    r"|required|expected|usage|hint)\b|\b[A-Z]\w*(?:Error|Exception)\b|^E\d+\b|^E  ",
    re.IGNORECASE,
)
HINTS = re.compile(r"\b(?:hint|use|try|did you mean|must|required|expected|needs?|first)\b", re.I)
MOST_ERRORS, ERROR_CHARS, COMMAND_CHARS, MOST_FILES = 3, 200, 100, 5
RAW_ERRORS = 2


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
        line = error_line(entry.text)
        # What an agent prints that left no transcript is searched whatever its exit code was.
        is_failure = entry.failed or entry.status == "interrupted"
        is_failure = is_failure or (call.tool == "agent" and bool(ERROR.search(line)))
        if is_failure and line and not has_order(line):
            yield one_line(_command(call), COMMAND_CHARS), line


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
    """The line that tells most: the last that tells of an error and of a way, or of an error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if ERROR.search(line)]
    helping = [line for line in telling if HINTS.search(line)]
    best = (helping or telling or lines or [""])[-1]
    return one_line(best, ERROR_CHARS).replace("“", '"').replace("”", '"')


def _judge_errors(raw: str) -> list[str]:
    """Only where the task lets all of the judge's words through."""
    lines = [line.strip() for line in raw.splitlines() if ERROR.search(line)]
    found = dict.fromkeys(one_line(line, ERROR_CHARS) for line in lines if not has_order(line))
    return list(found)[-RAW_ERRORS:]


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
    is_better = failure.attempt.evaluation.reward > failure.earlier[-1].evaluation.reward
    is_another = bool(errors) and errors[-1][1] not in " ".join(failure.reflections)
    if failure.reflections and not is_better and not is_another:
        parts.append("What the last reflection said has not helped.")
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
    shown = ", ".join(one_line(path, 80) for path in paths[:MOST_FILES])
    return f"{shown} and {more} more" if more > 0 else shown
