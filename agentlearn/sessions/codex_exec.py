"""`codex exec --json`: the items of a run as they start and complete. The prompt is not there.

A call counts from its start, so that one which never completed stays as a call without result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Raw, Struct

from agentlearn.sessions.document import value_of
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.gemini_parts import as_json
from agentlearn.sessions.lines import objects
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text
from agentlearn.sessions.values import Session, Signal, Status

DIALECT = "codex-exec"
SILENT = {"reasoning", "todo_list"}
STATUSES: dict[str, Status] = {
    "failed": "error",
    "declined": "rejected",
    "cancelled": "interrupted",
}


class Failure(Struct):
    message: str | None = None


class Item(Struct):
    id: str | None = None
    type: str | None = None
    item_type: str | None = None
    """What `type` was called at first."""
    text: str | None = None
    message: str | None = None
    command: Raw = Raw(b"")
    aggregated_output: str | None = None
    exit_code: int | None = None
    status: str | None = None
    changes: Raw = Raw(b"")
    server: str | None = None
    tool: str | None = None
    arguments: Raw = Raw(b"")
    result: Raw = Raw(b"")
    error: Failure | None = None
    query: str | None = None
    prompt: str | None = None
    receiver_thread_ids: list[str] | None = None


class Line(Struct):
    type: str = ""
    thread_id: str | None = None
    item: Item | None = None
    error: Failure | None = None
    message: str | None = None


def read_lines(source: Source) -> Iterator[Session]:
    """A thread that is resumed under its id goes on; another id is another session."""
    runs = [_Run(Draft(DIALECT, source.name))]
    has_begun = False

    def warn(number: int, reason: str) -> None:
        runs[-1].draft.warn(number, reason)

    for number, line in objects(source.stream, Line, warn):
        if line.type != "thread.started":
            runs[-1].take(number, line)
            continue
        if has_begun and line.thread_id != runs[-1].draft.id:
            runs.append(_Run(Draft(DIALECT, source.name)))
        has_begun = True
        runs[-1].draft.id = line.thread_id
    for run in runs:
        yield run.draft.finish(run.draft.id or source.id_from_bytes())


class _Run:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        draft.agent = "codex"
        self.step = 1
        self.turn = 0
        self.started: dict[str, str] = {}
        self.unknown: set[str] = set()

    def take(self, number: int, line: Line) -> None:
        kind = line.type
        if kind in ("item.started", "item.completed"):
            if line.item is not None:
                self.item(number, line.item, kind == "item.completed")
        elif kind in ("turn.failed", "error"):
            self.failed(number, (line.error.message if line.error else None) or line.message or "")
        elif kind in ("turn.started", "turn.completed"):
            self.turn += kind == "turn.started"
            self.step += 1
        elif kind != "item.updated":
            self.not_known(number, f"event type {kind[:40]!r}")

    def failed(self, number: int, text: str) -> None:
        """The error and the failed turn that it makes say the same."""
        last = self.draft.entries[-1] if self.draft.entries else None
        if not (isinstance(last, Signal) and last.kind == "api_error" and last.text == text):
            self.draft.signal("api_error", text, number)

    def not_known(self, number: int, what: str) -> None:
        if what not in self.unknown:
            self.unknown.add(what)
            self.draft.warn(number, f"unknown {what}", lost=False)

    def item(self, number: int, item: Item, completed: bool) -> None:
        draft = self.draft
        kind = item.type or item.item_type or ""
        if kind in ("agent_message", "assistant_message"):
            if completed:
                draft.said("assistant", item.text or "", number, None, str(self.step))
        elif kind == "error":
            draft.signal("note", item.message or "", number)
        elif (called := _called(kind, item)) is not None:
            # Ids begin anew with each turn of a resumed thread.
            key = f"{self.turn}-{item.id or number}"
            if key not in self.started:
                id = item.id if item.id not in self.started.values() else key
                tool, arguments = called
                self.started[key] = draft.called(id, tool, arguments, number, None, str(self.step))
            if completed:
                self.result(number, kind, item, self.started[key])
        elif kind not in SILENT:
            self.not_known(number, f"item type {kind[:40]!r}")

    def result(self, number: int, kind: str, item: Item, call_id: str) -> None:
        self.step += 1
        text = item.aggregated_output or (item.error.message if item.error else None) or ""
        if not text and kind not in ("command_execution", "file_change"):
            text = _result_text(value_of(item.result))
        status = STATUSES.get(item.status or "", "ok")
        if item.error is not None and status == "ok":
            status = "error"
        code = item.exit_code if item.exit_code is not None and item.exit_code >= 0 else None
        child = item.receiver_thread_ids[0] if item.receiver_thread_ids else None
        self.draft.returned(call_id, text, number, None, status, code, child)


def _called(kind: str, item: Item) -> tuple[str, Any] | None:
    """The tool and the arguments of an item that is a call."""
    if kind == "command_execution":
        return "shell", {"command": value_of(item.command)}
    if kind == "file_change":
        return "file_change", {"changes": value_of(item.changes)}
    if kind == "mcp_tool_call":
        return ".".join(filter(None, (item.server, item.tool))), value_of(item.arguments)
    if kind == "collab_tool_call":
        return item.tool or "collab", {"prompt": item.prompt}
    if kind == "web_search":
        return "web_search", {"query": item.query}
    return None


def _result_text(result: Any) -> str:
    if isinstance(result, dict) and isinstance(result.get("content"), list):
        return content_text(result["content"])
    return result if isinstance(result, str) else as_json(result)
