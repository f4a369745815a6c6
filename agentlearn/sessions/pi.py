"""Pi, and OpenClaw which writes the same files: a header, then entries that form a tree.

Entries stand in the order they were made; each names its parent. The path from the last entry to
the root is what counts, every entry off it was left by the person: it stays where it is, and a
rollback follows each such stretch. Old files have no ids and are one line. What the person ran
with `!` is `system`: they told the agent nothing by it, they showed it something.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from msgspec import UNSET, Raw, Struct, UnsetType

from agentlearn.sessions.document import value_of
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import objects
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text, last_number_in
from agentlearn.sessions.values import Entry, Session, Signal, Status

DIALECT = "pi"
EXIT_CODE = re.compile(r"Command exited with code (-?\d{1,6})\)?\s*\Z")
# OpenClaw puts what it knows of a chat before what the person wrote in it.
PREFACE = re.compile(r"\A(?:[\w ]+ \(untrusted metadata\):\s*```json\n.*?\n```\s*)+", re.DOTALL)
ECHOES = ("delivery-mirror", "gateway-injected")
HARNESS = (
    "A new session was started via /new or /reset.", "System: [", "[cron:", "Read HEARTBEAT.md",
    "Pre-compaction memory flush", "[Subagent Context]", "<system-reminder>",
)  # fmt: skip
SILENT = {"model_change", "thinking_level_change", "custom", "label", "session_info"}


class Message(Struct):
    role: str = ""
    content: Raw = Raw(b"")
    model: str | None = None
    provider: str | None = None
    responseId: str | None = None
    stopReason: str | None = None
    errorMessage: str | None = None
    toolCallId: str | None = None
    isError: bool | None = None
    details: Raw = Raw(b"")
    command: str | None = None
    output: str | None = None
    exitCode: int | None = None
    cancelled: bool | None = None
    summary: str | None = None


class Line(Struct):
    type: str = ""
    id: str | None = None
    parentId: str | UnsetType | None = UNSET
    timestamp: str | None = None
    cwd: str | None = None
    parentSession: str | None = None
    branchedFrom: str | None = None
    modelId: str | None = None
    message: Message | None = None
    summary: str | None = None
    content: Raw = Raw(b"")
    name: str | None = None


class _Node(Struct):
    """An entry of the tree: its parent, and how far the list had grown after it."""

    parent: int | None
    line: int
    at: str | None
    end: int


def read_lines(source: Source) -> Iterator[Session]:
    reading = _Reading(Draft(DIALECT, source.name))
    for number, line in objects(source.stream, Line, reading.draft.warn):
        reading.take(number, line)
    draft = reading.draft
    draft.entries = reading.with_rollbacks()
    if source.path is not None and ".openclaw" in source.path.parts:
        draft.agent = "openclaw"
    yield draft.finish(draft.id or source.id_from_bytes())


def _may_restart(line: Line) -> bool:
    """Whether the person can have gone back to the very start with this entry."""
    role = line.message.role if line.message is not None else ""
    return line.type == "branch_summary" or role == "user"


class _Reading:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        draft.agent = "pi"
        self.nodes: list[_Node] = []
        self.of_id: dict[str, int] = {}
        self.unknown: set[str] = set()
        self.has_header = False

    def take(self, number: int, line: Line) -> None:
        if line.type == "session":
            self.header(line)
            return
        self.entry(number, line)
        parent: int | None = len(self.nodes) - 1 if self.nodes else None
        if isinstance(line.parentId, str):  # one that cannot be found is taken to be the last
            parent = self.of_id.get(line.parentId, parent)
        elif line.parentId is None and _may_restart(line):
            parent = None
        if line.id is not None:
            self.of_id[line.id] = len(self.nodes)
        self.nodes.append(_Node(parent, number, line.timestamp, len(self.draft.entries)))

    def header(self, line: Line) -> None:
        if self.has_header:
            return
        self.has_header = True
        draft = self.draft
        draft.id, draft.cwd, draft.started_at = line.id, line.cwd, line.timestamp
        draft.model = line.modelId
        came_from = line.parentSession or line.branchedFrom
        if came_from:  # a path whose name ends in the id, or the id itself
            draft.parent = PurePath(came_from).name.removesuffix(".jsonl").rpartition("_")[2]

    def entry(self, number: int, line: Line) -> None:
        draft, at = self.draft, line.timestamp
        if line.type == "message":
            if line.message is not None:
                self.message(number, line, line.message)
        elif line.type == "compaction":
            draft.signal("compaction", "", number, at)
            draft.said("system", line.summary or "", number, at)
        elif line.type == "branch_summary":
            draft.said("system", line.summary or "", number, at)
        elif line.type == "custom_message":
            draft.said("system", content_text(value_of(line.content)), number, at)
        elif line.type == "model_change":
            draft.model = line.modelId or draft.model
        elif line.type == "session_info":
            if line.name:
                draft.metadata["title"] = line.name
        elif line.type not in SILENT and line.type not in self.unknown:
            self.unknown.add(line.type)
            draft.warn(number, f"unknown entry type {line.type[:40]!r}", lost=False)

    def message(self, number: int, line: Line, message: Message) -> None:
        draft, at, role = self.draft, line.timestamp, message.role
        if role == "user":
            text = PREFACE.sub("", content_text(value_of(message.content)))
            by_harness = text.lstrip().startswith(HARNESS)
            draft.said("system" if by_harness else "user", text, number, at)
        elif role == "assistant":
            self.response(number, line, message)
        elif role == "toolResult":
            self.result(number, message, at)
        elif role == "bashExecution":
            code = f"\n(exit code {message.exitCode})" if message.exitCode else ""
            draft.said("system", f"$ {message.command}\n{message.output or ''}{code}", number, at)
        elif role in ("custom", "branchSummary", "compactionSummary", "hookMessage", "system"):
            text = message.summary or content_text(value_of(message.content))
            draft.said("system", text, number, at)
        elif f"role {role}" not in self.unknown:
            self.unknown.add(f"role {role}")
            draft.warn(number, f"unknown message role {role[:40]!r}", lost=False)

    def response(self, number: int, line: Line, message: Message) -> None:
        draft, at = self.draft, line.timestamp
        if message.model in ECHOES:
            draft.agent = "openclaw"
            return
        draft.model = message.model or draft.model
        step = line.id or message.responseId or str(number)
        content = value_of(message.content)
        for block in content if isinstance(content, list) else [content]:
            if isinstance(block, str):
                draft.said("assistant", block, number, at, step)
            elif isinstance(block, dict) and block.get("type") == "text":
                draft.said("assistant", content_text(block), number, at, step)
            elif isinstance(block, dict) and block.get("type") == "toolCall":
                call_id, tool = block.get("id"), block.get("name")
                draft.called(
                    call_id if isinstance(call_id, str) else None,
                    tool if isinstance(tool, str) else "",
                    block.get("arguments"),
                    number,
                    at,
                    step,
                )
        if message.stopReason == "aborted":
            draft.signal("interruption", "", number, at)
        elif message.stopReason == "error":
            draft.signal("api_error", message.errorMessage or "", number, at)

    def result(self, number: int, message: Message, at: str | None) -> None:
        text = content_text(value_of(message.content))
        details = value_of(message.details)
        known = details if isinstance(details, dict) else {}
        status: Status = "error" if message.isError or known.get("status") == "error" else "ok"
        if message.isError and text.rstrip().endswith(("Command aborted", "Operation aborted")):
            status = "interrupted"
        code = known.get("exitCode")
        if type(code) is not int:
            code = last_number_in(EXIT_CODE, text)
        self.draft.returned(message.toolCallId or "", text, number, at, status, code)

    def with_rollbacks(self) -> list[Entry]:
        """The entries, with a rollback after each stretch that is not on the path to the last."""
        live: set[int] = set()
        place = len(self.nodes) - 1 if self.nodes else None
        while place is not None and place not in live:
            live.add(place)
            place = self.nodes[place].parent
        if len(live) == len(self.nodes):
            return self.draft.entries
        entries: list[Entry] = []
        start = undone = 0
        for place, node in enumerate(self.nodes):
            if place in live and undone:
                entries.append(Signal("rollback", "", node.line, node.at, undoes=undone))
                undone = 0
            entries += self.draft.entries[start : node.end]
            undone += 0 if place in live else node.end - start
            start = node.end
        return entries
