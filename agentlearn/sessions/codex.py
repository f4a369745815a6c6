"""Codex rollout files: an envelope a line, everything said twice.

`response_item` is the truth; `event_msg` repeats it and is read only for what stands nowhere
else: interruptions, rollbacks, failures, and a person's words where no item has them. A fork
copies its parent's history in front: those lines are inherited and are not read as this
session's own. Exit codes hide in six places; where there is none, none is made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Raw, Struct, structs

from agentlearn.sessions import document
from agentlearn.sessions.codex_fork import Fork
from agentlearn.sessions.codex_mirror import Mirror
from agentlearn.sessions.codex_output import Part, Wrapped, judge_output, output_text, parts_text
from agentlearn.sessions.codex_running import Running
from agentlearn.sessions.draft import Draft, possible_exit_code
from agentlearn.sessions.lines import objects
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Result, Session, Status

DIALECT = "codex"
REQUEST = "## My request for Codex:"
"""What an editor puts before the person's own words ends with this line."""
HARNESS = (
    "<environment_context>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>",
    "<subagent_notification>", "<user_action>", "<recommended_plugins>", "<user_instructions>",
    "<INSTRUCTIONS>", "<permissions instructions>",
)  # fmt: skip
FAILED = re.compile(rb'\s*\{\s*"Err"')
IS_TRUE = re.compile(rb'"isError"\s*:\s*true')
"""The result of a tool that failed, as its raw JSON."""
STARTING = ("function_call", "custom_tool_call", "local_shell_call")
KNOWN_TYPES = {
    "turn_context", "world_state", "inter_agent_communication",
    "inter_agent_communication_metadata", "security_risk_score",
}  # fmt: skip


class Error(Struct, gc=False):
    message: str | None = None


class Item(Struct, gc=False):
    """An item completed, in the paginated history."""

    type: str | None = None
    text: str | None = None
    content: str | list[Part] | None = None
    id: str | None = None
    exit_code: int | None = None
    status: str | None = None
    result: Raw = Raw(b"")


class Payload(Struct, gc=False):
    """The fields of all payloads that are read, in one."""

    type: str | None = None
    role: str | None = None
    content: str | list[Part] | None = None
    name: str | None = None
    arguments: str | dict[str, Any] | list[Any] | None = None
    input: str | dict[str, Any] | list[Any] | None = None
    call_id: str | None = None
    output: str | list[Part] | Wrapped | None = None
    action: Raw = Raw(b"")
    status: str | None = None
    message: str | None = None
    reason: str | None = None
    num_turns: int | None = None
    exit_code: int | None = None
    success: bool | None = None
    result: Raw = Raw(b"")
    error: Error | str | None = None
    item: Item | None = None
    # session_meta and turn_context
    id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    cli_version: str | None = None
    model: str | None = None
    source: Raw = Raw(b"")
    git: dict[str, str | None] | None = None
    forked_from_id: str | None = None
    parent_thread_id: str | None = None
    agent_nickname: str | None = None
    history_mode: str | None = None


class Line(Struct, gc=False):
    timestamp: str | None = None
    type: str = ""
    payload: Payload | None = None


def read_lines(source: Source) -> Iterator[Session]:
    reading = Reading(source)
    if b'"payload"' in source.stream.peek(64 * 1024):
        lines: Iterable[tuple[int, Line]] = objects(source.stream, Line, reading.draft.warn)
    else:
        items = objects(source.stream, Payload, reading.draft.warn)
        lines = ((number, _wrapped(item)) for number, item in items)
    yield reading.session(lines)


def read_document(source: Source) -> Iterator[Session]:
    """The first command line program wrote one JSON object: a session and its items."""
    value = document.as_object(document.load(source))
    reading = Reading(source, unit_is_entry=True)
    items = document.numbered(document.items(value.get("items")), Payload, reading.draft)
    meta = document.fields(value.get("session"))
    reading.draft.id = document.text_of(meta.get("id"))
    reading.draft.started_at = document.text_of(meta.get("timestamp"))
    yield reading.session((number, _wrapped(item)) for number, item in items)


