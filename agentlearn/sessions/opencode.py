"""opencode: `opencode export` (one JSON document a session), the lines of `opencode run --format
json`, and its database.

An export holds messages with their parts. The lines hold the parts alone, without the prompt,
each with the id of its session. Child sessions are sessions of their own, with their parent's id.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from agentlearn.sessions import document
from agentlearn.sessions.document import value_of
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import loosened, objects
from agentlearn.sessions.opencode_parts import DIALECT, Failure, Info, Part, SessionInfo, Writing
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import iso_time
from agentlearn.sessions.values import Session


class Exported(Struct):
    info: Info | None = None
    parts: list[Part] | None = None


class Line(Struct):
    type: str = ""
    timestamp: float | None = None
    sessionID: str | None = None
    part: Part | None = None
    error: Failure | None = None


def read_document(source: Source) -> Iterator[Session]:
    value = document.as_object(document.load(source))
    info = value_of(value.get("info"))
    draft = Draft(DIALECT, source.name, "entry")
    writing = Writing(draft, loosened(info if isinstance(info, dict) else {}, SessionInfo))
    messages = document.items(value.get("messages"))
    for number, message in document.numbered(messages, Exported, draft):
        parts = [(number, part) for part in message.parts or ()]
        writing.message(number, message.info or Info(), parts)
    writing.finish()
    yield draft.finish(draft.id or source.id_from_bytes())


def read_lines(source: Source) -> Iterator[Session]:
    """Lines of a session may stand between those of another: one run starts several agents."""
    found: dict[str, Writing] = {}
    warnings: list[tuple[int, str]] = []
    for number, line in objects(source.stream, Line, lambda *warning: warnings.append(warning)):
        key = line.sessionID or ""
        if key not in found:
            found[key] = Writing(Draft(DIALECT, source.name))
            found[key].draft.id = line.sessionID
        at = iso_time(line.timestamp)
        if line.part is not None:
            found[key].part(number, line.part, line.part.messageID or str(number), at)
        if line.error is not None:
            found[key].failure(line.error, number, at)
    if not found:
        found[""] = Writing(Draft(DIALECT, source.name))
    for warning in warnings:
        next(iter(found.values())).draft.warn(*warning)
    for writing in found.values():
        writing.finish()
        yield writing.draft.finish(writing.draft.id or source.id_from_bytes())


def read_sqlite(source: Source) -> Iterator[Session]:
    from agentlearn.sessions.opencode_db import read_database

    return read_database(source)
