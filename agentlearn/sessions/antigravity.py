"""Antigravity: one step a line. Calls and results have no ids.

A result is a step of its own that follows the response which asked for it, so each goes to the
oldest call that still waits. A result that nobody asked for in the file (a cut transcript) is
given a call by the name of its step. Steps that have not come to an end are not yet anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Raw, Struct

from agentlearn.sessions.document import value_of
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import objects
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text
from agentlearn.sessions.values import Session, Status

DIALECT = "antigravity"
REQUEST = re.compile(r"<USER_REQUEST>\s*(.*?)\s*</USER_REQUEST>", re.DOTALL)
MODEL = re.compile(r"`Model Selection` from .*? to (.+?)\.(?:\s|$)")
EXIT_CODE = re.compile(r"\bexit (?:code|status):?\s+(-?\d{1,6})\b", re.IGNORECASE)
WENT_WELL = "The command completed successfully"
UNFINISHED = {"PENDING", "RUNNING", "WAITING", "GENERATING", "QUEUED"}
STATUSES: dict[str, Status] = {
    "ERROR": "error", "FAILED": "error", "CANCELED": "interrupted", "CANCELLED": "interrupted",
    "INTERRUPTED": "interrupted", "REJECTED": "rejected", "DECLINED": "rejected",
}  # fmt: skip


class ToolCall(Struct):
    id: str | None = None
    name: str | None = None
    args: Raw = Raw(b"")


class Line(Struct):
    source: str | None = None
    type: str = ""
    status: str | None = None
    created_at: str | None = None
    content: Raw = Raw(b"")
    tool_calls: list[ToolCall] | None = None
    model: str | None = None


def read_lines(source: Source) -> Iterator[Session]:
    reading = _Reading(Draft(DIALECT, source.name))
    for number, line in objects(source.stream, Line, reading.draft.warn):
        reading.take(number, line)
    yield reading.draft.finish(_id_of(source))


def _id_of(source: Source) -> str:
    """The folder of the conversation: `brain/<id>/.system_generated/logs/transcript.jsonl`."""
    path = source.path
    if path is not None and path.parent.name == "logs" and len(path.parents) > 2:
        return path.parents[2].name
    return source.id_from_bytes()


class _Reading:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        draft.agent = DIALECT
        self.waiting: list[str] = []

    def take(self, number: int, line: Line) -> None:
        draft, at, kind = self.draft, line.created_at, line.type
        if line.status in UNFINISHED:
            return
        text = content_text(value_of(line.content))
        draft.model = line.model or draft.model
        if kind == "USER_INPUT":
            request, model = REQUEST.search(text), MODEL.search(text)
            draft.model = model[1] if model else draft.model
            by_harness = line.source in ("SYSTEM", "USER_IMPLICIT")
            words = request[1] if request else text
            draft.said("system" if by_harness else "user", words, number, at)
        elif kind in ("PLANNER_RESPONSE", "NOTIFY_USER"):
            self.response(number, line, text)
        elif line.source == "SYSTEM":
            self.notice(number, kind, text, at)
        elif kind == "ERROR_MESSAGE":
            draft.signal("api_error", text, number, at)
        else:
            self.result(number, line, text)

    def response(self, number: int, line: Line, text: str) -> None:
        draft, at, step = self.draft, line.created_at, str(number)
        self.waiting.clear()
        draft.said("assistant", text, number, at, step)
        for call in line.tool_calls or ():
            arguments = value_of(call.args)
            self.waiting.append(draft.called(call.id, call.name or "", arguments, number, at, step))
        if STATUSES.get(line.status or "") == "interrupted":
            draft.signal("interruption", "", number, at)

    def notice(self, number: int, kind: str, text: str, at: str | None) -> None:
        """What the harness tells; history, knowledge and passing hints are not kept."""
        if kind == "CHECKPOINT":
            self.draft.signal("compaction", "", number, at)
            self.draft.said("system", text, number, at)
        elif kind == "SYSTEM_MESSAGE":
            self.draft.said("system", text, number, at)
        elif kind == "ERROR_MESSAGE":
            self.draft.signal("api_error", text, number, at)

    def result(self, number: int, line: Line, text: str) -> None:
        draft, at = self.draft, line.created_at
        if self.waiting:
            call_id = self.waiting.pop(0)
        else:
            call_id = draft.called(None, line.type.lower(), None, number, at, str(number))
        code = None
        if line.type == "RUN_COMMAND":
            head = text.partition("Output:")[0][:600]
            found = EXIT_CODE.search(head)
            code = int(found[1]) if found else 0 if WENT_WELL in head else None
        draft.returned(call_id, text, number, at, STATUSES.get(line.status or "", "ok"), code)
