"""Copilot CLI: one event a line. Results come as events of their own, matched by call id.

`success` means that the tool could be used: a failing command is a success too, and its exit code
stands at the end of the text. Events that carry the id of a parent call belong to a sub-agent and
become a session of their own. Hooks, permissions and bookkeeping are not part of what was said;
a permission that the person denied is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Raw, Struct

from agentlearn.sessions.claude_blocks import raw_text
from agentlearn.sessions.document import value_of
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import objects
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import iso_time, last_number_in, without_data_uris
from agentlearn.sessions.values import Call, Session, Signal, Status

DIALECT = "copilot-cli"
EXIT_CODE = re.compile(r"(?:completed|exited) with exit code (-?\d{1,6})>?\s*\Z")
FEEDBACK = re.compile(r"(?:feedback|reason):\s*(.+)", re.DOTALL | re.IGNORECASE)
BY_THE_PERSON = "denied-interactively-by-user"
KNOWN = (
    "session.", "assistant.", "tool.", "user.", "hook.", "system.", "permission.", "subagent.",
    "skill.", "command.", "external_tool.", "elicitation.", "user_input.", "pending_messages.",
    "exit_plan_mode.", "sampling.", "mcp.", "abort", "capabilities.", "commands.", "model.",
)  # fmt: skip


class Context(Struct):
    cwd: str | None = None
    branch: str | None = None
    repository: str | None = None


class Request(Struct):
    toolCallId: str | None = None
    name: str | None = None
    arguments: Raw = Raw(b"")


class Outcome(Struct):
    """The result of a tool or of a question for permission, or an error."""

    content: Raw = Raw(b"")
    message: str | None = None
    code: str | None = None
    kind: str | None = None
    feedback: str | None = None


class Data(Struct):
    """Any event's data; what it does not have stays empty. Reasoning is not read."""

    sessionId: str | None = None
    copilotVersion: str | None = None
    selectedModel: str | None = None
    newModel: str | None = None
    model: str | None = None
    startTime: str | None = None
    context: Context | None = None
    content: Raw = Raw(b"")
    source: str | None = None
    messageId: str | None = None
    apiCallId: str | None = None
    toolRequests: list[Request] | None = None
    toolCallId: str | None = None
    parentToolCallId: str | None = None
    toolName: str | None = None
    arguments: Raw = Raw(b"")
    success: bool | None = None
    result: Outcome | None = None
    error: Outcome | None = None
    message: str | None = None
    summaryContent: str | None = None
    title: str | None = None


class Line(Struct):
    type: str = ""
    data: Data | None = None
    id: str | None = None
    parentId: str | None = None
    timestamp: str | None = None


def read_lines(source: Source) -> Iterator[Session]:
    main = _Agent(Draft(DIALECT, source.name))
    agents: dict[str, _Agent] = {}
    unknown: set[str] = set()
    for number, line in objects(source.stream, Line, main.draft.warn):
        data = line.data or Data()
        parent_call = data.parentToolCallId
        agent = main
        if parent_call is not None:
            if parent_call not in agents:
                agents[parent_call] = _Agent(Draft(DIALECT, source.name), parent_call, main)
            agent = agents[parent_call]
        if not line.type.startswith(KNOWN) and line.type not in unknown:
            unknown.add(line.type)
            main.draft.warn(number, f"unknown event type {line.type[:40]!r}", lost=False)
        agent.take(number, line, data)
        if line.id is not None:
            main.ended[line.id] = len(main.draft.entries)
    main.draft.id = main.draft.id or source.id_from_bytes()
    yield main.draft.finish()
    for agent in agents.values():
        agent.draft.parent = main.draft.id
        yield agent.draft.finish()


