"""The commands that an agent ran: what was run, how, and whether it worked.

A pipe and a `;` hide exit codes, and agents pipe nearly everything. So there are three answers:
it worked, it failed, and nobody knows. A lesson is drawn from the first two alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import structs

from agentlearn.review.command_lines import BUILDS, CHECKS, Part, parts_of
from agentlearn.review.complaints import SHELLS_OWN, TESTS_RAN, error_line
from agentlearn.review.linters import broken_rule
from agentlearn.rewards.patterns import Patterns
from agentlearn.sessions.turns import Turn
from agentlearn.sessions.values import Call, Result, pack

SEEN_TO_FAIL = re.compile(f"{CHECKS.pattern}|{BUILDS.pattern}|\\b(?:check|commit|push)\\b")
SAYS_FAILED = re.compile(
    r"\bnpm (?:ERR!|error)|ELIFECYCLE|(?:exited with code|exit status|exit code:?) [1-9]"
    r"|\bfound [1-9]\d* errors?\b|✖ [1-9]\d* problems?\b(?! \(0 errors)"
    r"|^[1-9]\d* (?:errors?|issues?)\b|: error TS\d+|^make: \*\*\*|^error(?:\[E\d+\])?: "
    r"|\bbuild failed\b|^FAILURE: |^Execution failed|^Traceback \(most|^Segmentation fault"
    r"|^│ Error: |returned [1-9] exit status|^(?:sh|bash|zsh): .*: (?:command )?not found\s*$",
    re.IGNORECASE | re.MULTILINE,
)
"""What a check or a build says at its end."""
WELL = re.compile(
    r"\bbuild (?:complete|succe|finished)|\bcompiled successfully|\bbuilt in \d|^ *Finished `?\w"
    r"|\b(?:all checks|everything) passed|\bfound 0 errors|^0 (?:issues|errors|problems)"
    r"|\bno issues found|\bsuccessfully \w+ed\b|^added \d+ packages|^Done in \d|\bno fixes applied"
    r"|\b0 fail(?:ed|ures)\b",
    re.IGNORECASE | re.MULTILINE,
)
"""What it says there when all is well."""
TAIL_CHARS, HEAD_CHARS = 3000, 400
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
NO_SUCH_FILE = re.compile(
    r"^\S{0,40}\b(?:bash|zsh|sh)\b(?:: line \d+)?: (\S+): No such file or directory", re.MULTILINE
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
    r"<tool_use_error>|^Permission (?:for|to) (?:this|use)\b|requested permissions? to use"
    r"|\bhook error\b|^Hook \w|Refusing to run|running in (?:the )?background"
    r"|started (?:a )?background|Process running with session ID",
    re.IGNORECASE,
)
"""What an agent's own program says: the command was not run, or has not ended."""
PATIENCE = re.compile(r"\"timeout(_ms|_seconds)?\"\s*:\s*(\d{1,9})\b")
LEAST_MS = 5000
"""A smaller number is of seconds, where the tool does not say."""
GENERAL = frozenset(
    ("git", "gh", "python", "node", "bash", "sh", "zsh", "ruby", "perl", "php", "open", "sqlite3")
)
"""Programs that every agent knows: what it tried with them tells nothing of the project."""
JSON_OUTPUT = re.compile(r'"output"\s*:\s*"((?:\\.|[^"\\])*)"')
ARGUMENT_CHARS = 4000


class Run(Part, frozen=True, kw_only=True):
    """A command that was run, and what came of it."""

    failed: bool
    passed: bool
    """Neither of them: nobody knows."""
    output: str
    error: str | None
    """Of one that failed: the line that says why."""
    call_line: int
    result_line: int
    turn: int
    outside: bool = False
    """The agent asked for it to be run outside its sandbox."""
    patience_ms: int = 0
    """How long the agent was ready to wait, if it said so."""

    @property
    def tells_nothing(self) -> bool:
        """A general program's failure, or a test's own, says nothing of how to run things here."""
        ran = self.topic == "tests" and TESTS_RAN.search(self.output) is not None
        return ran or self.core[0] in GENERAL


def runs_of(turns: list[Turn], patterns: Patterns) -> Iterator[Run]:
    """The commands in order. Of several in one call that failed, the one to blame."""
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
        parts = [part for part in parts_of(patterns.whole_command_of(first)) if not part.asks]
        output = printed(result.text) if parts else ""
        if not parts or NEVER_RUN.search(output[:HEAD_CHARS]):
            continue
        arguments = first.arguments[:ARGUMENT_CHARS]
        for part, worked in _judged(
            parts, output, result, _verdict(patterns, first, result, output)
        ):
            yield Run(
                **structs.asdict(part),
                failed=worked is False,
                passed=worked is True,
                output=output,
                error=error_line(output) if worked is False else None,
                call_line=first.line,
                result_line=result.line,
                turn=number,
                outside=OUTSIDE_SANDBOX.search(arguments) is not None,
                patience_ms=_patience(arguments),
            )


