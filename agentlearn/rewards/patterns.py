"""The regular expressions of the rules, compiled, and what they tell of a command or of words."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from agentlearn.errors import BadInput
from agentlearn.rewards.rules import Rules
from agentlearn.sessions.values import Call, Result

COMMAND_CHARS = 4000
OUTPUT_CHARS = 3000
COMMAND_KEYS = ("command", "cmd", "script", "code", "input")
AT_COMMAND = (
    r"(?:^|[;&|(\n]|\b(?:then|do)\s)\s*(?:\w+=\S*\s+)*"
    r"(?:(?:uv\s+run|poetry\s+run|pdm\s+run|hatch\s+run|pipenv\s+run|npx|bunx|pnpm\s+exec|sudo|time"
    r"|env|nice|xvfb-run|timeout\s+\S+|(?:\S*/)?python[\d.]*(?:\s+-\w+)*?(?:\s+-m)?"
    r"|(?:ba|z)?sh\s+-\w*c)\s+(?:-\S+\s+)*(?:\w+=\S*\s+)*[\"']?)*(?:\./|\S*/)?"
)
"""Where a program's name may stand: a word that is only mentioned is no command."""


class Patterns:
    def __init__(self, rules: Rules) -> None:
        commands, words = rules.commands, rules.words
        self.max_chars = words.max_chars
        self.correction = _any(words.correction, flags=re.IGNORECASE | re.DOTALL)
        self.thanks = _any(words.thanks, flags=re.IGNORECASE | re.DOTALL)
        self.shell_tools = _compiled(commands.shell_tools)
        self.tests = _any(commands.tests, before=AT_COMMAND)
        self.tests_failed = _any(commands.tests_failed)
        self.tests_passed = _any(commands.tests_passed)
        self.searches = _any(commands.searches, before=AT_COMMAND)
        self.malformed = _any(commands.malformed)

    def judge_words(self, text: str) -> Literal["correction", "thanks"] | None:
        """What a person's next words say of the turn before them; mostly nothing."""
        text = text.strip()
        if len(text) > self.max_chars:
            return None
        text = text.replace("’", "'")
        if self.correction.search(text):
            return "correction"
        return "thanks" if self.thanks.search(text) else None

    def judge_call(self, call: Call, result: Result) -> str | None:
        """The name of the shaped rule that a call earns, if any."""
        if result.status in ("rejected", "interrupted"):
            return None
        command = self.command_of(call)
        if command and self.tests.search(command):
            verdict = self.judge_tests(command, result)
            if verdict:
                return verdict
        if not result.failed:
            return None
        if result.status == "error" and self.malformed.search(result.text[:OUTPUT_CHARS]):
            return "malformed_call"
        if result.exit_code == 1 and command and self.searches.search(command):
            return None
        return "failed_call"

    def judge_tests(self, command: str, result: Result) -> str | None:
        """Whether tests passed or failed. A pipe hides the exit code: then only words count."""
        text = result.text
        tail = text[-OUTPUT_CHARS:]
        if result.failed or self.tests_failed.search(tail):
            return "tests_failed"
        if self.tests_passed.search(tail):
            return "tests_passed"
        plain = "|" not in command and ";" not in command
        return "tests_passed" if result.exit_code == 0 and plain else None

    def command_of(self, call: Call) -> str:
        """The shell command of a call; empty if it is none. A native action is taken as one."""
        if not call.tool:
            return call.arguments[:COMMAND_CHARS]
        if not self.shell_tools.search(call.tool):
            return ""
        text = call.arguments[: 2 * COMMAND_CHARS]
        if not text.startswith("{"):
            return text[:COMMAND_CHARS]
        try:
            value = msgspec.json.decode(text if len(text) < 2 * COMMAND_CHARS else call.arguments)
        except (msgspec.MsgspecError, RecursionError):
            return ""
        for key in COMMAND_KEYS:
            found = value.get(key)
            if isinstance(found, str):
                return found[:COMMAND_CHARS]
            if isinstance(found, list):
                return " ".join(map(str, found))[:COMMAND_CHARS]
        return ""


def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        raise BadInput(f"{pattern!r} is not a regular expression: {error}") from None


def _any(patterns: tuple[str, ...], flags: int = 0, before: str = "") -> re.Pattern[str]:
    """One expression for all; each is compiled alone first, so that an error names it."""
    inline = [_inline(pattern) for pattern in patterns]
    for pattern in inline:
        _compiled(pattern, flags)
    return _compiled(before + "(?:" + "|".join(inline or ["(?!)"]) + ")", flags | re.MULTILINE)


def _inline(pattern: str) -> str:
    """Global flags at the start become local, so that patterns can be joined."""
    found = re.match(r"\(\?([a-zA-Z]+)\)", pattern)
    if not found:
        return f"(?:{pattern})"
    return f"(?{found[1]}:{pattern[found.end() :]})"
