"""A session without its secrets: what a reviewer reads, and what is written down, comes from it."""

from __future__ import annotations

from msgspec import structs

from agentlearn.guard.secrets import redact
from agentlearn.guard.shown import harmless
from agentlearn.sessions.values import Call, Entry, Session, pack


def redacted(session: Session) -> Session:
    """The same session, every secret in its texts replaced; lines and order stay."""
    entries: list[Entry] = [redacted_entry(entry) for entry in session.entries]
    goal = None if session.goal is None else redact(session.goal)
    return structs.replace(session, id=redact(session.id), entries=entries, goal=goal)


def redacted_entry(entry: Entry) -> Entry:
    """The entry without its secrets; itself if it has none."""
    # The packed text, not `.text`: that of a call has the tool's name before it.
    text = entry.packed if isinstance(entry.packed, str) else entry.packed.decode()
    clean = harmless(text)
    if type(entry) is Call and (tool := redact(entry.tool)) != entry.tool:
        return structs.replace(entry, packed=pack(clean), tool=tool)
    return entry if clean == text else structs.replace(entry, packed=pack(clean))
