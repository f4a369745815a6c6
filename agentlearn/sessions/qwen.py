"""Qwen Code: the envelope of Claude Code around the parts of Gemini.

One response may be several lines with one uuid. A rewind is a line of its own that names the line
it goes back to: what came after that is undone. Lines of a sub-agent become a session of their
own, whose prompt is the agent's and not a person's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Raw, Struct

from agentlearn.sessions.document import value_of
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.gemini_parts import (
    calls_of,
    exit_code_of,
    is_error_response,
    response_text,
    responses_of,
    status_of,
    words_of,
)
from agentlearn.sessions.lines import objects
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Session

DIALECT = "qwen"
BY_THE_PERSON = (None, "", "mid_turn_user_message", "at_command", "realtime_message")
HARNESS = ("<system-reminder>", "<hook_context>", "This is the Qwen Code. We are")
KNOWN = {"user", "assistant", "tool_result", "system"}


class Content(Struct):
    role: str | None = None
    parts: Raw = Raw(b"")


class ToolResult(Struct):
    callId: str | None = None
    status: str | None = None
    resultDisplay: Raw = Raw(b"")


class Line(Struct):
    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parentUuid: str | None = None
    sessionId: str | None = None
    agentId: str | None = None
    isSidechain: bool | None = None
    provenance: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    version: str | None = None
    gitBranch: str | None = None
    model: str | None = None
    message: Content | None = None
    toolCallResult: ToolResult | None = None
    systemPayload: Raw = Raw(b"")


def read_lines(source: Source) -> Iterator[Session]:
    main = _Chain(Draft(DIALECT, source.name))
    chains: dict[str, _Chain] = {"": main}
    unknown: set[str] = set()
    for number, line in source.own(objects(source.stream, Line, main.draft.warn)):
        key = line.agentId or "side" if line.isSidechain else ""
        if key not in chains:
            chains[key] = _Chain(Draft(DIALECT, source.name), key, line.sessionId)
        if line.type not in KNOWN and line.type not in unknown:
            unknown.add(line.type)
            main.draft.warn(number, f"unknown line type {line.type[:40]!r}", lost=False)
        chains[key].take(number, line)
    found = list(chains.values())
    if not main.draft.entries and len(found) > 1:  # the file of a sub-agent alone
        found.remove(main)
        found[0].draft.warnings = main.draft.warnings
    for chain in found:
        yield chain.draft.finish(chain.draft.id or source.id_from_bytes())


class _Chain:
    """The person's own session, or that of a sub-agent."""

    def __init__(self, draft: Draft, key: str = "", parent: str | None = None) -> None:
        self.draft = draft
        draft.agent = "qwen-code"
        draft.id, draft.parent = key or None, parent
        self.side = bool(key)
        self.ended: dict[str, int] = {}
        """How many entries there were after a line, for going back to it."""
        self.prompt_at: dict[str, int] = {}
        self.tools: dict[str, str] = {}

    def take(self, number: int, line: Line) -> None:
        draft = self.draft
        draft.id = draft.id or line.sessionId
        draft.version = draft.version or line.version
        draft.cwd = draft.cwd or line.cwd
        if line.gitBranch:
            draft.metadata.setdefault("branch", line.gitBranch)
        parts = value_of(line.message.parts) if line.message is not None else None
        if line.type == "user":
            self.prompt(number, line, parts)
        elif line.type == "assistant":
            self.response(number, line, parts)
        elif line.type == "tool_result":
            self.results(number, line, parts)
        elif line.type == "system":
            self.event(number, line)
        if line.uuid is not None:
            self.ended[line.uuid] = len(draft.entries)

    def prompt(self, number: int, line: Line, parts: Any) -> None:
        draft, at = self.draft, line.timestamp
        theirs = [word for word in words_of(parts) if not word.lstrip().startswith(HARNESS)]
        payload = _payload(line)
        shown = payload.get("displayText")
        text = shown if isinstance(shown, str) and shown else "\n".join(theirs)
        by_person = line.subtype in BY_THE_PERSON and line.provenance in (None, "real_user")
        if self.side:
            draft.goal = draft.goal or text or None
        if by_person and not self.side:
            self.went_back(number, line)
        draft.said("user" if by_person and not self.side else "system", text, number, at)
        for word in words_of(parts):
            if word.lstrip().startswith(HARNESS):
                draft.said("system", word, number, at)

    def went_back(self, number: int, line: Line) -> None:
        """A prompt under the parent of an earlier prompt: what came of the earlier is undone."""
        parent = line.parentUuid or ""
        now = len(self.draft.entries)
        undone = now - self.prompt_at.get(parent, now)
        if undone > 0 and parent:
            self.draft.signal("rollback", "", number, line.timestamp, undoes=undone)
        self.prompt_at[parent] = len(self.draft.entries)

    def response(self, number: int, line: Line, parts: Any) -> None:
        draft, at = self.draft, line.timestamp
        draft.model = line.model or draft.model
        step = line.uuid or str(number)
        draft.said("assistant", "\n".join(words_of(parts)), number, at, step)
        for call in calls_of(parts):
            call_id, tool = call.get("id"), call.get("name")
            given = call_id if isinstance(call_id, str) else None
            if given is not None and given in self.tools:
                continue
            name = tool if isinstance(tool, str) else ""
            written = draft.called(given, name, call.get("args"), number, at, step)
            self.tools[written] = name

    def results(self, number: int, line: Line, parts: Any) -> None:
        extra = line.toolCallResult or ToolResult()
        for response in responses_of(parts):
            call_id = response.get("id")
            if not isinstance(call_id, str):
                call_id = extra.callId or ""
            text = response_text(response)
            status = status_of(extra.status, text, is_error_response(response)) or "ok"
            code = exit_code_of(self.tools.get(call_id, ""), text)
            self.draft.returned(call_id, text, number, line.timestamp, status, code)

    def event(self, number: int, line: Line) -> None:
        draft, at, payload = self.draft, line.timestamp, _payload(line)
        if line.subtype == "rewind":
            target = payload.get("targetUuid") or line.parentUuid
            now = len(draft.entries)
            kept = self.ended.get(target, now) if isinstance(target, str) else 0
            if now > kept:
                draft.signal("rollback", "", number, at, undoes=now - kept)
        elif line.subtype == "chat_compression":
            draft.signal("compaction", "", number, at)
            history = payload.get("compressedHistory")
            first = history[0] if isinstance(history, list) and history else None
            if isinstance(first, dict):
                draft.said("system", "\n".join(words_of(first.get("parts"))), number, at)
        elif line.subtype == "custom_title" and isinstance(payload.get("customTitle"), str):
            draft.metadata["title"] = payload["customTitle"]
        elif line.subtype == "parent_session" and isinstance(payload.get("parentSessionId"), str):
            draft.parent = payload["parentSessionId"]
        elif line.subtype == "ui_telemetry":
            event = payload.get("uiEvent")
            if isinstance(event, dict) and str(event.get("event.name")).endswith("api_error"):
                message = event.get("error_message") or event.get("error") or ""
                draft.signal("api_error", str(message), number, at)


def _payload(line: Line) -> dict[str, Any]:
    payload = value_of(line.systemPayload)
    return payload if isinstance(payload, dict) else {}
