"""What a change says, piece by piece, whether it comes as a note, a patch or a whole skill.

Two pieces are the same if they have nearly the same words, and both or neither of them say "not".
Headings and descriptions are the frame of a skill: what it says of itself is no lesson.
"""

from __future__ import annotations

import re

from agentlearn.store.memory import same_note
from agentlearn.store.similar import roots
from agentlearn.store.skill import parse_skill
from agentlearn.store.values import Change, Edit

SAME, REWORDED = 0.8, 0.4
"""The share of words that two pieces have in common; less will do if they rest on one evidence."""
FEW = 2
"""A line of a skill with so few words is no lesson by itself."""
MARK = re.compile(r"^(?:[-*+]|\d{1,3}[.)])\s+|^\(seen\)\s*")
FRAME = re.compile(r"#{1,6}\s|[-=*_`]{3,}\s*$|\(seen\)$")
NEGATED = re.compile(
    r"\b(?:not|never|no|none|without|avoid|stop|cannot|instead)\b|n['’]t\b", re.IGNORECASE
)


def said_by(change: Change) -> list[str]:
    """What comes with a change; where nothing comes, what goes."""
    coming = [said for edit in change.edits for said in _new(edit.path, edit.before, edit.after)]
    return coming or [f"without: {gone}" for edit in change.edits for gone in _gone(edit)]


def says_the_same(one: str, other: str, share: float) -> bool:
    if same_note(one, other):
        return True
    mine, others = roots(one), roots(other)
    if not mine or not others or bool(NEGATED.search(one)) != bool(NEGATED.search(other)):
        return False
    return len(mine & others) >= share * len(mine | others)


def _gone(edit: Edit) -> list[str]:
    return _new(edit.path, edit.after, edit.before)


def _new(path: str, before: str | None, after: str | None) -> list[str]:
    stood = set(_pieces(path, before))
    return [piece for piece in _pieces(path, after) if piece not in stood]


def _pieces(path: str, text: str | None) -> list[str]:
    """The lines of a file without their marks; notes, and the steps and pitfalls of a skill."""
    if text is None:
        return []
    is_note = path.startswith("memory/")
    body = parse_skill("", text).body if path.endswith("/SKILL.md") else text
    lines = [line.strip() for line in body.splitlines()]
    pieces = [MARK.sub("", MARK.sub("", line)) for line in lines if not FRAME.match(line)]
    return [piece for piece in pieces if piece and (is_note or len(roots(piece)) > FEW)]
