"""The regular expressions of the rules, compiled, and what they tell of a command or of words."""

from __future__ import annotations

import re
from typing import Literal

import msgspec

from agentlearn.errors import BadInput
from agentlearn.rewards.rules import CommandRules, Rules
from agentlearn.sessions.values import Call, Result

COMMAND_CHARS = 1200
"""A longer command is judged by its two ends: what stands between is mostly a file's text."""
OUTPUT_CHARS = 3000
MENTIONS = ("test", "tox", "nox", "jest", "mocha", "rspec", "phpunit", "bats", "check")
"""Every default pattern for tests needs one of these words, which are quicker to look for."""
FAILURES = ("fail", "FAIL", "rror", "ERROR")
"""The same for what tests that failed print."""
IN_CODE = re.compile(r"""cmd(?<!\wcmd)["']?\s*:\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1""", re.DOTALL)
"""It begins with a literal, which is looked for fast; that it is a whole word is seen after it."""
NO_RUN = re.compile(r"\s(?:--version|--help|--collect-only|--co|--list\S*|--dry-run)(?:\s|$)")
"""Options with which a test program runs no tests."""
COMMAND_KEYS = ("command", "cmd", "script", "code", "input")
WORD = r"[^\s;&|()]"
BEFORE_COMMAND = re.compile(r"\n|;|&|\||\(|then(?<!\wthen)\s|do(?<!\wdo)\s")
"""Each of these begins with one certain character, so that most of a script is passed over fast."""
AT_COMMAND = (
    r"[ \t]*(?:\w+=\S*[ \t]+)*"
    r"(?:(?:uv\s+run|poetry\s+run|pdm\s+run|hatch\s+run|pipenv\s+run|npx|bunx|pnpm\s+exec|sudo|time"
    r"|mise\s+(?:exec|x)|bundle\s+exec|asdf\s+exec"
    rf"|env|nice|xvfb-run|timeout\s+\S+|(?:{WORD}*/)?python[\d.]*|(?:ba|z)?sh)"
    rf"[ \t]+(?:-\S+[ \t]+)*(?:\w+=\S*[ \t]+)*[\"']?)*(?:{WORD}*/)?"
)
"""What may stand between that and a program's name: a word that is only mentioned is no command.

No two parts of it may match the same text in two ways: commands come from transcripts, and one
made to be slow would hang the run.
"""


