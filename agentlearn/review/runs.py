"""The commands that an agent ran: what was run, how, and whether it worked."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import structs

from agentlearn.review.command_lines import BUILDS, CHECKS, Part, parts_of
from agentlearn.review.linters import broken_rule
from agentlearn.rewards.patterns import Patterns
from agentlearn.sessions.turns import Turn
from agentlearn.sessions.values import Call, pack

SEEN_TO_FAIL = re.compile(f"{CHECKS.pattern}|{BUILDS.pattern}|\\b(?:check|commit|push)\\b")
SAYS_FAILED = re.compile(
    r"\bnpm (?:ERR!|error)|ELIFECYCLE|(?:exited with code|exit status|exit code:?) [1-9]"
    r"|\bfound [1-9]\d* errors?\b|✖ [1-9]\d* problems?\b(?! \(0 errors)"
    r"|^[1-9]\d* (?:errors?|issues?)\b|: error TS\d+|^make: \*\*\*|^error(?:\[E\d+\])?: ",
    re.IGNORECASE | re.MULTILINE,
)
"""What a check or a build says at its end: in a pipe its exit code is lost."""
TAIL_CHARS = 3000
GIVES_UP = re.compile(
    r"(?:error|fatal|usage error): |(?:error: )?(?:unknown|unrecognized|unexpected|invalid) "
    r"(?:command|sub-?command|flag|option|argument|choice)\b",
    re.IGNORECASE,
)
"""What a program says first where it does nothing else."""
NOT_THERE = re.compile(r"not found|failed to spawn|no module named", re.IGNORECASE)
NOT_FOUND = (
    r"\b(?:{names}): (?:command )?not found\s*$|\bnot found: (?:{names})\s*$"
    r"|[Ff]ailed to spawn: [`'\"](?:{names})[`'\"]|\bNo module named '?(?:{names})'?\s*$"
)
COMPLAINT = (
    r"\b(?:error|fatal|cannot|can't|could not|no such|not found|not a|invalid|fail\w*|unrecognized"
    r"|unknown|missing|denied|unable)\b"
)
OUTSIDE_SANDBOX = re.compile(
    r"\bsandbox_permissions[\"']?\s*[:=]\s*[\"']require_escalated\b"
    r"|\b(?:with_escalated_permissions|dangerouslyDisableSandbox)[\"']?\s*[:=]\s*true\b"
)
NEVER_RUN = re.compile(
    r"<tool_use_error>|Permission (?:for|to) (?:this|use)\b"
    r"|Command (?:is )?running in (?:the )?background"
)
"""What an agent's own program says: the command was not run, or has not ended."""
PATIENCE = re.compile(r"\"timeout(?:_ms|_seconds)?\"\s*:\s*(\d{1,9})\b")
WELL = re.compile(
    r"\bbuild (?:complete|succeeded|successful|finished)|\bcompiled successfully|\bbuilt in \d"
    r"|\b(?:all checks|everything) passed|\bfound 0 errors|^0 issues|\bno issues found",
    re.IGNORECASE | re.MULTILINE,
)
"""What a check or a build says when all is well."""
JSON_OUTPUT = re.compile(r'"output"\s*:\s*"((?:\\.|[^"\\])*)"')
ARGUMENT_CHARS = 4000


class Run(Part, frozen=True, kw_only=True):
    """A command that was run, and what came of it."""

    failed: bool
    passed: bool
    output: str
    call_line: int
    result_line: int
    turn: int
    outside: bool = False
    """The agent asked for it to be run outside its sandbox."""
    patience: int = 0
    """How long the agent was ready to wait, if it said so, in its tool's unit."""


def runs_of(turns: list[Turn], patterns: Patterns) -> Iterator[Run]:
    """The commands in order. Of several in one call that failed, the one to blame; of several in
    one that worked, the last and those that had to work before it."""
    began: dict[str, Call] = {}
    goes_on = {turn.call.continues for turn in turns if turn.call is not None}
    for number, turn in enumerate(turns):
        call, result = turn.call, turn.result
        if call is None or result is None or turn.undone:
            continue
        first = began.get(call.continues or "", call)
        began[call.id] = first
        if call.id in goes_on or result.status in ("rejected", "interrupted"):
            continue
        command = patterns.command_of(first) or ""
        parts = parts_of(command)
        if not parts:
            continue
        output = printed(result.text)
        if NEVER_RUN.match(output):
            continue
        seen = structs.replace(result, packed=pack(output))
        verdict = patterns.judge_tests(command, seen) if patterns.runs_tests(command) else None
        is_fine = result.status == "ok" or verdict == "tests_passed"
        for part, worked in _judged(parts, output, result.failed, verdict, is_fine):
            if part.asks:
                continue
            yield Run(
                **structs.asdict(part),
                failed=worked is False,
                passed=worked is True,
                output=output,
                call_line=first.line,
                result_line=result.line,
                turn=number,
                outside=OUTSIDE_SANDBOX.search(first.arguments[:ARGUMENT_CHARS]) is not None,
                patience=_patience(first.arguments[:ARGUMENT_CHARS]),
            )


