"""Gemini CLI: one JSON document before 0.40, since then a log of changes to it, one a line.

Call and result stand in one message. What the harness says in the person's place is `system`;
a sub-agent has no person at all, its prompt is its goal.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentlearn.sessions import document
from agentlearn.sessions.document import value_of
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.gemini_fold import SUMMARY, Fold
from agentlearn.sessions.gemini_parts import (
    exit_code_of,
    is_error_response,
    response_text,
    status_of,
)
from agentlearn.sessions.gemini_said import Line, Rewind, Said
from agentlearn.sessions.lines import loosened, objects
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Session, Signal

DIALECT = "gemini-cli"
HARNESS = ("<session_context>", "<hook_context>", "System: ", "This is the Gemini CLI. We are")
ACKNOWLEDGED = "Got it. Thanks for the additional context!"
REFERENCED = "--- Content from referenced files ---"

Responses = dict[str, tuple[dict[str, Any], int]]
"""What came back from calls, by their ids, where it stands in a message of its own; its line."""


def read_lines(source: Source) -> Iterator[Session]:
    fold = Fold(Draft(DIALECT, source.name))
    for number, line in objects(source.stream, Line, fold.draft.warn):
        fold.take(number, line)
    yield _Writing(fold).finish(source)


def read_document(source: Source) -> Iterator[Session]:
    value = document.as_object(document.load(source))
    fold = Fold(Draft(DIALECT, source.name, "entry"))
    head = {key: value_of(raw) for key, raw in value.items() if key != "messages"}
    fold.metadata(loosened(head, Line))
    for number, line in document.numbered(document.items(value.get("messages")), Line, fold.draft):
        fold.message(number, line, line.id or f"#{number}")
    yield _Writing(fold).finish(source)


class _Writing:
    """The entries of a folded session."""

    def __init__(self, fold: Fold) -> None:
        self.fold = fold
        self.draft = fold.draft
        self.is_subagent = fold.is_subagent
        self.calls: set[str] = set()
        self.unknown: set[str] = set()

    def finish(self, source: Source) -> Session:
        draft = self.draft
        draft.agent = "gemini-cli"
        path = source.path
        if self.is_subagent and path is not None and path.parent.parent.name == "chats":
            draft.parent = path.parent.name
        results = {
            response["id"]: (response, item.line)
            for item in self.fold.in_order()
            if isinstance(item, Said)
            for response in item.responses
            if isinstance(response.get("id"), str)
        }
        for item in self.fold.in_order():
            if isinstance(item, Rewind):
                undone = len(draft.entries) - item.gone[0].entry
                if undone > 0:
                    draft.signal("rollback", "", item.line, undoes=undone)
            else:
                item.entry = len(draft.entries)
                self.write(item, results)
        if not any(entry.at for entry in draft.entries):
            draft.ended_at = self.fold.last_updated
        return draft.finish(draft.id or source.id_from_bytes())

    def write(self, message: Said, results: Responses) -> None:
        kind = message.type
        if kind == "user":
            self.write_prompt(message)
        elif kind in ("gemini", "model"):
            self.write_response(message, results)
        elif kind in ("info", "error"):
            self.write_notice(message)
        elif kind != "warning" and kind not in self.unknown:
            self.unknown.add(kind)
            self.draft.warn(message.line, f"unknown message type {kind[:40]!r}", lost=False)

    def write_prompt(self, message: Said) -> None:
        draft = self.draft
        theirs: list[str] = []
        for word in message.words:
            if word.startswith(REFERENCED):
                break  # what follows are the files that the person named
            head = word.lstrip()
            if SUMMARY in head[:2000]:
                last = draft.entries[-1] if draft.entries else None
                if not (isinstance(last, Signal) and last.kind == "compaction"):
                    draft.signal("compaction", "", message.line, message.at)
                draft.said("system", word, message.line, message.at)
            elif head.startswith(HARNESS):
                draft.said("system", word, message.line, message.at)
            else:
                theirs.append(word)
        text = "\n".join(theirs)
        if self.is_subagent:
            draft.goal = draft.goal or text or None
        draft.said("system" if self.is_subagent else "user", text, message.line, message.at)

    def write_response(self, message: Said, results: Responses) -> None:
        draft = self.draft
        draft.model = message.model or draft.model
        step = str(message.line)
        text = "\n".join(message.words)
        if not (message.synced and text == ACKNOWLEDGED):
            draft.said("assistant", text, message.line, message.at, step)
        written = [
            (draft.called(call.id, call.tool, call.arguments, message.line, message.at, step), call)
            for call in message.calls
            if call.id is None or call.id not in self.calls
        ]
        self.calls.update(call_id for call_id, _ in written)
        declined = False
        for call_id, call in written:
            text, status, line = call.text, call.status, message.line
            if status is None and call_id in results:
                response, line = results[call_id]
                text = response_text(response)
                status = status_of(None, text, is_error_response(response))
            if status is None:
                continue
            if status == "rejected":
                # One no cancels all calls that wait beside it: only the first was asked about.
                status, declined = ("interrupted" if declined else "rejected"), True
            code = exit_code_of(call.tool, text)
            draft.returned(call_id, text, line, call.at or message.at, status, code)

    def write_notice(self, message: Said) -> None:
        text = "\n".join(message.words)
        if message.type == "error":
            self.draft.signal("api_error", text, message.line, message.at)
        elif text.startswith("Request cancelled"):
            self.draft.signal("interruption", "", message.line, message.at)
        elif text.startswith("Chat history compressed"):
            self.draft.signal("compaction", text, message.line, message.at)
