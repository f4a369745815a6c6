"""Kimi's wire files: a record a line, with what was said to the agent and what its loop did.

A prompt is written when it is typed (`turn.prompt`, `turn.steer`) and again when it enters the
context: the first is kept, the echo is not. Older files wrap each event in `message`; they say
the same in other names and are read by the same rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Raw, Struct

from agentlearn.sessions.document import value_of
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.gemini_parts import as_json
from agentlearn.sessions.kimi_legacy import current
from agentlearn.sessions.lines import objects
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text, iso_time
from agentlearn.sessions.values import Session, Status

DIALECT = "kimi"
KNOWN = (
    "metadata", "config.", "tools.", "context", "llm.", "turn.", "permission.", "profile.",
    "usage.", "plugin.", "runtime.", "token_counting.", "goal.", "plan", "swarm_", "tower_",
    "task.", "cron.", "file_history.", "full_compaction.", "micro_compaction.", "mcp.",
    "interaction.", "agent.", "forked", "subagent.", "skill.", "hook", "interruption", "step.",
    "coordinator_", "graduated_",
)  # fmt: skip


class Line(Struct):
    type: str = ""
    time: float | str | None = None
    timestamp: float | str | None = None
    created_at: float | str | None = None
    input: Raw = Raw(b"")
    origin: Raw = Raw(b"")
    message: Raw = Raw(b"")
    event: Raw = Raw(b"")
    result: Raw = Raw(b"")
    toolCallId: str | None = None
    summary: str | None = None
    count: int | None = None
    model: str | None = None
    modelAlias: str | None = None
    environmentDisclosure: Raw = Raw(b"")


def read_lines(source: Source) -> Iterator[Session]:
    reading = _Reading(Draft(DIALECT, source.name))
    for number, line in objects(source.stream, Line, reading.draft.warn):
        reading.take(number, line)
    reading.close_call()
    draft = reading.draft
    name(draft, source)
    yield draft.finish(draft.id or source.id_from_bytes())


def name(draft: Draft, source: Source) -> None:
    """By its folders: `<session>/agents/<agent>/wire.jsonl`, or `<session>/wire.jsonl`."""
    path = source.path
    if path is None or path.name != "wire.jsonl":
        return
    if path.parent.parent.name != "agents":
        draft.id = path.parent.name
        return
    agent, session = path.parent.name, path.parent.parent.parent.name
    draft.id = session if agent == "main" else f"{session}-{agent}"
    draft.parent = None if agent == "main" else session


class _Reading:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        draft.agent = "kimi-cli"
        self.typed: list[str] = []
        """What was typed and has not yet been seen to enter the context."""
        self.prompts: list[int] = []
        """Where each prompt stands, for undoing it."""
        self.step = ""
        self.rejected: dict[str, str] = {}
        self.calls: set[str] = set()
        self.asked: dict[str, str] = {}
        """The call that a question for permission is about."""
        self.open_call: tuple[int, dict[str, Any], str | None, str] | None = None
        """A call whose arguments may go on in the next events."""
        self.unknown: set[str] = set()

    def take(self, number: int, line: Line) -> None:
        draft, kind = self.draft, line.type
        if not kind.startswith(KNOWN) and kind and kind not in self.unknown:
            self.unknown.add(kind)
            draft.warn(number, f"unknown record type {kind[:40]!r}", lost=False)
        at = iso_time(line.time if line.time is not None else line.timestamp)
        if kind in ("turn.prompt", "turn.steer"):
            text = content_text(value_of(line.input))
            self.typed.append(text)
            self.said_to(number, text, value_of(line.origin), at)
        elif kind == "context.append_message":
            self.message(number, _as_dict(value_of(line.message)), at)
        elif kind == "context.append_loop_event":
            self.event(number, _as_dict(value_of(line.event)), at)
        elif not kind and (event := current(_as_dict(value_of(line.message)))):
            self.older_event(number, event, at)
        elif kind == "permission.record_approval_result":
            self.decided(line.toolCallId or "", _as_dict(value_of(line.result)))
        elif kind == "turn.cancel":
            draft.signal("interruption", "", number, at)
        elif kind == "context.undo":
            self.undo(number, line.count or 1, at)
        elif kind == "context.apply_compaction":
            draft.signal("compaction", "", number, at)
            draft.said("system", line.summary or "", number, at)
        elif kind == "metadata":
            draft.started_at = iso_time(line.created_at)
        if line.model or line.modelAlias:
            draft.model = line.model or draft.model or line.modelAlias
        where = _as_dict(value_of(line.environmentDisclosure)).get("cwd")
        if isinstance(where, str):
            draft.cwd = where

    def said_to(self, number: int, text: str, origin: Any, at: str | None) -> None:
        kind = _as_dict(origin).get("kind", "user")
        if kind == "user":
            self.prompts.append(len(self.draft.entries))
        self.draft.said("user" if kind == "user" else "system", text, number, at)

    def message(self, number: int, message: dict[str, Any], at: str | None) -> None:
        text = content_text(_without_thoughts(message.get("content")))
        role = message.get("role")
        if role == "user":
            if text in self.typed:
                self.typed.remove(text)
            else:
                self.said_to(number, text, message.get("origin"), at)
        elif role == "assistant":
            step = f"line {number}"
            self.draft.said("assistant", text, number, at, step)
            calls = message.get("toolCalls")
            for call in calls if isinstance(calls, list) else ():
                given = _as_dict(call)
                inner = _as_dict(given.get("function")) or given
                self.call(
                    number, given.get("id"), inner.get("name"), inner.get("arguments"), at, step
                )
        elif role == "tool":
            self.returned(number, message.get("toolCallId"), text, bool(message.get("isError")), at)

    def event(self, number: int, event: dict[str, Any], at: str | None) -> None:
        kind = event.get("type")
        step = str(event.get("stepUuid") or self.step)
        if kind == "step.begin":
            self.step = str(event.get("uuid") or number)
        elif kind == "content.part":
            words = content_text(_without_thoughts([event.get("part")]))
            self.draft.said("assistant", words, number, at, step)
        elif kind == "tool.call":
            self.call(
                number, event.get("toolCallId"), event.get("name"), event.get("args"), at, step
            )
        elif kind == "tool.result":
            result = event.get("result")
            output = _as_dict(result).get("output", result)
            text = content_text(output) if isinstance(output, (str, list)) else as_json(output)
            failed = _as_dict(result).get("isError") is True
            self.returned(number, event.get("toolCallId"), text, failed, at)

    def older_event(self, number: int, event: dict[str, Any], at: str | None) -> None:
        kind = event["type"]
        if kind == "more" and self.open_call is not None:
            before = self.open_call[1]
            before["args"] = f"{before['args'] or ''}{event['args'] or ''}"
            return
        self.close_call()
        if kind == "tool.call":
            self.open_call = (number, event, at, self.step)
        elif kind == "prompt":
            self.said_to(number, content_text(event.get("input")), None, at)
        elif kind == "asked":
            self.asked[str(event["id"])] = str(event["toolCallId"])
        elif kind == "answered":
            self.decided(self.asked.get(str(event["id"]), ""), event)
        elif kind == "interrupted":
            self.draft.signal("interruption", "", number, at)
        elif kind == "compaction":
            self.draft.signal("compaction", "", number, at)
        else:
            self.event(number, event, at)

    def close_call(self) -> None:
        if self.open_call is not None:
            number, event, at, step = self.open_call
            self.open_call = None
            self.call(number, event["toolCallId"], event["name"], event["args"], at, step)

    def call(
        self, number: int, id: Any, tool: Any, arguments: Any, at: str | None, step: str
    ) -> None:
        given = id if isinstance(id, str) else None
        if given is not None and given in self.calls:
            return
        name = tool if isinstance(tool, str) else ""
        self.calls.add(self.draft.called(given, name, arguments, number, at, step))

    def decided(self, call_id: str, result: dict[str, Any]) -> None:
        if result.get("decision") in ("rejected", "reject", "denied"):
            feedback = result.get("feedback")
            self.rejected[call_id] = feedback if isinstance(feedback, str) else ""

    def returned(self, number: int, id: Any, text: str, failed: bool, at: str | None) -> None:
        call_id = id if isinstance(id, str) else ""
        words = self.rejected.pop(call_id, None)
        status: Status = "rejected" if words is not None else "error" if failed else "ok"
        self.draft.returned(call_id, text, number, at, status)
        if words:
            self.draft.signal("rejection", words, number, at, call_id=call_id)

    def undo(self, number: int, count: int, at: str | None) -> None:
        """The last prompts and all that came of them."""
        if count < 1 or not self.prompts:
            return
        first = self.prompts[-min(count, len(self.prompts))]
        del self.prompts[-min(count, len(self.prompts)) :]
        self.draft.signal("rollback", "", number, at, undoes=len(self.draft.entries) - first)


def _as_dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _without_thoughts(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [
        part for part in content if not (isinstance(part, dict) and part.get("type") == "think")
    ]
