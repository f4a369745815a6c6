"""What commands say when they fail: words about how things are run here, and words about code."""

from __future__ import annotations

import re

from agentlearn.guard import one_line
from agentlearn.review.showing import quoted

TESTS_RAN = re.compile(
    r"--- FAIL|^FAILED |^not ok |\b[1-9]\d* (?:tests? )?fail(?:ed|ing|ures?)\b|[✗✕✘]",
    re.MULTILINE,
)
"""Where tests ran and failed, their words are about the code, not about how to run it."""
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
    r"needs? to be (?:built|generated|installed)|unexpected argument|failed to spawn|"
    r"please (?:use|run|install)|does not contain main module",
    re.IGNORECASE,
)
SHUT_IN = re.compile(
    r"\b(?:not permitted|permission denied|could not resolve|read-only file system|network"
    r"|connection refused|econnrefused|enotfound|eperm|eacces|bwrap)\b",
    re.IGNORECASE,
)
"""What a sandbox does to a program."""
NO_ANSWER = re.compile(
    r"connection refused|econnrefused|cannot connect|failed to connect|could not resolve"
    r"|\benotfound\b|timed out|network is unreachable",
    re.IGNORECASE,
)
"""Another program was not there, or the net was not."""
NO_SUCH = re.compile(
    r"command not found|not found\s*$|missing script|no rule to make target|"
    r"no such (?:command|task)|unknown command|not recognized|couldn't find a script|"
    r"script not found|no module named|failed to spawn",
    re.IGNORECASE,
)
ERROR_LINE = re.compile(
    r"error|fail|not found|no such|no module|does not|not permitted|denied|cannot|can't|could not|"
    r"missing|unknown|unrecognized|requires?|must|refused|mismatch|unable|timed out|no rule to",
    re.IGNORECASE,
)
UNFORMATTED = re.compile(
    r"would (?:be )?reformat|not (?:properly )?formatted|formatter would have|code style issues|"
    r"formatting (?:issues?|errors?|differs)",
    re.IGNORECASE,
)
SHELLS_OWN = re.compile(
    r"^(?:\S{0,40}\b(?:bash|zsh|sh)\b(?:: line \d+)?: |\(eval\):\d+: ?)?"
    r"(?:cd|ls|cp|mv|rm|mkdir|touch|chmod|source|find|test|ln|tar|unzip|pushd): \S",
    re.MULTILINE,
)
"""A word of the shell's failed, not the command beside it."""
ERROR_CHARS, END_CHARS = 140, 8000


def error_line(output: str) -> str | None:
    """The line that says what went wrong, short and without what is only true here."""
    if len(output) > 2 * END_CHARS:
        output = f"{output[:END_CHARS]}\n{output[-END_CHARS:]}"
    lines = [line.strip() for line in output.splitlines()]
    wrong = [line for line in lines if len(line) > 12 and ERROR_LINE.search(line)]
    chosen = next((line for line in wrong if ENVIRONMENT.search(line)), None)
    if chosen is None:
        chosen = next(iter(wrong), None)
    return None if chosen is None else one_line(quoted(chosen[:1000]), ERROR_CHARS)
