"""Memory: two markdown files, a note a bullet, each within a budget of characters.

A note may go on over indented lines. What stands outside of the bullets is a person's, and stays.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from agentlearn.store.skill import like

Target = Literal["MEMORY", "USER"]
TARGETS: tuple[Target, ...] = ("MEMORY", "USER")
HEADS: dict[Target, str] = {
    "MEMORY": "# Memory: this project\n",
    "USER": "# Memory: the person\n",
}
SEEN = "(seen) "
BULLET = re.compile(r"^[-*+] (.*(?:\n[ \t]+\S.*)*)\n?", re.MULTILINE)


class Note(Struct, frozen=True):
    text: str
    """On one line."""
    start: int
    end: int
    """Where its bullet stands in the file."""


def memory_path(target: Target) -> str:
    return f"memory/{target}.md"


def notes_of(text: str | None) -> list[Note]:
    return [
        Note(" ".join(found[1].split()), found.start(), found.end())
        for found in BULLET.finditer(text or "")
        if found[1].strip()
    ]


def with_note(target: Target, text: str | None, note: str) -> str:
    """The file with one more bullet, after the last."""
    whole = text if text and text.strip() else HEADS[target]
    notes = notes_of(whole)
    at = notes[-1].end if notes else len(whole)
    before = whole[:at]
    gap = "" if notes else "\n"
    if not before.endswith("\n"):
        gap = "\n" + gap
    return before + like(whole, f"{gap}- {note}\n") + whole[at:]


def replaced(text: str, note: Note, new: str | None) -> str:
    """The file with another text in a bullet's place, or without that bullet."""
    line = "" if new is None else like(text, f"- {new}\n")
    return text[: note.start] + line + text[note.end :]


def carry_notes(
    target: Target, base: str | None, changed: str | None, current: str | None
) -> tuple[bool, str | None]:
    """What `current` becomes when notes come and go in it as they did from `base` to `changed`.

    Notes stand for themselves, in whatever order: a note that is to go must be there, and one
    that is to come takes the place of one that goes, if there is one.
    """
    old, new = _texts(base), _texts(changed)
    going = [text for text in old if text not in new]
    coming = [text for text in new if text not in old]
    if not (going or coming):
        return False, current
    coming = [text for text in coming if text not in _texts(current)]
    result = current
    for text in going:
        found = [note for note in notes_of(result) if note.text == text]
        if result is None or not found:
            return False, current
        result = replaced(result, found[0], coming.pop(0) if coming else None)
    for text in coming:
        result = with_note(target, result, text)
    if changed is None and (result or "").strip() == HEADS[target].strip():
        return True, None
    return True, result


def _texts(text: str | None) -> list[str]:
    return [note.text for note in notes_of(text)]


def same_note(one: str, other: str) -> bool:
    """Whether two notes say the same but for case, white space, marks between words and (seen)."""
    return _core(one) == _core(other)


def _core(note: str) -> str:
    plain = re.sub(r"(?<!\S)[-*+](?=\s)", " ", note.removeprefix(SEEN))
    return " ".join(re.sub(r"[`'\"]+|[.,;:!]+(?=\s|$)", " ", plain).split()).lower()
