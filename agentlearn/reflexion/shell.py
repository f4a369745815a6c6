"""Fields in a shell command: `{prompt}` becomes its text, quoted, so that nothing in it is run.

Quoting protects only where the shell reads words. Inside quotes, backquotes, arithmetic and
here-documents, or given to a program that is a shell itself, the same text would be run or torn:
there a field is refused, also where it might do no harm.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

RUN_AGAIN = re.compile(
    r"(?:^|[\s/])(?:eval|let|source|ssh|su|watch|parallel)(?=\s)"
    r"|(?:^|[\s/])(?:ba|da|z|k|a|fi|c|tc)?sh(?=\s)(?:.*\s)?-\w*c(?=\s)"
    r"|\s-\w*[ce]\s+\Z|\s--(?:eval|command|exec|execute)[\s=]+\Z",
    re.DOTALL,
)
"""What runs its arguments once more: a shell, something like one, or a program's `-c` and `-e`."""
SEPARATORS = ";&|(\n{"
INSIDE = {
    "'": "single quotes",
    '"': "double quotes",
    "`": "backquotes",
    "$((": "arithmetic",
    "${": "an expansion",
    "#": "a comment",
    "<<": "a here-document",
    "\\": "an escape",
}


def fill(command: str, fields: Mapping[str, str]) -> str:
    """The command with every field that it names in place, shell-quoted. Other braces stay."""
    return _fields(tuple(fields)).sub(lambda found: shlex.quote(fields[found[1]]), command)


def named_fields(command: str, names: tuple[str, ...]) -> set[str]:
    return {found[1] for found in _fields(names).finditer(command)}


def _fields(names: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"\{(" + "|".join(map(re.escape, names)) + r")\}")


def unsafe_field(command: str, names: tuple[str, ...]) -> tuple[str, str] | None:
    """A field that stands where the shell would run what is in it, and what is around it."""
    places = {found.start(): found[0] for found in _fields(names).finditer(command)}
    reading = _Reading(command)
    for place in sorted(places):
        around = reading.until(place)
        if around is not None:
            return places[place], around
    return None


class _Reading:
    """A shell command, read up to a place, with all that is open there."""

    def __init__(self, command: str) -> None:
        self.command = command
        self.at = 0
        self.open: list[str] = []
        """Quotes, `$(` and the like that have begun and not ended, the innermost last."""
        self.simple = 0
        """Where the command began that is being read."""
        self.outer: list[int] = []
        """The same for each that is open: after `$(…)` the command around it goes on."""

    def until(self, place: int) -> str | None:
        """What is around a place; None if it is a bare word of a command that does not run it."""
        while self.at < place:
            self.at += self._step()
        if self.at > place:  # it was read as a part of something: a comment, an escape
            return INSIDE["#" if "#" in self.command[:place] else "\\"]
        inner = self.open[-1] if self.open else ""
        if inner in INSIDE:
            return INSIDE[inner]
        if RUN_AGAIN.search(self.command[self.simple : place]):
            return "a command that is run once more"
        return None

    def _step(self) -> int:
        """Take what stands here; how many characters it was."""
        text, at = self.command, self.at
        char, inner = text[at], self.open[-1] if self.open else ""
        if inner == "'":
            return self._close(1) if char == "'" else 1
        if char == "\\":
            return 2
        if inner == "`":
            return self._close(1) if char == "`" else 1
        if inner == "$((" and text.startswith("))", at):
            return self._close(2)
        if inner == "${" and char == "}":
            return self._close(1)
        for opening in ("$((", "$(", "${"):
            if text.startswith(opening, at):
                self._begin(opening)
                if opening == "$(":
                    self.simple = at + len(opening)
                return len(opening)
        if char == '"':
            return self._close(1) if inner == '"' else self._begin(char)
        if inner in ('"', "$((", "${"):
            return self._begin(char) if char == "`" else 1
        return self._step_in_words(char)

    def _step_in_words(self, char: str) -> int:
        """Where words are read: at the top, and inside `$(…)`."""
        text, at = self.command, self.at
        if char in "'`":
            return self._begin(char)
        if text.startswith("<<", at) and not text.startswith("<<<", at):
            self._begin("<<")  # it never ends for us: what follows is not looked at closely
            return 2
        if char == "#" and (at == 0 or text[at - 1] in " \t\n;&|("):
            end = text.find("\n", at)
            return (len(text) if end < 0 else end) - at
        if char == "(":
            self._begin("(")
        if char == ")" and self.open and self.open[-1] in ("(", "$("):
            return self._close(1)
        if char in SEPARATORS and not _fields_begin(text, at):
            self.simple = at + 1
        return 1

    def _begin(self, opening: str) -> int:
        self.open.append(opening)
        self.outer.append(self.simple)
        return 1

    def _close(self, length: int) -> int:
        self.open.pop()
        self.simple = self.outer.pop()
        return length


def _fields_begin(text: str, at: int) -> bool:
    """Whether a brace is that of a field, or of `awk '{…}'`, and not of a group of commands."""
    return text[at] == "{" and not text.startswith(("{ ", "{\n"), at)
