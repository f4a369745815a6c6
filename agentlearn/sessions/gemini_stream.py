"""`gemini -o stream-json`: what a script keeps of a run. Words come in pieces, which are joined.

Each `init` begins a session: a script that tries again appends. A killed run has no `result`,
and a `result` proves nothing but that the run came to its end.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Raw, Struct

from agentlearn.sessions.claude_blocks import raw_text
from agentlearn.sessions.document import value_of
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.gemini_parts import exit_code_of, status_of
from agentlearn.sessions.lines import objects
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Session

DIALECT = "gemini-stream-json"


class Failure(Struct):
    type: str | None = None
    message: str | None = None


class Line(Struct):
    type: str = ""
    timestamp: str | None = None
    session_id: str | None = None
    model: str | None = None
    role: str | None = None
    content: Raw = Raw(b"")
    delta: bool | None = None
    tool_name: str | None = None
    tool_id: str | None = None
    parameters: Raw = Raw(b"")
    status: str | None = None
    output: Raw = Raw(b"")
    error: Failure | None = None
    severity: str | None = None
    message: str | None = None


def read_lines(source: Source) -> Iterator[Session]:
    """A resumed session has an id again that was there before: the later one is numbered."""
    runs = [_Run(Draft(DIALECT, source.name))]
    has_begun = False
    seen: dict[str, int] = {}

    def warn(number: int, reason: str) -> None:
        runs[-1].draft.warn(number, reason)

    for number, line in objects(source.stream, Line, warn):
        if line.type != "init":
            runs[-1].take(number, line)
            continue
        if has_begun:
            runs.append(_Run(Draft(DIALECT, source.name)))
        has_begun = True
        draft = runs[-1].draft
        draft.id, draft.model, draft.started_at = line.session_id, line.model, line.timestamp
    for run in runs:
        yield run.finish(source, seen)


class _Run:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        draft.agent = "gemini-cli"
        self.step = 1
        self.pieces: list[str] = []
        self.first = 0
        self.at: str | None = None
        self.tools: dict[str, str] = {}
        self.unknown: set[str] = set()

    def take(self, number: int, line: Line) -> None:
        draft, at = self.draft, line.timestamp
        if line.type == "message" and line.role == "assistant":
            if not line.delta:
                self.close_words()
            if not self.pieces:
                self.first, self.at = number, at
            self.pieces.append(raw_text(line.content))
            return
        self.close_words()
        if line.type == "message":
            self.step += 1
            draft.said(
                "user" if line.role == "user" else "system", raw_text(line.content), number, at
            )
        elif line.type == "tool_use":
            tool, arguments = line.tool_name or "", value_of(line.parameters)
            call_id = draft.called(line.tool_id, tool, arguments, number, at, str(self.step))
            self.tools[call_id] = tool
        elif line.type == "tool_result":
            self.step += 1
            failure = line.error.message if line.error else None
            text = raw_text(line.output) or failure or ""
            status = status_of(line.status, text) or "ok"
            code = exit_code_of(self.tools.get(line.tool_id or "", ""), text)
            draft.returned(line.tool_id or "", text, number, at, status, code)
        elif line.type in ("result", "error"):
            self.step += 1
            if line.status == "error" or line.severity == "error":
                failure = line.error.message if line.error else line.message
                draft.signal("api_error", failure or "", number, at)
        elif line.type not in self.unknown:
            self.unknown.add(line.type)
            draft.warn(number, f"unknown event type {line.type[:40]!r}", lost=False)

    def close_words(self) -> None:
        if self.pieces:
            self.draft.said("assistant", "".join(self.pieces), self.first, self.at, str(self.step))
            self.pieces = []

    def finish(self, source: Source, seen: dict[str, int]) -> Session:
        self.close_words()
        id = self.draft.id or source.id_from_bytes()
        seen[id] = seen.get(id, 0) + 1
        return self.draft.finish(id if seen[id] == 1 else f"{id}-{seen[id]}")
