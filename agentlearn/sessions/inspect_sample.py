"""One sample of an Inspect log: its messages, what stopped it and what the scorers said.

`messages` are read and events are not: they tell the same again in pieces. Long texts stand
elsewhere in the sample, as attachments. A score is a real verdict.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct

from agentlearn.sessions import document
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.text import MOST_DEPTH, content_text
from agentlearn.sessions.values import Role, Status

ATTACHMENT = re.compile(r"attachment://([0-9a-zA-Z]{1,64})")
GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
SCAFFOLD = (
    "Please proceed to the next step using your best judgement",
    "Your submission was incorrect",
    "[CONTEXT COMPACTION SUMMARY]",
)
"""User messages that the agents of Inspect's own library write to the model."""
STATUSES: dict[str, Status] = {"approval": "rejected", "cancelled": "interrupted"}
KNOWN_ROLES = ("system", "user", "assistant", "tool")


class ToolError(Struct, gc=False):
    type: str | None = None
    message: str | None = None


class ToolCall(Struct, gc=False):
    id: str | None = None
    function: str | None = None
    arguments: Raw = Raw(b"")


class Message(Struct, gc=False):
    id: str | None = None
    role: str | None = None
    source: str | None = None
    model: str | None = None
    content: Raw = Raw(b"")
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    function: str | None = None
    error: ToolError | None = None


class Sample(Struct, gc=False):
    """Only what is read: events, stores and usage are not."""

    id: Raw = Raw(b"")
    epoch: int | None = None
    uuid: str | None = None
    input: Raw = Raw(b"")
    messages: list[Raw] | None = None
    scores: Raw = Raw(b"")
    attachments: dict[str, Raw] | None = None
    error: ToolError | None = None
    limit: Raw = Raw(b"")
    started_at: str | None = None
    completed_at: str | None = None


class SampleReading:
    def __init__(self, draft: Draft, sample: Sample) -> None:
        self.draft = draft
        self.sample = sample
        self.attachments = sample.attachments or {}
        self.asked = False

    def read(self) -> None:
        sample = self.sample
        unknown: set[str | None] = set()
        for number, message in document.numbered(sample.messages or [], Message, self.draft):
            if message.role in KNOWN_ROLES:
                self.take(number, message)
            elif message.role not in unknown:
                unknown.add(message.role)
                self.draft.warn(number, f"unknown role {str(message.role)[:40]!r}", lost=False)
        if not sample.messages:
            self.draft.said("user", self.text(sample.input), 0)
        self.end()

    def take(self, number: int, message: Message) -> None:
        draft, step = self.draft, message.id or str(number)
        if message.role == "tool":
            self.result(number, message)
        elif message.role == "assistant":
            draft.model = draft.model or message.model
            content = self.value(message.content)
            parts = content if isinstance(content, list) else [content]
            for part in parts:
                if isinstance(part, dict) and part.get("type") == "tool_use":
                    self.server_tool(number, part, step)
                else:
                    draft.said("assistant", content_text([part]), number, None, step)
            for call in message.tool_calls or ():
                arguments = self.value(call.arguments)
                draft.called(call.id, call.function or "", arguments, number, None, step)
        else:
            text = self.text(message.content)
            draft.said(self.speaker(message, text), text, number)

    def speaker(self, message: Message, text: str) -> Role:
        """A scaffold urges the model on in the user's name; the first words are the task."""
        if message.role == "system":
            return "system"
        first, self.asked = not self.asked, True
        if message.source in ("input", "operator") or first:
            return "user"
        return "system" if text.lstrip().startswith(SCAFFOLD) else "user"

    def server_tool(self, number: int, part: dict[str, Any], step: str) -> None:
        """A tool that the provider ran: the call and its result are one part."""
        draft = self.draft
        id, name, error = part.get("id"), part.get("name"), part.get("error")
        call_id = draft.called(
            id if isinstance(id, str) else None,
            name if isinstance(name, str) else "",
            part.get("arguments"),
            number,
            step=step,
        )
        text = content_text(part.get("result")) or content_text(error)
        draft.returned(call_id, text, number, status="error" if error else "ok")

    def result(self, number: int, message: Message) -> None:
        text, error = self.text(message.content), message.error
        status: Status = "ok"
        if error is not None:
            status = STATUSES.get(error.type or "", "error")
            if error.message and error.message not in text:
                text = f"{text}\n{self.resolved(error.message)}".strip()
        self.draft.returned(message.tool_call_id or "", text, number, status=status)

    def end(self) -> None:
        """What stopped the sample, and what the scorers said."""
        draft, sample = self.draft, self.sample
        limit = document.fields(sample.limit)
        kind = document.text_of(limit.get("type"))
        if kind == "operator":
            draft.signal("interruption", "", draft.number_after_all(sample.limit))
        elif kind:
            amount = document.value_of(limit.get("limit"))
            said = f"{kind} limit {amount if amount is not None else ''}".strip()
            draft.signal("note", said, draft.number_after_all(sample.limit))
        reason = f"{kind} limit" if kind else None
        if sample.error is not None:
            reason = (sample.error.message or "error").strip().split("\n", 1)[0][:300]
            draft.signal("note", f"error: {reason}", 0)
        scores = document.value_of(sample.scores)
        judged = scores if isinstance(scores, dict) and scores else None
        if judged is not None:
            number = draft.number_after_all(sample.scores)
            draft.signal("verdict", _as_words(judged), number, value=_first_score(judged))
        elif reason:
            draft.outcome, draft.reason = "aborted", reason

    def text(self, raw: Raw | None) -> str:
        return content_text(self.value(raw))

    def value(self, raw: Raw | None) -> Any:
        return self.resolved(document.value_of(raw))

    def resolved(self, value: Any, depth: int = 0) -> Any:
        """The value with its attachments in place."""
        if isinstance(value, str):
            if "attachment://" not in value or not self.attachments:
                return value
            return ATTACHMENT.sub(lambda found: self.attachment(found[1]) or found[0], value)
        if isinstance(value, list) and depth < MOST_DEPTH:
            return [self.resolved(item, depth + 1) for item in value]
        if isinstance(value, dict) and depth < MOST_DEPTH:
            return {key: self.resolved(item, depth + 1) for key, item in value.items()}
        return value

    def attachment(self, name: str) -> str:
        return document.text_of(self.attachments.get(name)) or ""


def _first_score(scores: dict[str, Any]) -> float | None:
    """The first scorer leads, as in Inspect's own tables; None where its scale is not known."""
    for score in scores.values():
        number = _number(score.get("value") if isinstance(score, dict) else score)
        if number is not None:
            return number if 0 <= number <= 1 else None
    return None


def _number(value: Any) -> float | None:
    """A grade or a number; the mean of several, where a scorer gives them by name."""
    if isinstance(value, dict):
        numbers = [number for number in map(_plain_number, value.values()) if number is not None]
        return sum(numbers) / len(numbers) if numbers else None
    return _plain_number(value)


def _plain_number(value: Any) -> float | None:
    if isinstance(value, str):
        return GRADES.get(value)
    try:
        return float(value) if isinstance(value, (bool, int, float)) else None
    except OverflowError:
        return None


def _as_words(scores: dict[str, Any]) -> str:
    """Each scorer with its value, as it was given."""
    said = []
    for name, score in list(scores.items())[:20]:
        value = score.get("value") if isinstance(score, dict) else score
        shown = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        said.append(f"{name} {shown[:200]}")
    return ", ".join(said)
