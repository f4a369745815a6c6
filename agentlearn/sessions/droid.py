"""Factory Droid sessions: one line that starts the session, then Anthropic messages.

`agent_turn_outcome` is the agent's own opinion of itself: not read.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Raw, Struct

from agentlearn.sessions import document
from agentlearn.sessions.block_messages import BlockMessages
from agentlearn.sessions.claude_blocks import Block
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import objects
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Session

DIALECT = "droid"
SILENT_TYPES = {"todo_state", "session_end", "agent_turn_outcome"}


class DroidMessage(Struct, gc=False):
    role: str | None = None
    content: str | list[Block] | None = None
    model: str | None = None


class Line(Struct, gc=False):
    type: str = ""
    id: str | None = None
    timestamp: str | None = None
    title: str | None = None
    sessionTitle: str | None = None
    cwd: str | None = None
    version: str | int | None = None
    summaryText: str | None = None
    message: DroidMessage | None = None


def read_lines(source: Source) -> Iterator[Session]:
    draft = Draft(DIALECT, source.name)
    draft.agent = "droid"
    messages = BlockMessages(draft)
    unknown: set[str] = set()
    seen: set[str] = set()
    for number, line in objects(source.stream, Line, draft.warn):
        if line.type == "session_start":
            start(draft, line)
        elif line.type == "message" and line.message is not None:
            if line.id in seen:
                continue
            if line.id:
                seen.add(line.id)
            said = line.message
            draft.model = said.model or draft.model
            if not messages.add(said.role, said.content, number, line.timestamp):
                unknown_kind(draft, unknown, number, f"role {(said.role or '')[:40]!r}")
        elif line.type == "compaction_state":
            draft.signal("compaction", line.summaryText or "", number, line.timestamp)
        elif line.type not in SILENT_TYPES:
            unknown_kind(draft, unknown, number, f"line type {line.type[:40]!r}")
    draft.model = draft.model or model_beside(source)
    yield draft.finish(draft.id or source.id_from_bytes())


def model_beside(source: Source) -> str | None:
    """The settings that stand beside a session name the model."""
    stem = source.path.name.removesuffix(".jsonl") if source.path else ""
    settings = source.beside(f"{stem}.settings.json") if stem else None
    if settings is None:
        return None
    try:
        return document.text_of(document.fields(Raw(settings.read_bytes())).get("model"))
    except OSError:
        return None


def start(draft: Draft, line: Line) -> None:
    draft.id = draft.id or line.id or None
    draft.cwd = draft.cwd or line.cwd
    if isinstance(line.version, str):
        draft.version = line.version
    if title := line.sessionTitle or line.title:
        draft.metadata["title"] = title


def unknown_kind(draft: Draft, unknown: set[str], number: int, kind: str) -> None:
    if kind not in unknown:
        unknown.add(kind)
        draft.warn(number, f"unknown {kind}", lost=False)
