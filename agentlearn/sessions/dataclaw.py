"""DataClaw exports: a session an object, each call with its own result inside the message.

Sources write one block a message, so words are part of the response that the next call belongs
to. The original agent is named as `source`. Ids of calls are not exported: they are made here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Raw, Struct

from agentlearn.sessions import document
from agentlearn.sessions.block_messages import BlockMessages, answer
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import objects
from agentlearn.sessions.many import ManySessions, elements
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text, iso_time
from agentlearn.sessions.values import Session

DIALECT = "dataclaw"
AGENTS = {"claude": "claude-code", "gemini": "gemini-cli"}
FAILURES = ("error", "failed", "failure")
CUT_SHORT = ("cancelled", "canceled", "interrupted", "aborted")


class ToolUse(Struct, gc=False):
    tool: str | None = None
    input: Raw = Raw(b"")
    output: Any = None
    status: str | None = None


class ExportedMessage(Struct, gc=False):
    role: str | None = None
    content: Any = None
    tool_uses: list[ToolUse] | None = None
    timestamp: Any = None


class Row(Struct, gc=False):
    session_id: str | None = None
    model: str | None = None
    git_branch: str | None = None
    start_time: Any = None
    end_time: Any = None
    project: str | None = None
    source: str | None = None
    cwd: str | None = None
    messages: Raw = Raw(b"")


def read_lines(source: Source) -> Iterator[Session]:
    many = ManySessions(source, DIALECT, "line")
    for number, row in objects(source.stream, Row, many.warn):
        if memoryview(row.messages):
            yield from many.done(exported(row, many.draft(), number))
        else:
            many.strange(number, "line without messages")
    yield from many.end()


def read_document(source: Source) -> Iterator[Session]:
    many = ManySessions(source, DIALECT, "entry")
    for _, row, is_all in elements(source, Row, many):
        yield from many.done(exported(row, many.draft(), None), only=is_all)
    yield from many.end()


def exported(row: Row, draft: Draft, line: int | None) -> Draft:
    draft.id = row.session_id or None
    draft.agent = AGENTS.get(row.source or "", row.source or None)
    draft.model = row.model or None
    draft.cwd = row.cwd or None
    draft.started_at, draft.ended_at = iso_time(row.start_time), iso_time(row.end_time)
    for key, value in (("branch", row.git_branch), ("project", row.project)):
        if value:
            draft.metadata[key] = value
    texts = BlockMessages(draft)
    unknown: set[str] = set()
    came_back = 0
    raws = document.items(row.messages)
    for number, message in document.numbered(raws, ExportedMessage, draft, line):
        at, role = iso_time(message.timestamp), message.role or ""
        text = content_text(message.content)
        if role == "assistant":
            step = str(came_back)
            draft.said("assistant", text, number, at, step)
            for use in message.tool_uses or ():
                use_and_result(use, draft, number, at, step=step)
            came_back += bool(message.tool_uses)
        elif role == "user":
            texts.user(text, number, at)
            came_back += 1
        elif role == "system":
            draft.said("system", text, number, at)
        elif role not in unknown:
            unknown.add(role)
            draft.warn(number, f"unknown role {role[:40]!r}", lost=False)
    return draft


def use_and_result(use: ToolUse, draft: Draft, line: int, at: str | None, *, step: str) -> None:
    """A call, and its result unless the export has none (an unfinished call has no status)."""
    call_id = draft.called(None, use.tool or "", document.value_of(use.input), line, at, step)
    if use.status is None and use.output is None:
        return
    text = output_text(use.output)
    if use.status in CUT_SHORT:
        draft.returned(call_id, text, line, at, "interrupted")
    else:
        answer(draft, call_id, text, line, at, failed=use.status in FAILURES)


def output_text(output: Any) -> str:
    """The text of an output, else what the raw result holds."""
    if not isinstance(output, dict):
        return content_text(output)
    text = content_text(output.get("text") or output.get("output"))
    raw = output.get("raw")
    if not text and isinstance(raw, dict):
        text = content_text(raw.get("text") or raw.get("stdout") or raw.get("content"))
    return text
