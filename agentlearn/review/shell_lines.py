"""A line that an agent's shell was given, taken apart into pieces and what joins them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import NamedTuple

LONGEST, LONGEST_WITH_TEXT, MOST_PIECES = 4000, 20_000, 20
TEXT_BEGINS = re.compile(r"<<-?[ \t]*['\"]?([A-Za-z_]\w*)['\"]?")
"""A text that a line brings along, as the message of a commit: it is no part of the command."""
WINDOWS_VARIABLE = re.compile(r"\$env:(\w+)\s*=\s*", re.IGNORECASE)
WINDOWS_PATH = re.compile(r"(?<!['\"])\b[A-Za-z]:\\[^\s\"';|&]*")
REDIRECTION = re.compile(r"\s(?:\d?>&\d|&>>?\s?\S+)")
SHOWS_TEXT = {"cat", "curl", "wget", "head", "tail", "less", "jq", "sed", "awk", "grep", "rg"}
EXIT_CODE = re.compile(
    r"(?:.*\s)?(\S*[a-z]\w*(?:[=:]\s?|\s))(\$\?|\$\{PIPESTATUS\[0\]\})", re.IGNORECASE | re.DOTALL
)
PREPARES = {"cd", "export", "source", ".", "set", "nvm"}
"""Before a command in one list with it, these say where and with what it is run."""


class Piece(NamedTuple):
    """Of a line, between two joints: it need not be a command of the project."""

    words: list[str]
    is_piped: bool
    """Into others, which are no pieces of their own."""
    joint: str
    """What joins it to the next."""


def pieces_of(command: str) -> list[Piece]:
    """The pieces of a line; none where it cannot be read, or is too long to be worth it."""
    if "<<" in command:
        command = _without_texts(command[:LONGEST_WITH_TEXT])
    if len(command) > LONGEST or "<<" in command:
        return []
    command = command.replace("\\\n", " ")
    command = WINDOWS_VARIABLE.sub(r"export \1=", REDIRECTION.sub(" ", command))
    command = WINDOWS_PATH.sub(lambda found: found[0].replace("\\", "/"), command)
    try:
        lexer = shlex.shlex(command.replace("\n", " ; "), posix=True, punctuation_chars=";&|")
        lexer.whitespace_split = True
        lexer.commenters = ""  # one would hide the lines after it: they are one line here
        pieces = list(_pieces(list(lexer)))
    except ValueError:
        return []
    return pieces if len(pieces) <= MOST_PIECES else []


def _without_texts(command: str) -> str:
    """Without the texts that its lines bring along; nothing if one of them does not end."""
    kept: list[str] = []
    ends: list[str] = []
    for line in command.split("\n"):
        if ends:
            ends = ends[line.strip() == ends[0] :]
            continue
        ends = TEXT_BEGINS.findall(line)
        kept.append(TEXT_BEGINS.sub("", line))
    return "" if ends else "\n".join(kept)


def _pieces(words: list[str]) -> Iterator[Piece]:
    head: list[str] | None = None
    part: list[str] = []
    is_piped = False
    for word in [*words, ""]:
        if word and not set(word) <= set(";&|"):
            part.append(word)
            continue
        head = _bare(part) if head is None else head
        part = []
        if word in ("|", "|&"):
            is_piped = True
            continue
        if head:
            yield Piece(head, is_piped, word)
        head, is_piped = None, False


def _bare(words: list[str]) -> list[str]:
    """Without comments and brackets: `(cd web && npm test)` is the same in a shell of its own."""
    comment = next((place for place, word in enumerate(words) if word.startswith("#")), None)
    words = words[:comment]
    if words and words[0].startswith("("):
        words = [words[0].lstrip("("), *words[1:]]
    if words and words[-1].endswith(")") and "(" not in words[-1]:
        words = [*words[:-1], words[-1].rstrip(")")]
    return [word for word in words if word]


def had_to_work(pieces: list[Piece], number: int) -> bool:
    """If the line worked, this piece of it did."""
    piece = pieces[number]
    if piece.is_piped or piece.joint == "&":
        return False
    if number == len(pieces) - 1:
        return number == 0 or pieces[number - 1].joint != "||"
    return {piece.joint for piece in pieces[number:-1]} == {"&&"}


def words_before_code(pieces: list[Piece], number: int) -> str:
    """What `echo` prints before the exit code of this piece, where it is this piece's."""
    piece = pieces[number]
    after = pieces[number + 1].words if number + 1 < len(pieces) else []
    found = EXIT_CODE.match(" ".join(after[1:]))
    if piece.joint != ";" or after[:1] != ["echo"] or found is None:
        return ""
    if piece.is_piped and found[2] == "$?":
        return ""
    return found[1] if _is_first_of_list(pieces, number) else ""


def _is_first_of_list(pieces: list[Piece], number: int) -> bool:
    """Whether it was run in any case: not only if another piece before it worked, or failed."""
    for piece in reversed(pieces[:number]):
        if piece.joint not in ("&&", "||"):
            return True
        if piece.joint == "||" or piece.words[0] not in PREPARES:
            return False
    return True


def is_muddled(pieces: list[Piece]) -> bool:
    """Whether a piece prints texts, which may be anybody's: whose error it is that the line shows
    is not known then."""
    return any(piece.words[0] in SHOWS_TEXT for piece in pieces)
