"""The log of a Gemini CLI session, folded into the messages that it leaves.

A message that comes again under its id replaces the earlier one in its place, `$rewindTo` takes
back a message and all after it. `$set.messages` is the model's context, not the history: after a
compression it lacks what was said before, so what it does not hold stays, and only what is new
in it counts.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct, field

from agentlearn.sessions.document import value_of
from agentlearn.sessions.draft import Draft
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

SUMMARY = "<state_snapshot>"


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
    """It is known from the model's context only."""
    entry: int = 0
    """The number of its first entry."""

    def same_as(self, other: Said) -> bool:
        ids = [call.id for call in self.calls] == [call.id for call in other.calls]
        return self.type == other.type and self.words == other.words and ids


class Rewind(Struct):
    line: int
    first: Said
    """The first message that is taken back."""


class Fold:
    """The messages of one file while its lines come in."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.order: list[Said | Rewind] = []
        self.live: dict[str, Said] = {}
        self.is_subagent = False
        self.last_updated: str | None = None

    def take(self, number: int, line: Line) -> None:
        if line.rewind_to is not None:
            self.rewind(number, line.rewind_to)
        elif line.id is not None:
            self.message(number, line, line.id)
        elif change := value_of(line.set):
            if isinstance(change, dict):
                messages = change.pop("messages", None)
                self.metadata(loosened(change, Line))
                self.context(number, messages)
        else:
            self.metadata(line)
            self.context(number, value_of(line.messages))

    def metadata(self, line: Line) -> None:
        draft = self.draft
        draft.id = line.sessionId or draft.id
        draft.started_at = line.startTime or draft.started_at
        self.last_updated = line.lastUpdated or self.last_updated
        if line.kind == "subagent":
            self.is_subagent = True
        if line.summary:
            draft.metadata["title"] = line.summary
        if line.directories:
            draft.cwd = line.directories[0]

    def message(self, number: int, line: Line, key: str) -> None:
        known = self.live.get(key)
        found = _parsed(number, line)
        if known is None:
            self.live[key] = found
            self.order.append(found)
        else:
            _replace(known, found)

    def context(self, number: int, messages: Any) -> None:
        """The model's context as a whole. After a compression old messages have new ids in it."""
        if not isinstance(messages, list):
            return
        found = [loosened(message, Line) for message in messages if isinstance(message, dict)]
        parsed = [
            (line.id or f"#{number}-{n}", _parsed(number, line)) for n, line in enumerate(found)
        ]
        compressed = any(SUMMARY in word for _, message in parsed for word in message.words)
        for key, message in parsed:
            message.synced = True
            known = self.live.get(key)
            if known is None and compressed:
                known = next((old for old in self.live.values() if old.same_as(message)), None)
                if known is not None:
                    self.live[key] = known
            if known is None:
                self.live[key] = message
                self.order.append(message)
            elif known.synced and not compressed:
                _replace(known, message)

    def rewind(self, number: int, target: str) -> None:
        """That message and all after it are gone; an id that is unknown takes all."""
        first = self.live.get(target) or next(iter(self.live.values()), None)
        if first is None:
            return
        gone = {id(item) for item in self.order[self.order.index(first) :]}
        self.live = {key: said for key, said in self.live.items() if id(said) not in gone}
        self.order.append(Rewind(number, first))


def _replace(known: Said, found: Said) -> None:
    for name in Said.__struct_fields__:
        setattr(known, name, getattr(found, name))


def _parsed(number: int, line: Line) -> Said:
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
