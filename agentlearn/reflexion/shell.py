"""Fields in a shell command: `{prompt}` becomes its text, quoted, so that nothing in it is run.

Quoting protects only where the shell reads words. Inside quotes, backquotes and here-documents,
or given to another shell, the same text would be run: there a field is refused.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

RUN_AGAIN = re.compile(r"(?:\beval|\b(?:ba|da|z|k|a)?sh\s+(?:-\w+\s+)*-\w*c)\s*\Z")


def fill(command: str, fields: Mapping[str, str]) -> str:
    """The command with every field that it names in place, shell-quoted. Other braces stay."""
    pattern = re.compile(r"\{(" + "|".join(map(re.escape, fields)) + r")\}")
    return pattern.sub(lambda found: shlex.quote(fields[found[1]]), command)


def named_fields(command: str, names: tuple[str, ...]) -> set[str]:
    return {name for name in names if f"{{{name}}}" in command}


def unsafe_field(command: str, names: tuple[str, ...]) -> tuple[str, str] | None:
    """A field that stands where the shell would run what is in it, and what is around it."""
    for found in re.finditer(r"\{(" + "|".join(map(re.escape, names)) + r")\}", command):
        before = command[: found.start()]
        around = _around(before)
        if around is None and RUN_AGAIN.search(before):
            around = "a command that is run once more"
        if around is not None:
            return found[0], around
    return None


def _around(before: str) -> str | None:
    """What is still open at the end of a piece of shell: a quote, or a here-document."""
    quote = ""
    escaped = False
    for place, char in enumerate(before):
        if escaped:
            escaped = False
        elif char == "\\" and quote != "'":
            escaped = True
        elif quote:
            if char == quote:
                quote = ""
        elif char in "'\"`":
            quote = char
        elif before.startswith("<<", place) and not before.startswith("<<<", place):
            return "a here-document"
        elif char == "#" and (place == 0 or before[place - 1] in " \t\n;&|("):
            rest = before.find("\n", place)
            if rest < 0:
                return "a comment"
    if escaped:
        return "a backslash before it"
    return {"'": "single quotes", '"': "double quotes", "`": "backquotes"}.get(quote)