class Patterns:
    def __init__(self, rules: Rules) -> None:
        commands, words = rules.commands, rules.words
        self.max_chars = words.max_chars
        self.correction = _any(words.correction, flags=re.IGNORECASE | re.DOTALL)
        self.thanks = _any(words.thanks, flags=re.IGNORECASE | re.DOTALL)
        self.shell_tools = _compiled(commands.shell_tools)
        self._is_shell: dict[str, bool] = {}
        self.questions = _compiled(commands.questions)
        self.tests = _any(commands.tests, before=AT_COMMAND)
        self.mentions = MENTIONS if commands.tests == CommandRules().tests else ()
        self.tests_failed = _any(commands.tests_failed)
        self.failures = FAILURES if commands.tests_failed == CommandRules().tests_failed else ("",)
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
        if not result.failed and not (
            self._is_command(call.tool) and self._may_run_tests(call.arguments)
        ):
            return None  # most calls: what they run need not even be taken out of its JSON
        command = self.command_of(call)
        if command and self.runs_tests(command):
            verdict = self.judge_tests(command, result)
            if verdict:
                return verdict
        if not result.failed:
            return None
        if result.status == "error" and self.malformed.search(result.text[:OUTPUT_CHARS]):
            return "malformed_call"
        if result.exit_code == 1 and command and _runs(self.searches, command):
            return None
        return "failed_call"

    def _may_run_tests(self, text: str) -> bool:
        for word in self.mentions:  # a plain loop: this is asked of every command
            if word in text:
                return True
        return not self.mentions

    def runs_tests(self, command: str) -> bool:
        if not self._may_run_tests(command):
            return False
        return _runs(self.tests, command) and not NO_RUN.search(command)

    def judge_tests(self, command: str, result: Result) -> str | None:
        """Whether tests passed or failed. A pipe hides the exit code: then only words count."""
        text = result.text
        tail = text[-OUTPUT_CHARS:]
        may_fail = any(word in tail for word in self.failures)
        if result.failed or (may_fail and self.tests_failed.search(tail)):
            return "tests_failed"
        if self.tests_passed.search(tail):
            return "tests_passed"
        plain = "|" not in command and ";" not in command
        return "tests_passed" if result.exit_code == 0 and plain else None

    def _is_command(self, tool: str) -> bool:
        known = self._is_shell.get(tool)
        if known is None:
            known = self._is_shell[tool] = not tool or self.shell_tools.search(tool) is not None
        return known

    def command_of(self, call: Call) -> str:
        """The shell command of a call, of a long one both ends."""
        return _ends(self.whole_command_of(call))

    def whole_command_of(self, call: Call) -> str:
        """The shell command of a call; empty if it is none. A native action is taken as one."""
        if not self._is_command(call.tool):
            return ""
        text = call.arguments
        if not call.tool:
            return text
        if not text.startswith("{"):
            return _commands_in(text)
        try:
            value = msgspec.json.decode(text)
        except (msgspec.MsgspecError, RecursionError):
            return ""
        for key in COMMAND_KEYS:
            found = value.get(key)
            if isinstance(found, str):
                return found
            if isinstance(found, list):
                return _line_of([str(word) for word in found])
        return ""


def _line_of(words: list[str]) -> str:
    """`bash -lc "go test ./a"` is the line that the shell is given."""
    is_for_shell = len(words) == 3 and words[0].endswith("sh") and words[1] in ("-c", "-lc")
    return words[2] if is_for_shell else " ".join(words)


def _runs(programs: re.Pattern[str], command: str) -> bool:
    """Whether one of the programs stands where a command begins."""
    if programs.match(command):
        return True
    begins = BEFORE_COMMAND.finditer(command)
    return any(programs.match(command, before.end()) for before in begins)


def _commands_in(code: str) -> str:
    """The commands that a script gives to the shell (Codex in code mode); else the text itself."""
    found = [match[2] for match in IN_CODE.finditer(code[:4000])] if "cmd" in code else []
    if not found:
        return code
    return "\n".join(found).replace("\\n", "\n").replace('\\"', '"').replace("\\'", "'")


def _ends(command: str) -> str:
    if len(command) <= COMMAND_CHARS:
        return command
    return command[: COMMAND_CHARS * 2 // 3] + "\n" + command[-COMMAND_CHARS // 3 :]


def _compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        raise BadInput(f"{pattern!r} is not a regular expression: {error}") from None


def _any(patterns: tuple[str, ...], flags: int = 0, before: str = "") -> re.Pattern[str]:
    """One expression for all."""
    if before:
        flags |= re.MULTILINE  # every line of a script may begin with a command
    inline = [_inline(pattern) for pattern in patterns]
    return _compiled(before + "(?:" + "|".join(inline or ["(?!)"]) + ")", flags)


def check_patterns(rules: Rules) -> None:
    """Each pattern compiled alone, so that an error names it: for rules that a person wrote."""
    for group in (rules.words, rules.commands):
        for name in group.__struct_fields__:
            value = getattr(group, name)
            for pattern in value if isinstance(value, tuple) else ():
                _compiled(_inline(pattern))


def _inline(pattern: str) -> str:
    """Global flags at the start become local, so that patterns can be joined."""
    found = re.match(r"\(\?([a-zA-Z]+)\)", pattern)
    if not found:
        return f"(?:{pattern})"
    return f"(?{found[1]}:{pattern[found.end() :]})"
