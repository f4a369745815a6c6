"""What commands say when they fail: words about how things are run here, and words about code."""

from __future__ import annotations

import re

from agentlearn.guard import one_line
from agentlearn.review.runs import Run
from agentlearn.review.showing import clean

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
AROUND = re.compile(
    r"--no-verify|--no-gpg-sign|--force\b|--skip\S*|--ignore\S*|--break-system-packages|"
    r"--dangerously\S*|--insecure|--allow\S*|--no-check\S*|--legacy-peer-deps|HUSKY=0|SKIP=|"
    r"StrictHostKeyChecking|GIT_SSL_NO_VERIFY|NODE_TLS_REJECT_UNAUTHORIZED|--no-sandbox|\.lock\b|"
    r"-k\b|\|\| true"
)
"""Ways around a safety check: no lessons."""
GENERAL = frozenset(
    ("git", "gh", "python", "node", "bash", "sh", "zsh", "ruby", "perl", "php", "open", "sqlite3")
)
"""Programs that every agent knows: what it tried with them tells nothing of the project."""
ERROR_CHARS = 140


def tells_nothing(failed: Run) -> bool:
    """A general program's failure, or a test's own, says nothing of how to run things here."""
    ran = failed.topic == "tests" and TESTS_RAN.search(failed.output) is not None
    return ran or failed.core[0] in GENERAL


def error_line(output: str) -> str | None:
    """The line that says what went wrong, short and without what is only true here."""
    lines = [line.strip() for line in output.splitlines()]
    wrong = [line for line in lines if ERROR_LINE.search(line) and len(line) > 12]
    telling = [line for line in wrong if ENVIRONMENT.search(line)]
    chosen = next(iter(telling or wrong), None)
    return None if chosen is None else one_line(clean(chosen), ERROR_CHARS)