def lines_of(*runs: Run) -> tuple[tuple[int, int], ...]:
    """The lines of a session that a lesson from these rests on."""
    lines = [line for run in runs for line in (run.call_line, run.result_line)]
    return tuple((line, line) for line in dict.fromkeys(lines))


def _patience(arguments: str) -> int:
    found = PATIENCE.search(arguments)
    return int(found[1]) if found else 0


def _judged(
    parts: list[Part], output: str, is_error: bool, verdict: str | None, is_fine: bool
) -> Iterator[tuple[Part, bool | None]]:
    """Whether the commands of a line worked; None where nobody can tell."""
    if told := [(part, code) for part, code in _codes(parts, output) if code is not None]:
        yield from ((part, code == 0) for part, code in told)
    elif is_error or verdict == "tests_failed":
        if not parts[-1].is_muddled:
            yield _to_blame(parts, output, verdict == "tests_failed"), False
    elif (failed := _says_it_failed(parts, output, verdict)) is not None:
        yield failed, False
    else:
        says_so = len(parts) == 1 and _says_it_worked(parts[0], output, verdict)
        for part in parts:
            yield part, True if is_fine and (part.counts or says_so) else None


def _codes(parts: list[Part], output: str) -> Iterator[tuple[Part, int | None]]:
    """The exit codes that the line itself printed."""
    for label in dict.fromkeys(part.code_after for part in parts if part.code_after):
        asked = [part for part in parts if part.code_after == label]
        found = re.findall(rf"{re.escape(label)}(\d{{1,3}})\b", output)
        if len(found) == len(asked):
            yield from zip(asked, map(int, found), strict=True)


def _says_it_failed(parts: list[Part], output: str, verdict: str | None) -> Part | None:
    """The exit code is lost in a pipe, or before a `;`, but the words are not."""
    if parts[-1].is_muddled:
        return None
    missing = next((part for part in parts if is_missing(part, output)), None)
    if missing is not None or verdict is not None or not parts[-1].is_piped:
        return missing
    last = parts[-1]
    if SEEN_TO_FAIL.search(last.plain) and SAYS_FAILED.search(output[-TAIL_CHARS:]):
        return last
    is_mere_warning = "warning" in output  # which fails nothing
    if last.topic == "checks" and not is_mere_warning and broken_rule(last.plain, output):
        return last
    return last if len(parts) == 1 and GIVES_UP.match(output.strip()) else None


def _says_it_worked(part: Part, output: str, verdict: str | None) -> bool:
    if part.is_muddled:
        return False
    is_seen = SEEN_TO_FAIL.search(part.plain) is not None and WELL.search(output) is not None
    return is_seen or verdict == "tests_passed"


def is_missing(part: Part, output: str) -> bool:
    """The shell, or what should have run it, says that there is no such program."""
    if not NOT_THERE.search(output):
        return False
    names = "|".join(map(re.escape, {part.core[0], part.program, *part.wrapper[:1]}))
    return bool(re.search(NOT_FOUND.format(names=names), output, re.MULTILINE))


def _to_blame(parts: list[Part], output: str, tests_failed: bool) -> Part:
    """The one that the output names as failing; else the last, whose result the line's is."""
    heard = [part for part in parts if part.core[0] in output]
    for part in heard:
        if is_missing(part, output):
            return part
    named = [part for part in heard if _complains(part.core[0], output)]
    tests = [part for part in parts if tests_failed and part.is_test]
    return (named or tests or parts)[-1]


def _complains(name: str, output: str) -> bool:
    """A line that begins with a program's name may also tell how far it is."""
    if name == "npm" and re.search(r"^npm (?:ERR!|error) ", output, re.MULTILINE):
        return True
    complaint = rf"^(?:[\w./-]*/)?{re.escape(name)}: (?:\*\*\*|.{{0,80}}?{COMPLAINT})"
    return re.search(complaint, output, re.MULTILINE | re.IGNORECASE) is not None


def printed(text: str) -> str:
    """What a command printed, also where it stands as JSON inside the result."""
    found = JSON_OUTPUT.findall(text)
    if not found:
        return text
    said = "\n".join(found)
    return said.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"')
