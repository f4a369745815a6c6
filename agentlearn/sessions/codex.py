"""Codex rollout files: an envelope a line, everything said twice.

`response_item` is the truth; `event_msg` repeats it and is read only for what stands nowhere
else: interruptions, rollbacks, failures, and a person's words where no item has them. A fork
copies its parent's history in front: those lines are inherited and are not read as this
session's own. Exit codes hide in five places; in code mode there is none, and none is made up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from msgspec import Raw, Struct

from agentlearn.sessions import document
from agentlearn.sessions.codex_output import judge_output, output_text
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import objects
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text, parse_time
from agentlearn.sessions.values import Message, Result, Session

DIALECT = "codex"
REQUEST = "## My request for Codex:"
"""What an editor puts before the person's own words ends with this line."""
HARNESS = (
    "<environment_context>", "# AGENTS.md instructions", "<turn_aborted>", "<skill>",
    "<subagent_notification>", "<user_action>", "<recommended_plugins>", "<user_instructions>",
    "<INSTRUCTIONS>", "<permissions instructions>",
)  # fmt: skip
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
    content: Raw = Raw(b"")


class Payload(Struct, gc=False):
    """The fields of all payloads that are read, in one."""

    type: str | None = None
    role: str | None = None
    content: Raw = Raw(b"")
    name: str | None = None
    arguments: str | None = None
    input: str | None = None
    call_id: str | None = None
    output: Raw = Raw(b"")
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
        self.inherits_until: str | None = None
        self.mirrored: list[str] = []
        self.exit_codes: dict[str, int] = {}
        self.failed: set[str] = set()
        self.paginated = False

    def session(self, lines: Iterable[tuple[int, Line]]) -> Session:
        draft = self.draft
        for number, line in lines:
            payload = line.payload
            if payload is None:
                self.unknown.setdefault(line.type or "none", number)
            elif line.type == "response_item":
                if not self.is_inherited(line):
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
        self.add_late_verdicts()
        return draft.finish(draft.id or self.source.id_from_bytes())

    def is_inherited(self, line: Line) -> bool:
        """Copied from the parent: written before this session, or in the burst of the fork."""
        until = self.inherits_until
        if until is None:
            return False
        if line.timestamp is not None and line.timestamp <= until:
            self.draft.metadata["inherited_lines"] = (
                self.draft.metadata.get("inherited_lines", 0) + 1
            )
            return True
        self.inherits_until = None
        return False

    def meta(self, number: int, line: Line, payload: Payload) -> None:
        draft = self.draft
        if draft.id is None:
            draft.id = payload.id
            draft.started_at = payload.timestamp or line.timestamp
            draft.cwd, draft.version = payload.cwd, payload.cli_version
            draft.parent = payload.parent_thread_id or _spawned_by(payload.source)
            self.paginated = payload.history_mode == "paginated"
            if payload.git and payload.git.get("branch"):
                draft.metadata["branch"] = payload.git["branch"]
            if payload.agent_nickname:
                draft.metadata["nickname"] = payload.agent_nickname
            if payload.forked_from_id:
                draft.metadata["forked_from"] = payload.forked_from_id
                self.inherit(line)
        elif payload.id not in (None, draft.id) and self.inherits_until is None:
            # The parent's own head among the lines: all that came so far was copied as well.
            draft.metadata.setdefault("forked_from", payload.id)
            draft.entries.clear()
            self.inherit(line)

    def inherit(self, line: Line) -> None:
        written = parse_time(line.timestamp)
        if written is not None:
            until = (written + timedelta(seconds=1)).isoformat(timespec="milliseconds")
            self.inherits_until = until.replace("+00:00", "Z")

    def item(self, number: int, at: str | None, payload: Payload) -> None:
        draft, kind = self.draft, payload.type
        if kind == "message":
            self.message(number, at, payload)
        elif kind in ("function_call", "custom_tool_call"):
            arguments = payload.arguments if payload.arguments is not None else payload.input
            draft.called(payload.call_id, payload.name or kind, arguments, number, at)
        elif kind in ("function_call_output", "custom_tool_call_output", "tool_search_output"):
            self.output(number, at, payload)
        elif kind in ("local_shell_call", "tool_search_call", "web_search_call"):
            call_id = payload.call_id or payload.id
            action = memoryview(payload.action) if payload.action else payload.arguments
            draft.called(call_id, kind.removesuffix("_call"), action, number, at)
        elif kind == "agent_message":
            draft.said("system", content_text(document.value_of(payload.content)), number, at)
        elif kind == "image_generation_call":
            draft.called(payload.call_id or payload.id, "image_generation", None, number, at)
        elif kind not in ("reasoning", "compaction", "context_compaction"):
            self.unknown.setdefault(str(kind), number)

    def message(self, number: int, at: str | None, payload: Payload) -> None:
        text = content_text(document.value_of(payload.content))
        if payload.role == "assistant":
            self.draft.said("assistant", text, number, at)
        elif payload.role == "user":
            if text.lstrip().startswith(HARNESS):
                if not text.lstrip().startswith("<turn_aborted>"):
                    self.draft.said("system", text, number, at)
            else:
                self.person(number, at, text)

    def person(self, number: int, at: str | None, text: str) -> None:
        """A person's words, which the file says twice: once as an item, once as an event."""
        text = text.split(REQUEST, 1)[-1].strip()
        if text in self.mirrored:
            self.mirrored.remove(text)
            return
        self.mirrored.append(text)
        if self.draft.parent:  # what a sub-agent is told comes from the agent that started it
            self.draft.goal = self.draft.goal or text
            self.draft.said("system", text, number, at)
        else:
            self.draft.said("user", text, number, at)

    def output(self, number: int, at: str | None, payload: Payload) -> None:
        call_id = payload.call_id or ""
        text, code = output_text(payload.output)
        status, said_code = judge_output(text)
        if code is None:
            code = said_code if said_code is not None else self.exit_codes.get(call_id)
        if status == "ok" and call_id in self.failed:
            status = "error"
        self.draft.returned(call_id, text, number, at, status, code)

    def event(self, number: int, at: str | None, payload: Payload) -> None:
        draft, kind = self.draft, payload.type
        if kind == "user_message":
            self.person(number, at, payload.message or "")
        elif kind == "turn_aborted":
            if payload.reason in (None, "interrupted"):
                draft.signal("interruption", "", number, at)
        elif kind == "thread_rolled_back":
            self.roll_back(number, at, payload.num_turns or 0)
        elif kind == "exec_command_end":
            if payload.call_id and payload.exit_code is not None:
                self.exit_codes[payload.call_id] = payload.exit_code
        elif kind in ("patch_apply_end", "mcp_tool_call_end"):
            failed = payload.success is False or bytes(payload.result).startswith(b'{"Err"')
            if payload.call_id and failed:
                self.failed.add(payload.call_id)
        elif kind in ("task_complete", "error", "stream_error"):
            self.ended_badly(number, at, payload)
        elif self.paginated:
            self.page_item(number, at, payload)

    def ended_badly(self, number: int, at: str | None, payload: Payload) -> None:
        error = payload.error
        text = error.message if isinstance(error, Error) else error
        if payload.type != "task_complete":
            text = text or payload.message
        if text:
            self.draft.signal("api_error", text, number, at)

    def page_item(self, number: int, at: str | None, payload: Payload) -> None:
        item = payload.item
        if payload.type == "agent_message":
            self.draft.said("assistant", payload.message or "", number, at)
        elif item is not None and item.type in ("UserMessage", "user_message"):
            self.person(number, at, item.text or content_text(document.value_of(item.content)))

    def roll_back(self, number: int, at: str | None, turns: int) -> None:
        """The last N prompts with all that came of them were undone."""
        entries, index = self.draft.entries, len(self.draft.entries)
        while index and turns > 0:
            index -= 1
            entry = entries[index]
            if type(entry) is Message and entry.role == "user":
                turns -= 1
        self.draft.signal("rollback", "", number, at, undoes=len(entries) - index)

    def add_late_verdicts(self) -> None:
        """Exit codes and failures that were reported only after the output itself."""
        if not (self.exit_codes or self.failed):
            return
        entries = self.draft.entries
        for index, entry in enumerate(entries):
            if type(entry) is not Result:
                continue
            code = entry.exit_code
            if code is None:
                code = self.exit_codes.get(entry.call_id)
            status = entry.status
            if status == "ok" and entry.call_id in self.failed:
                status = "error"
            if (code, status) != (entry.exit_code, entry.status):
                entries[index] = Result(
                    entry.call_id, entry.packed, entry.line, entry.at, status, code
                )


def _spawned_by(source: Raw) -> str | None:
    """The parent of a sub-agent, as its `source` tells it."""
    value = document.value_of(source) if source else None
    spawn = value.get("subagent") if isinstance(value, dict) else None
    spawn = spawn.get("thread_spawn") if isinstance(spawn, dict) else None
    parent = spawn.get("parent_thread_id") if isinstance(spawn, dict) else None
    return parent if isinstance(parent, str) else None