def lines_of(*runs: Run) -> tuple[tuple[int, int], ...]:
    """The lines of a session that a lesson from these rests on."""
    lines = [line for run in runs for line in (run.call_line, run.result_line)]
    return tuple((line, line) for line in dict.fromkeys(lines))


def _verdict(patterns: Patterns, call: Call, result: Result, output: str) -> str | None:
    command = patterns.command_of(call)
    if not patterns.runs_tests(command):
        return None
    return patterns.judge_tests(command, structs.replace(result, packed=pack(output)))


def _patience(arguments: str) -> int:
    found = PATIENCE.search(arguments)
    if found is None:
        return 0
    unit, number = found[1], int(found[2])
    is_seconds = unit == "_seconds" or (unit is None and number < LEAST_MS)
    return number * 1000 if is_seconds else number


def _judged(
    parts: list[Part], output: str, result: Result, verdict: str | None
) -> Iterator[tuple[Part, bool | None]]:
    """Whether the commands of a line worked; None where nobody can tell."""
    awaited = [part for part in parts if not part.in_background]
    if told := list(_codes(awaited, output)):
        yield from ((part, code == 0) for part, code in told)
    elif result.failed or verdict == "tests_failed":
        blamed = _to_blame(awaited, output, verdict == "tests_failed")
        if blamed is not None:
            yield blamed, False
    elif (failed := _says_it_failed(awaited, output, verdict)) is not None:
        yield failed, False
    else:
        is_fine = result.status == "ok" or verdict == "tests_passed"
        says_so = len(parts) == 1 and _says_it_worked(parts[0], output, verdict)
        for part in awaited:
            yield part, True if is_fine and (part.counts or says_so) else None


def _codes(parts: list[Part], output: str) -> Iterator[tuple[Part, int]]:
    """The exit codes that the line itself printed."""
    for label in dict.fromkeys(part.code_after for part in parts if part.code_after):
        asked = [part for part in parts if part.code_after == label]
        found = re.findall(rf"{re.escape(label)}(\d{{1,3}})\b", output)
        if len(found) == len(asked):
            yield from zip(asked, map(int, found), strict=True)


def _says_it_failed(parts: list[Part], output: str, verdict: str | None) -> Part | None:
    """The exit code is lost in a pipe, or before a `;`, but the words are not."""
    if not parts or parts[-1].is_muddled or verdict == "tests_passed":
        return None
    hidden = [part for part in parts if not part.counts]
    missing = next((part for part in hidden if is_missing(part, output)), None)
    last = parts[-1]
    if missing is not None or verdict is not None or not last.is_piped:
        return missing
    if SEEN_TO_FAIL.search(last.plain) and SAYS_FAILED.search(output[-TAIL_CHARS:]):
        return last
    is_mere_warning = "warning" in output  # which fails nothing
    if last.topic == "checks" and not is_mere_warning and broken_rule(last.plain, output):
        return last
    return last if len(parts) == 1 and GIVES_UP.match(output.strip()) else None


def _says_it_worked(part: Part, output: str, verdict: str | None) -> bool:
    if part.is_muddled or SAYS_FAILED.search(output[-TAIL_CHARS:]):
        return False
    is_seen = SEEN_TO_FAIL.search(part.plain) is not None and WELL.search(output) is not None
    return is_seen or (verdict == "tests_passed" and part.is_test)


def is_missing(part: Part, output: str) -> bool:
    """The shell, or what should have run it, says that there is no such program."""
    if not NOT_THERE.search(output):
        return False
    names = "|".join(map(re.escape, {part.core[0], part.program, *part.wrapper[:1]}))
    return bool(re.search(NOT_FOUND.format(names=names), output, re.MULTILINE))


def _to_blame(parts: list[Part], output: str, tests_failed: bool) -> Part | None:
    """The one that the output names as failing; else the last, whose result the line's is."""
    if not parts or parts[-1].is_muddled:
        return None
    heard = [part for part in parts if part.core[0] in output or part.program in output]
    for part in heard:
        if is_missing(part, output):
            return part
    named = [part for part in heard if _complains(part.core[0], output)]
    ran = tests_failed and TESTS_RAN.search(output) is not None
    tests = [part for part in parts if ran and part.is_test]
    if not (named or tests) and _is_shells_own(parts, output):
        return None
    return (named or tests or parts)[-1]


def _is_shells_own(parts: list[Part], output: str) -> bool:
    """A `cd`, an `ls` or a redirection in the line failed, not a command of the project."""
    known = {part.program for part in parts}
    return SHELLS_OWN.search(output) is not None or any(
        path not in known for path in NO_SUCH_FILE.findall(output)
    )


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