class _Agent:
    """The person's own session, or that of a sub-agent."""

    def __init__(
        self, draft: Draft, call_id: str | None = None, main: _Agent | None = None
    ) -> None:
        self.draft = draft
        draft.agent = DIALECT
        self.calls: set[str] = set()
        self.denied: dict[str, str] = {}
        self.ended: dict[str, int] = {}
        """How many entries there were after an event, for going back to it."""
        self.children: set[str] = set()
        if call_id is not None and main is not None:
            draft.id, draft.cwd, draft.version = call_id, main.draft.cwd, main.draft.version
            draft.goal = main.prompt_of(call_id)
            main.children.add(call_id)

    def prompt_of(self, call_id: str) -> str | None:
        """What a sub-agent was told, from the arguments of the call that started it."""
        for entry in reversed(self.draft.entries):
            if isinstance(entry, Call) and entry.id == call_id:
                arguments = value_of(entry.arguments.encode())
                prompt = arguments.get("prompt") if isinstance(arguments, dict) else None
                return prompt if isinstance(prompt, str) else None
        return None

    def take(self, number: int, line: Line, data: Data) -> None:
        draft, kind, at = self.draft, line.type, line.timestamp
        if kind == "user.message":
            by_harness = data.source not in (None, "", "user") or data.parentToolCallId is not None
            text = without_data_uris(raw_text(data.content))
            if not by_harness:
                self.went_back(number, line)
            draft.said("system" if by_harness else "user", text, number, at)
        elif kind == "assistant.message":
            self.response(number, data, at)
        elif kind == "tool.execution_start":
            self.call(data.toolCallId, data.toolName, data.arguments, number, at, None)
        elif kind == "tool.execution_complete":
            self.result(number, data, at)
        elif kind == "permission.completed":
            if data.result is not None and data.result.kind == BY_THE_PERSON:
                self.denied[data.toolCallId or ""] = data.result.feedback or ""
        elif kind == "abort":
            last = draft.entries[-1] if draft.entries else None
            if not (isinstance(last, Signal) and last.kind == "interruption"):
                draft.signal("interruption", "", number, at)
        elif kind == "system.notification":
            draft.said("system", raw_text(data.content), number, at)
        else:
            self.session_event(number, kind, data, at)

    def went_back(self, number: int, line: Line) -> None:
        """Events are a chain: a prompt that hangs on an earlier one leaves what came after it."""
        now = len(self.draft.entries)
        undone = now - self.ended.get(line.parentId or "", now)
        if undone > 0:
            self.draft.signal("rollback", "", number, line.timestamp, undoes=undone)

    def session_event(self, number: int, kind: str, data: Data, at: str | None) -> None:
        draft = self.draft
        if kind == "session.start":
            draft.id = draft.id or data.sessionId
            draft.version = draft.version or data.copilotVersion
            draft.started_at = draft.started_at or iso_time(data.startTime) or at
            draft.model = data.selectedModel or draft.model
        elif kind == "session.shutdown":
            draft.ended_at = at
        elif kind == "session.model_change":
            draft.model = data.newModel or draft.model
        elif kind == "session.title_changed" and data.title:
            draft.metadata["title"] = data.title
        elif kind == "session.error":
            draft.signal("api_error", data.message or "", number, at)
        elif kind in ("session.truncation", "session.compaction_complete"):
            draft.signal("compaction", "", number, at)
            draft.said("system", data.summaryContent or "", number, at)
        if data.context is not None and kind in ("session.start", "session.resume"):
            draft.cwd = draft.cwd or data.context.cwd
            if data.context.branch:
                draft.metadata.setdefault("branch", data.context.branch)

    def response(self, number: int, data: Data, at: str | None) -> None:
        draft = self.draft
        draft.model = data.model or draft.model
        step = data.messageId or data.apiCallId or str(number)
        draft.said("assistant", without_data_uris(raw_text(data.content)), number, at, step)
        for request in data.toolRequests or ():
            self.call(request.toolCallId, request.name, request.arguments, number, at, step)

    def call(
        self,
        call_id: str | None,
        tool: str | None,
        arguments: Raw,
        number: int,
        at: str | None,
        step: str | None,
    ) -> None:
        """A call, asked for by the model and then said to start: the first of both counts."""
        if call_id is None or call_id in self.calls:
            return
        self.calls.add(call_id)
        self.draft.called(call_id, tool or "", value_of(arguments), number, at, step)

    def result(self, number: int, data: Data, at: str | None) -> None:
        draft, call_id = self.draft, data.toolCallId or ""
        outcome = data.error or data.result or Outcome()
        text = without_data_uris(raw_text(outcome.content) or outcome.message or "")
        status: Status = "ok" if data.success else "error"
        words = self.denied.pop(call_id, None)
        if not data.success and (words is not None or outcome.code in ("rejected", "denied")):
            status = "rejected"
            found = FEEDBACK.search(text)
            words = words or (found[1].strip() if found else "")
        code = last_number_in(EXIT_CODE, text)
        child = call_id if call_id in self.children else None
        draft.returned(call_id, text, number, at, status, code, child)
        if status == "rejected" and words:
            draft.signal("rejection", words, number, at, call_id=call_id)
