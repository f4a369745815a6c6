"""OpenHands: events of V1 (the SDK), one a line or in a list; those of V0 are in `openhands_v0`.

Every event of V1 has a `kind`. Several actions may come from one response of the model
(`llm_response_id`). A terminal result says `is_error: false` beside a failing exit code, and −1
means that the command still runs. Finishing proves nothing.

A file of lines may hold V1 events, V0 events or, from an evaluation, a whole V0 run in each line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct

from agentlearn.sessions import document, verdicts
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import objects
from agentlearn.sessions.look import shape
from agentlearn.sessions.openhands_v0 import DIALECT, RunV0, exit_code_of, read_instance
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text, iso_time
from agentlearn.sessions.values import Session, Status

THINK = re.compile(r"<think>.*?(?:</think>|\Z)\s*", re.DOTALL)
NO_REASON = ("User rejected the action", "Action rejected by user")
STOPPED = ("stuck", "error")
SKIPPED = {
    "CondensationRequest", "StreamingDeltaEvent", "TokenEvent", "LLMCompletionLogEvent",
    "HookExecutionEvent", "ResumeEvent",
}  # fmt: skip


class LlmMessage(Struct, gc=False):
    content: Raw = Raw(b"")


class ToolCall(Struct, gc=False):
    arguments: Raw = Raw(b"")


class Observed(Struct, gc=False):
    content: Raw = Raw(b"")
    is_error: bool | None = None
    exit_code: Raw = Raw(b"")
    metadata: Raw = Raw(b"")


class Line(Struct, gc=False):
    """An event of V1; one of V0 (it has no kind); or a whole run of V0 (it has a history)."""

    kind: str | None = None
    source: str | None = None
    id: Raw = Raw(b"")
    timestamp: Raw = Raw(b"")
    action: Raw = Raw(b"")
    observation: Raw = Raw(b"")
    error: Raw = Raw(b"")
    # V1
    llm_message: LlmMessage | None = None
    thought: Raw = Raw(b"")
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_call: ToolCall | None = None
    llm_response_id: str | None = None
    system_prompt: Raw = Raw(b"")
    rejection_reason: str | None = None
    rejection_source: str | None = None
    summary: str | None = None
    key: str | None = None
    value: Raw = Raw(b"")
    detail: str | None = None
    # V0
    args: Raw = Raw(b"")
    content: Raw = Raw(b"")
    extras: Raw = Raw(b"")
    cause: Raw = Raw(b"")
    tool_call_metadata: Raw = Raw(b"")
    # a run of V0
    history: Raw = Raw(b"")
    instance_id: Raw = Raw(b"")
    instruction: Raw = Raw(b"")
    issue: Raw = Raw(b"")
    metadata: Raw = Raw(b"")
    test_result: Raw = Raw(b"")
    report: Raw = Raw(b"")


def read_lines(source: Source) -> Iterator[Session]:
    draft = Draft(DIALECT, source.name)
    run = _Run(draft, source)
    file_id, runs = "", 0
    for number, line in objects(source.stream, Line, draft.warn):
        if shape(line.history) == "[":
            file_id, runs = file_id or source.id_from_bytes(), runs + 1
            session = read_instance(_fields(line), source, f"{file_id}-{runs}", number)
            session.warnings.extend(draft.warnings)
            draft.warnings.clear()
            yield session
        else:
            run.take(number, line, None)
    if draft.entries or draft.warnings or not runs:
        yield run.finish(f"{file_id}-{runs + 1}" if runs else None)


def read_document(source: Source) -> Iterator[Session]:
    value = document.load(source)
    if isinstance(value, dict) and "history" in value:
        yield read_instance(value, source, source.id_from_bytes(), None)
        return
    raws = value if isinstance(value, list) else document.items(value.get("trajectory"))
    draft = Draft(DIALECT, source.name, "entry")
    run = _Run(draft, source)
    for number, line in document.numbered(raws, Line, draft):
        run.take(number, line, raws[number - 1])
    yield run.finish(None)


def _fields(line: Line) -> document.Fields:
    """The line as the parts it came in, for what is read by name."""
    found: document.Fields = {}
    for name in line.__struct_fields__:
        value = getattr(line, name)
        if isinstance(value, Raw):
            if value:
                found[name] = value
        elif isinstance(value, str):
            found[name] = Raw(msgspec.json.encode(value))
    return found


class _Run:
    """One conversation."""

    def __init__(self, draft: Draft, source: Source) -> None:
        self.draft = draft
        self.source = source
        self.v0 = RunV0(draft)
        self.status: str | None = None
        self.unknown: set[str] = set()
        draft.agent = DIALECT

    def take(self, number: int, line: Line, raw: Raw | None) -> None:
        if line.kind is None:
            self.v0.take(number, document.fields(raw) if raw is not None else _fields(line))
            return
        draft, at = self.draft, iso_time(document.value_of(line.timestamp))
        kind = line.kind
        if kind == "ActionEvent":
            self.action(number, line, at)
        elif kind == "ObservationEvent":
            self.observation(number, line, at)
        elif kind == "MessageEvent":
            self.message(number, line, at)
        elif kind in ("UserRejectObservation", "AgentErrorEvent"):
            self.refused(number, line, at)
        elif kind == "SystemPromptEvent":
            draft.said("system", content_text(document.value_of(line.system_prompt)), number, at)
        elif kind in ("PauseEvent", "InterruptEvent"):
            draft.signal("interruption", "", number, at)
        elif kind == "Condensation":
            draft.signal("compaction", "", number, at)
            draft.said("system", line.summary or "", number, at)
        elif kind == "CondensationSummaryEvent":
            draft.said("system", line.summary or "", number, at)
        elif kind == "ConversationErrorEvent":
            draft.signal("api_error", line.detail or "", number, at)
        elif kind == "ConversationStateUpdateEvent":
            self.state(line)
        elif kind not in SKIPPED and kind not in self.unknown:
            self.unknown.add(kind)
            draft.warn(number, f"unknown event kind {kind[:40]!r}", lost=False)

    def message(self, number: int, line: Line, at: str | None) -> None:
        content = document.value_of(line.llm_message.content) if line.llm_message else None
        text = content_text(content)
        if line.source == "agent":
            step = line.llm_response_id or str(number)
            self.draft.said("assistant", without_thinking(text), number, at, step)
        else:
            self.draft.said("user" if line.source == "user" else "system", text, number, at)

    def action(self, number: int, line: Line, at: str | None) -> None:
        draft, step = self.draft, line.llm_response_id or str(number)
        words = without_thinking(content_text(document.value_of(line.thought)))
        draft.said("assistant", words, number, at, step)
        arguments: Any = document.value_of(line.tool_call.arguments) if line.tool_call else None
        action = document.value_of(line.action)
        name = line.tool_name or ""
        if isinstance(action, dict):
            kind = action.pop("kind", None)
            name = name or str(kind or "")
            if arguments is None:
                arguments = {key: value for key, value in action.items() if value is not None}
        draft.called(line.tool_call_id, name, arguments, number, at, step)

    def observation(self, number: int, line: Line, at: str | None) -> None:
        seen = Observed()
        for _, found in document.numbered(
            [line.observation] if line.observation else [], Observed, Draft("", None)
        ):
            seen = found
        text = content_text(document.value_of(seen.content))
        code = exit_code_of(document.value_of(seen.exit_code))
        if code is None:
            code = exit_code_of(document.value_of(document.fields(seen.metadata).get("exit_code")))
        status: Status = "error" if seen.is_error else "ok"
        self.draft.returned(line.tool_call_id or "", text, number, at, status, code)

    def refused(self, number: int, line: Line, at: str | None) -> None:
        """An action that was not carried out: the person said no, a hook did, or it could not."""
        draft, call_id = self.draft, line.tool_call_id or ""
        if line.kind == "AgentErrorEvent":
            draft.returned(
                call_id, content_text(document.value_of(line.error)), number, at, "error"
            )
            return
        reason = (line.rejection_reason or "").strip()
        by_hook = line.rejection_source == "hook"
        draft.returned(call_id, reason, number, at, "error" if by_hook else "rejected")
        if reason and not by_hook and not reason.startswith(NO_REASON):
            draft.signal("rejection", reason, number, at, call_id=call_id)

    def state(self, line: Line) -> None:
        if line.key == "execution_status":
            self.status = document.text_of(line.value) or self.status
        elif line.key == "full_state":
            self.about(document.value_of(line.value))
        elif line.key == "stats" and self.draft.model is None:
            usage = document.fields(document.fields(line.value).get("usage_to_metrics"))
            for metrics in usage.values():
                model = document.text_of(document.fields(metrics).get("model_name"))
                self.draft.model = self.draft.model or model

    def about(self, state: Any) -> None:
        """What a conversation's state says of it."""
        if not isinstance(state, dict):
            return
        draft = self.draft
        draft.id = draft.id or _text(state.get("id"))
        draft.model = _text(_at(state, "agent", "llm", "model")) or draft.model
        draft.cwd = draft.cwd or _text(_at(state, "workspace", "working_dir"))
        self.status = _text(state.get("execution_status")) or self.status

    def finish(self, id: str | None) -> Session:
        draft = self.draft
        beside = self.source.beside("base_state.json", "../base_state.json")
        if beside is not None and not self.v0.used:
            self.about(verdicts.read_sidecar(beside))
        if self.status:
            draft.metadata["execution_status"] = self.status
            if self.status in STOPPED:
                draft.outcome, draft.reason = "aborted", self.status
        return draft.finish(id or draft.id or self.source.id_from_bytes())


def without_thinking(text: str) -> str:
    """Some models write their reasoning into their words."""
    return THINK.sub("", text).strip() if "<think>" in text else text


def _at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
