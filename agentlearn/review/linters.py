"""How linters name the rule that was broken, and which of their rules teach something."""

from __future__ import annotations

import re

PLACE = r"^[ \t]*[\w./@+-]+\.\w{1,5}:\d+(?::\d+)?:?[ \t]*(?:error[: ]+)?"
LINT = (
    # golangci-lint, pylint: what is wrong, then the rule.
    re.compile(
        PLACE + r"(?P<said>\S(?:[^\n`]|`[^`]{0,120}`){3,300}?) {1,3}"
        r"\((?P<rule>[a-z][\w-]{2,40})\)[ \t]{0,4}$",
        re.MULTILINE,
    ),
    # ruff as it is now: the rule, what is wrong, and the place on the next line.
    re.compile(
        r"^(?P<rule>[A-Z]{1,4}\d{3,4}) (?:\[\*\] )?(?P<said>\S[^\n]{8,200})\n *--> \S+:\d+:\d+",
        re.MULTILINE,
    ),
    # ruff before, flake8: the rule, then what is wrong.
    re.compile(PLACE + r"(?P<rule>[A-Z]{1,4}\d{3,4}) (?P<said>\S.{8,200})$", re.MULTILINE),
    # biome: the place and the rule, then what is wrong.
    re.compile(
        r"^\S+:\d+:\d+ (?P<rule>lint/[\w/]+)[^\n]*\n(?:[ \t]*\n)?[ \t]*[×✖!] (?P<said>\S.{8,200})$",
        re.MULTILINE,
    ),
    # commitlint: what is wrong with the message, then the rule.
    re.compile(r"^✖[ \t]+(?P<said>\S.{8,200}?)[ \t]+\[(?P<rule>[a-z]+-[\w-]+)\]$", re.MULTILINE),
    # rubocop: place, strength, rule, what is wrong.
    re.compile(
        PLACE + r"[A-Z]: (?:\[\w+\] )?(?P<rule>[A-Z]\w+/\w+): (?P<said>\S.{8,200})$", re.MULTILINE
    ),
    # eslint: place and strength, what is wrong, the rule.
    re.compile(
        r"^[ \t]{1,8}\d+:\d+[ \t]{1,4}error[ \t]{1,4}(?P<said>\S.{8,200}?)[ \t]{2,4}"
        r"(?P<rule>[@a-z][\w/@-]+)[ \t]*$",
        re.MULTILINE,
    ),
)
SLIPS = re.compile(
    r"unused|undef|redeclare|import|format|prettier|syntax|deadcode|varcheck|ineffassign|typecheck"
    r"|^(?:error|warning|note)$|^[FI]\d|^E9",
    re.IGNORECASE,
)
"""Rules that say that the work was not finished; they teach nothing about the project."""
MERE = re.compile(r"\d: *(?:warning|note)\b")
"""What rejects nothing."""
TYPES = re.compile(r"\b(?:mypy|pyright|tsc|typecheck|type-check)\b")


def broken_rule(command: str, output: str) -> tuple[str, str] | None:
    """The first rule that was named, and what was said to be wrong.

    A type checker names none: its errors are about the code at hand.
    """
    if TYPES.search(command):
        return None
    for pattern in LINT:
        for found in pattern.finditer(output):
            if not SLIPS.search(found["rule"]) and not MERE.search(found[0]):
                return found["rule"], found["said"]
    return None
