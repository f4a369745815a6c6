"""The lines of a Gemini CLI log, and what is left of a message when its line is read."""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct, field

from agentlearn.sessions.document import value_of
from agentlearn.sessions.gemini_parts import (
    calls_of,
    is_error_response,
    responses_of,
    result_text,
    status_of,
    words_of,
)
from agentlearn.sessions.lines import loosened
from agentlearn.sessions.values import Status


class ToolCall(Struct):
    id: str | None = None
    name: str | None = None
    args: Raw = Raw(b"")
    result: Raw = Raw(b"")
    resultDisplay: Raw = Raw(b"")
    status: str | None = None
    timestamp: str | None = None


class Line(Struct):
    """A message, the first line with its metadata, or a change to either."""

    id: str | None = None
    type: str = ""
    timestamp: str | None = None
    content: Raw = Raw(b"")
    parts: Raw = Raw(b"")
    displayContent: Raw = Raw(b"")
    model: str | None = None
    toolCalls: list[ToolCall] | None = None
    sessionId: str | None = None
    startTime: str | None = None
    lastUpdated: str | None = None
    kind: str | None = None
    summary: str | None = None
    directories: list[str] | None = None
    messages: Raw = Raw(b"")
    set: Raw = field(default=Raw(b""), name="$set")
    rewind_to: str | None = field(default=None, name="$rewindTo")


class Called(Struct):
    id: str | None
    tool: str
    arguments: Any
    text: str
    status: Status | None
    at: str | None


class Said(Struct, eq=False):
    """A message of the fold, with nothing left of the line it came from."""

    line: int
    type: str
    at: str | None
    words: list[str]
    calls: list[Called]
    responses: list[dict[str, Any]]
    model: str | None
    synced: bool = False
    """It is known from a checkpoint only."""
    names: list[str] = field(default_factory=list)
    """The ids it goes by: a compression gives new ones."""
    undone: list[Rewind] = field(default_factory=list)
    """What followed it, and was taken back."""
    entry: int = 0
    """The number of its first entry."""

    @property
    def gist(self) -> tuple[Any, ...]:
        """What tells a message again that has got another id."""
        return self.type, *self.words, None, *(call.id for call in self.calls)

    def says_same(self, other: Said) -> bool:
        return (self.type, self.words, self.calls, self.responses) == (
            other.type, other.words, other.calls, other.responses,
        )  # fmt: skip


class Rewind(Struct, eq=False):
    line: int
    gone: list[Said]
    """The messages that were taken back, with what was taken back after each before."""


def parsed(number: int, line: Line) -> Said:
    content = value_of(line.content)
    if content is None:
        content = value_of(line.parts)
    shown = value_of(line.displayContent) if line.type == "user" else None
    calls = [_call(call) for call in line.toolCalls or ()]
    known = {call.id for call in calls}
    for part in calls_of(content):
        call_id = part.get("id") if isinstance(part.get("id"), str) else None
        if call_id is None or call_id not in known:
            calls.append(_call(loosened(part, ToolCall)))
    return Said(
        number,
        line.type,
        line.timestamp,
        words_of(shown) or words_of(content),
        calls,
        responses_of(content),
        line.model,
    )


def _call(call: ToolCall) -> Called:
    result = value_of(call.result)
    text = result_text(result)
    if not text:
        display = value_of(call.resultDisplay)
        text = display if isinstance(display, str) else ""
    failed = any(is_error_response(response) for response in responses_of(result))
    status = status_of(call.status, text, failed)
    return Called(call.id, call.name or "", value_of(call.args), text, status, call.timestamp)