def _wrapped(item: Payload) -> Line:
    """A bare item of 2025 in today's envelope."""
    kind = "response_item" if item.type else "session_meta"
    return Line(timestamp=item.timestamp, type=kind, payload=item)


class Reading:
    """The session of one file while its lines come in."""

    def __init__(self, source: Source, unit_is_entry: bool = False) -> None:
        self.source = source
        self.draft = Draft(DIALECT, source.name, "entry" if unit_is_entry else "line")
        self.draft.agent = "codex"
        self.unknown: dict[str, int] = {}
        self.fork = Fork()
        self.is_sub_agent = False
        self.is_paginated = False
        self.is_stopped = False
        self.cut_short: tuple[int, str | None] | None = None
        """The output of a call that the person aborted, as long as no event has told it."""
        self.prompts: list[int] = []
        self.calls: set[str] = set()
        self.running = Running()
        self.said_by_person, self.said_by_agent = Mirror(), Mirror()
        self.exit_codes: dict[str, int] = {}
        self.verdicts: dict[str, Status] = {}

    def session(self, lines: Iterable[tuple[int, Line]]) -> Session:
        draft = self.draft
        for number, line in lines:
            payload = line.payload
            if payload is None:
                self.unknown.setdefault(line.type or "none", number)
            elif line.type == "response_item":
                if self.is_inherited(line):
                    self.inherited(number, line.timestamp, payload)
                else:
                    self.item(number, line.timestamp, payload)
            elif line.type == "event_msg":
                if not self.is_inherited(line):
                    self.event(number, line.timestamp, payload)
            elif line.type == "session_meta":
                self.meta(number, line, payload)
            elif line.type == "compacted":
                if not self.is_inherited(line):
                    draft.signal("compaction", payload.message or "", number, line.timestamp)
            elif line.type == "turn_context":
                draft.model = payload.model or draft.model
            elif line.type not in KNOWN_TYPES:
                self.unknown.setdefault(line.type, number)
        for kind, number in self.unknown.items():
            draft.warn(number, f"unknown line type {kind[:40]!r}", lost=False)
        self.take_own_prompt()
        self.go_on()
        self.add_late_verdicts()
        if self.fork.copied:
            draft.metadata["inherited_lines"] = self.fork.copied
        return draft.finish(draft.id or self.source.id_from_bytes())

    def is_inherited(self, line: Line) -> bool:
        if not self.fork.is_copying:
            return False
        if self.fork.copies(line.timestamp):
            return True
        self.take_own_prompt()
        return False

    def inherited(self, number: int, at: str | None, payload: Payload) -> None:
        if payload.type == "message" and payload.role == "user":
            text = parts_text(payload.content)
            if not text.lstrip().startswith(HARNESS):
                self.fork.note((number, at, text))
        elif payload.type != "reasoning" and payload.role in (None, "assistant"):
            self.fork.note(None)

    def take_own_prompt(self) -> None:
        prompt = self.fork.own_prompt()
        if prompt is not None:
            self.person(*prompt)

    def meta(self, number: int, line: Line, payload: Payload) -> None:
        draft = self.draft
        if draft.id is None:
            draft.id = payload.id
            draft.started_at = payload.timestamp or line.timestamp
            draft.cwd, draft.version = payload.cwd, payload.cli_version
            by_agent, spawned_by = _started_by(payload.source)
            draft.parent = payload.parent_thread_id or spawned_by
            self.is_sub_agent = by_agent or draft.parent is not None
            self.is_paginated = payload.history_mode == "paginated"
            if payload.git and payload.git.get("branch"):
                draft.metadata["branch"] = payload.git["branch"]
            if payload.agent_nickname:
                draft.metadata["nickname"] = payload.agent_nickname
            if payload.forked_from_id:
                draft.metadata["forked_from"] = payload.forked_from_id
            self.fork.begin(line.timestamp, bool(payload.forked_from_id))
        elif payload.id not in (None, draft.id) and self.fork.meets_other_head(line.timestamp):
            # All that came so far was copied as well.
            draft.metadata.setdefault("forked_from", payload.id)
            draft.entries.clear()
            self.cut_short = None
            self.prompts.clear()
            self.calls.clear()
            self.running.calls.clear()

    def item(self, number: int, at: str | None, payload: Payload) -> None:
        draft, kind = self.draft, payload.type
        self.is_stopped = self.is_stopped and kind not in STARTING
        if kind == "message":
            self.message(number, at, payload)
        elif kind in ("function_call", "custom_tool_call"):
            arguments = payload.arguments if payload.arguments is not None else payload.input
            self.call(payload.call_id, payload.name or kind, arguments, number, at)
        elif kind in ("function_call_output", "custom_tool_call_output", "tool_search_output"):
            self.output(number, at, payload)
        elif kind in ("local_shell_call", "tool_search_call", "web_search_call"):
            action = memoryview(payload.action) if payload.action else payload.arguments
            tool = kind.removesuffix("_call")
            self.call(payload.call_id or payload.id, tool, action, number, at)
        elif kind == "agent_message":
            draft.said("system", parts_text(payload.content), number, at)
        elif kind == "image_generation_call":
            self.call(payload.call_id or payload.id, "image_generation", None, number, at)
        elif kind not in ("reasoning", "compaction", "context_compaction"):
            self.unknown.setdefault(str(kind), number)

    def call(self, id: str | None, tool: str, arguments: Any, number: int, at: str | None) -> None:
        if id is None or id not in self.calls:
            running = self.running
            before = running.before(tool, arguments) if running.calls else None
            made = self.draft.called(id, tool, arguments, number, at, continues=before)
            self.calls.add(made)

    def message(self, number: int, at: str | None, payload: Payload) -> None:
        text = parts_text(payload.content)
        if payload.role == "assistant":
            self.answer(number, at, text)
        elif payload.role == "user":
            if text.lstrip().startswith("<turn_aborted>"):
                self.stopped(number, at)
            elif text.lstrip().startswith(HARNESS):
                self.draft.said("system", text, number, at)
            else:
                self.person(number, at, text)

    def person(self, number: int, at: str | None, text: str, is_event: bool = False) -> None:
        draft = self.draft
        text = text.split(REQUEST, 1)[-1].strip()
        if self.said_by_person.is_echo(text, is_event, len(draft.entries)) or not text:
            return
        self.go_on()
        self.prompts.append(len(draft.entries))
        if self.is_sub_agent:  # what it is told comes from the agent that started it
            draft.goal = draft.goal or text
        draft.said("system" if self.is_sub_agent else "user", text, number, at)

    def answer(self, number: int, at: str | None, text: str, is_event: bool = False) -> None:
        entries = self.draft.entries
        if self.is_paginated and self.said_by_agent.is_echo(text, is_event, len(entries)):
            return
        self.draft.said("assistant", text, number, at)

    def stopped(self, number: int, at: str | None) -> None:
        """An interruption stands in the file as an event, as a message, and in an output."""
        if not self.is_stopped:
            self.draft.signal("interruption", "", number, at)
        self.is_stopped = True
        self.cut_short = None

    def go_on(self) -> None:
        """The turn is over: an interruption that only an output told is taken from there."""
        if self.cut_short is not None:
            self.stopped(*self.cut_short)
        self.is_stopped = False

    def output(self, number: int, at: str | None, payload: Payload) -> None:
        call_id = payload.call_id or ""
        text, code = output_text(payload.output)
        status, said_code = judge_output(text)
        if code is None:
            code = said_code if said_code is not None else self.exit_codes.get(call_id)
        if status == "ok":
            status = self.verdicts.get(call_id, status)
        self.running.note(call_id, text)
        self.draft.returned(call_id, text, number, at, status, code)
        if status == "interrupted" and not self.is_stopped:
            self.cut_short = self.cut_short or (number, at)

    def event(self, number: int, at: str | None, payload: Payload) -> None:
        kind = payload.type
        if kind == "user_message":
            self.person(number, at, payload.message or "", is_event=True)
        elif kind == "turn_aborted":
            self.cut_short = None
            if payload.reason in (None, "interrupted"):
                self.stopped(number, at)
        elif kind == "thread_rolled_back":
            self.roll_back(number, at, payload.num_turns or 0)
        elif kind in ("exec_command_end", "patch_apply_end", "mcp_tool_call_end"):
            self.ended(payload.call_id, payload, payload.success is False)
        elif kind in ("task_complete", "error", "stream_error"):
            self.ended_badly(number, at, payload)
        elif kind == "item_completed" and payload.item is not None:
            self.page_item(number, at, payload.item)

    def ended(self, call_id: str | None, end: Payload | Item, failed: bool = False) -> None:
        """How a call ended, where its output does not say so."""
        if not call_id:
            return
        if end.exit_code is not None:
            self.exit_codes[call_id] = end.exit_code
        if end.status == "declined":
            self.verdicts[call_id] = "rejected"
        elif failed or (end.result and _is_failure(bytes(end.result))):
            self.verdicts[call_id] = "error"

    def ended_badly(self, number: int, at: str | None, payload: Payload) -> None:
        error = payload.error
        text = error.message if isinstance(error, Error) else error
        if payload.type != "task_complete":
            text = text or payload.message
        if text:
            self.draft.signal("api_error", text, number, at)

    def page_item(self, number: int, at: str | None, item: Item) -> None:
        """In a paginated history this is where the words stand."""
        if item.type in ("CommandExecution", "FileChange", "McpToolCall"):
            self.ended(item.id, item)
        elif self.is_paginated and item.type == "UserMessage":
            self.person(number, at, item.text or parts_text(item.content), is_event=True)
        elif self.is_paginated and item.type == "AgentMessage":
            self.answer(number, at, item.text or parts_text(item.content), is_event=True)

    def roll_back(self, number: int, at: str | None, turns: int) -> None:
        """The last N prompts that still stood, with all that came of them, were undone."""
        self.go_on()
        end = len(self.draft.entries)
        first = end
        if turns > 0:
            first = self.prompts[-turns] if turns <= len(self.prompts) else 0
            del self.prompts[-turns:]
        self.draft.signal("rollback", "", number, at, undoes=end - first)

    def add_late_verdicts(self) -> None:
        """Exit codes and failures that were reported only after the output itself."""
        if not (self.exit_codes or self.verdicts):
            return
        entries = self.draft.entries
        for index, entry in enumerate(entries):
            if type(entry) is not Result:
                continue
            code = entry.exit_code
            if code is None:
                code = self.exit_codes.get(entry.call_id)
            status = entry.status
            if status == "ok":
                status = self.verdicts.get(entry.call_id, status)
            if (code, status) != (entry.exit_code, entry.status):
                entries[index] = structs.replace(
                    entry, status=status, exit_code=possible_exit_code(code)
                )


def _started_by(source: Raw) -> tuple[bool, str | None]:
    """Whether an agent started this session, and which, as its `source` tells it."""
    value = document.value_of(source) if source else None
    by_agent = value.get("subagent") if isinstance(value, dict) else None
    spawn = by_agent.get("thread_spawn") if isinstance(by_agent, dict) else None
    parent = spawn.get("parent_thread_id") if isinstance(spawn, dict) else None
    return bool(by_agent), parent if isinstance(parent, str) else None


def _is_failure(result: bytes) -> bool:
    """Found by plain search: results are long, and an expression would look at every byte."""
    if FAILED.match(result):
        return True
    at = result.find(b'"isError"')
    while at >= 0:
        if IS_TRUE.match(result, at):
            return True
        at = result.find(b'"isError"', at + 1)
    return False
