"""What the journal holds: changes to skills and memory, and what became of them.

A change is the whole truth of one write: what stood before, what stands after, and the lines that
speak for it with a short redacted excerpt, so that it can be explained when the transcript is
gone, and taken back. Paths are logical, `skills/run-tests/SKILL.md` or `memory/MEMORY.md`: where
those folders lie is the store's business.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Kind = Literal["skill", "memory"]
SKILLS, MEMORY, ARCHIVE = "skills", "memory", "archive"


class Cited(Struct, frozen=True, omit_defaults=True):
    """Evidence as the journal keeps it."""

    session: str
    path: str | None
    start: int
    end: int
    unit: str
    sha256: str | None
    excerpt: str = ""
    """The beginning of those lines, redacted: `why` outlives the transcript."""


class Edit(Struct, frozen=True):
    """One file of a change. None: the file is not there."""

    path: str
    before: str | None
    after: str | None


class Change(Struct, frozen=True, tag="change", tag_field="type", omit_defaults=True, kw_only=True):
    id: str
    at: str
    kind: Kind
    action: str
    name: str
    """The skill's, or MEMORY or USER."""
    text: str
    """What the change adds, in words."""
    edits: tuple[Edit, ...]
    evidence: tuple[Cited, ...] = ()
    reviewer: str = "person"
    model: str | None = None
    session: str | None = None
    undoes: str | None = None
    """The change that this one takes back."""
    absorbed_by: str | None = None
    """For a deleted skill: the one that holds what it taught."""
    moved: tuple[str, str] | None = None
    """A folder that moves as a whole, from and to: a skill goes to the archive, and back."""


class Done(Struct, frozen=True, tag="done", tag_field="type"):
    """The files of a change are written."""

    id: str


class Undone(Struct, frozen=True, tag="undone", tag_field="type"):
    """A change that was begun, and whose files stand as they stood before."""

    id: str
    reason: str


class Staged(Struct, frozen=True, tag="staged", tag_field="type"):
    """A change that waits for approval."""

    change: Change


class Adopted(Struct, frozen=True, tag="adopted", tag_field="type"):
    id: str


class Discarded(Struct, frozen=True, tag="discarded", tag_field="type"):
    id: str


class Read(Struct, frozen=True, omit_defaults=True):
    """What a reviewing model read of a session, and what preparing that cost."""

    way: str
    """whole, evidence, tail, ends or rlm."""
    chars: int
    of_chars: int
    input_tokens: int = 0
    output_tokens: int = 0
    subcalls: int = 0


class Reviewed(Struct, frozen=True, tag="reviewed", tag_field="type", omit_defaults=True):
    """A session that need not be reviewed again by the same reviewer."""

    at: str
    session: str
    sha256: str
    """Of the session's entries as they were read."""
    reviewer: str
    model: str | None
    prompt: str | None
    """The hash of the reviewer's prompt; None for the rules."""
    outcome: str
    changes: tuple[str, ...] = ()
    reading: Read | None = None


Record = Change | Done | Undone | Staged | Adopted | Discarded | Reviewed


class Skill(Struct, frozen=True):
    """A SKILL.md, taken apart."""

    folder: str
    text: str
    name: str
    description: str
    body: str
    changes: tuple[str, ...]
    """The ids of the changes that made it; empty for a skill that was not written here."""
    pinned: bool
    problem: str | None = None
    """Why it is no valid skill."""

    @property
    def is_ours(self) -> bool:
        return bool(self.changes)
