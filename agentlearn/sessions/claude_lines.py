"""The lines of a Claude Code session file: only the fields that are read."""

from __future__ import annotations

from msgspec import Raw, Struct

from agentlearn.sessions.claude_blocks import Block


class Envelope(Struct, gc=False):
    """The `message` of a line."""

    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None


class ToolUseResult(Struct, gc=False):
    """The few fields of a structured tool result that say more than its text."""

    agentId: str | None = None
    userModified: bool | None = None
    interrupted: bool | None = None


class Attachment(Struct, gc=False):
    type: str = ""
    prompt: str | list[Block] | None = None
    content: Raw = Raw(b"")
    stderr: str | None = None
    origin: dict[str, str | None] | None = None
    blockingError: Raw = Raw(b"")


class Line(Struct, gc=False):
    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None
    sessionId: str | None = None
    agentId: str | None = None
    isSidechain: bool | None = None
    isMeta: bool | None = None
    isCompactSummary: bool | None = None
    isApiErrorMessage: bool | None = None
    timestamp: str | None = None
    cwd: str | None = None
    version: str | None = None
    gitBranch: str | None = None
    message: Envelope | None = None
    toolUseResult: ToolUseResult | str | list[Raw] | None = None
    attachment: Attachment | None = None
    operation: str | None = None
    content: Raw = Raw(b"")
    origin: dict[str, str | None] | None = None
    hookErrors: list[Raw] | None = None
    aiTitle: str | None = None
    customTitle: str | None = None
    prUrl: str | None = None
