"""The commands that an agent ran: what was run, how, and whether it worked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import structs

from agentlearn.review.command_lines import Part, parts_of
from agentlearn.rewards.patterns import Patterns
from agentlearn.sessions.turns import Turn
from agentlearn.sessions.values import Call, pack

CHECKS = re.compile(
    r"\b(?:lint\w*|golangci-lint|eslint|ruff|flake8|pylint|mypy|pyright|tsc|fmt|format|prettier|"
    r"clippy|rubocop|stylelint|vet|pre-commit|biome|checkstyle|ktlint|swiftlint|typecheck)\b"
)
BUILDS = re.compile(r"\b(?:build|compile|install|bundle|package|release|generate|codegen|sync)\b")
SEEN_TO_FAIL = re.compile(f"{CHECKS.pattern}|{BUILDS.pattern}|\\b(?:check|commit|push)\\b")
SAYS_FAILED = re.compile(
    r"\bnpm (?:ERR!|error)|ELIFECYCLE|(?:exited with code|exit status|exit code:?) [1-9]"
    r"|\bfound [1-9]\d* errors?\b|✖ [1-9]\d* problems?|^[1-9]\d* (?:errors?|issues?)\b"
    r"|: error TS\d+|^make: \*\*\*|^error(?:\[E\d+\])?: |^error: script ",
    re.IGNORECASE | re.MULTILINE,
)
"""What a check or a build says at its end: in a pipe its exit code is lost."""
TAIL_CHARS = 3000
COMPLAINT = (
    r"\b(?:error|fatal|cannot|can't|could not|no such|not found|not a|invalid|fail\w*|unrecognized"
    r"|unknown|missing|denied|unable)\b"
)
OUTSIDE_SANDBOX = re.compile(
    r"\bsandbox_permissions[\"']?\s*[:=]\s*[\"']require_escalated\b"
    r"|\b(?:with_escalated_permissions|dangerouslyDisableSandbox)[\"']?\s*[:=]\s*true\b"
)
Topic = Literal["tests", "checks", "build", "commands"]
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

    @property
    def topic(self) -> Topic:
        said = " ".join((*self.core, *self.arguments[:2]))
        if self.is_test and not ("test" not in self.plain and CHECKS.search(self.plain)):
            return "tests"  # `ruff check` is none
        if CHECKS.search(said):
            return "checks"
        return "build" if BUILDS.search(self.plain) else "commands"


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
        seen = structs.replace(result, packed=pack(output))
        verdict = patterns.judge_tests(command, seen) if patterns.runs_tests(command) else None
        failed = result.failed or verdict == "tests_failed"
        if not failed and verdict is None and "|" in command:
            failed = _says_it_failed(parts[-1], output)
        passed = not failed and (verdict == "tests_passed" or result.status == "ok")
        blamed = [_to_blame(parts, output, verdict == "tests_failed")] if failed else parts
        for part in blamed:
            if part.asks or not (failed or part.counts):
                continue
            yield Run(
                **structs.asdict(part),
                failed=failed,
                passed=passed,
                output=output,
                call_line=first.line,
                result_line=result.line,
                turn=number,
                outside=OUTSIDE_SANDBOX.search(first.arguments[:ARGUMENT_CHARS]) is not None,
            )


def _says_it_failed(part: Part, output: str) -> bool:
    """Of a check or a build: its exit code is lost in a pipe."""
    is_seen = SEEN_TO_FAIL.search(part.plain) is not None
    return is_seen and SAYS_FAILED.search(output[-TAIL_CHARS:]) is not None


def _to_blame(parts: list[Part], output: str, tests_failed: bool) -> Part:
    """The one that the output names as failing; else the last, whose result the line's is."""
    heard = [part for part in parts if part.core[0] in output]
    for part in heard:
        name = re.escape(part.core[0])
        if re.search(rf"\b{name}: (?:command )?not found|not found: {name}\b", output):
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
