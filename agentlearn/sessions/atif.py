"""ATIF, the Agent Trajectory Interchange Format (any `ATIF-v1.x`), as Harbor and others write it.

A step of the agent holds its words, its calls and what came back. Results often name no call
(Terminus-2 has one screen for all its keystrokes): they go to the calls by place, or to the last
one. Where a step has an observation but no call, the commands stand in the message, or the
message itself was the action. Steps copied from another trajectory are not read again, and those
for which no model was asked are the harness's. The reward is not in the file: the trial's
`result.json` has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct

from agentlearn.sessions import document, verdicts
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text, iso_time
from agentlearn.sessions.values import Session, Status

DIALECT = "atif"
SUMMARIZED = re.compile(r"\A(?:Performed context summarization|Context (?:was )?compact)", re.I)
UNPARSED = "Previous response had parsing errors"
HANDED_OVER = (
    "You are about to hand off your work to another AI agent",
    "You are picking up work from a previous AI agent",
    "Here are the answers the other agent provided",
)
EXIT_AT_START = re.compile(
    r"\A(?:Exit code:? |<returncode>|(?:[^\n]*\n){0,4}Process exited with code )(\d{1,9})\b"
)
EXIT_AT_END = re.compile(r"\[(?:The command completed with|Command finished with) exit code (\d+)")
MOST_DEPTH = 8
"""Sub-agents of sub-agents are read so far down."""


class Reference(Struct, gc=False):
    trajectory_id: str | None = None
    session_id: str | None = None


class Returned(Struct, gc=False):
    source_call_id: str | None = None
    content: Raw = Raw(b"")
    subagent_trajectory_ref: list[Reference] | None = None
    extra: Raw = Raw(b"")


class Observation(Struct, gc=False):
    results: list[Returned] | None = None


class ToolCall(Struct, gc=False):
    tool_call_id: str | None = None
    function_name: str | None = None
    arguments: Raw = Raw(b"")


class Step(Struct, gc=False):
    source: str | None = None
    message: Raw = Raw(b"")
    timestamp: str | None = None
    model_name: str | None = None
    tool_calls: list[ToolCall] | None = None
    observation: Observation | None = None
    is_copied_context: bool | None = None
    llm_call_count: int | None = None
    extra: Raw = Raw(b"")


def read_document(source: Source) -> Iterator[Session]:
    root = document.as_object(document.load(source))
    own = document.text_of(root.get("trajectory_id")) or document.text_of(root.get("session_id"))
    yield from _trajectory(root, source, own or source.id_from_bytes())


def _trajectory(
    root: document.Fields, source: Source, id: str, parent: str | None = None, depth: int = 0
) -> Iterator[Session]:
    """The session of a trajectory, then those of the sub-agents inside it."""
    draft = Draft(DIALECT, source.name, "entry")
    text_of = document.text_of
    agent = document.fields(root.get("agent"))
    draft.agent = text_of(agent.get("name"))
    draft.version = text_of(agent.get("version"))
    draft.model = text_of(agent.get("model_name"))
    draft.parent = parent or text_of(document.fields(agent.get("extra")).get("parent_session_id"))
    reading = _Reading(draft)
    for number, step in document.numbered(document.items(root.get("steps")), Step, draft):
        reading.take(number, step)
    continued = text_of(root.get("continued_trajectory_ref"))
    if continued:
        draft.metadata["continued_in"] = continued
    if draft.parent is None and not (continued and _is_beside(source, continued)):
        verdicts.pronounce(draft, verdicts.of_trial(source))
    yield draft.finish(id)
    if depth >= MOST_DEPTH:
        return
    for number, raw in enumerate(document.items(root.get("subagent_trajectories")), start=1):
        if inner := document.fields(raw):
            own = text_of(inner.get("trajectory_id")) or f"{id}-{number}"
            yield from _trajectory(inner, source, own, id, depth + 1)


def _is_beside(source: Source, name: str) -> bool:
    """Whether the next part of a trajectory lies in the same folder: it will have the verdict."""
    return "/" not in name and "\\" not in name and source.beside(name) is not None


class _Reading:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.calls: set[str] = set()
        self.unknown: set[str] = set()

    def take(self, number: int, step: Step) -> None:
        draft = self.draft
        at = iso_time(step.timestamp)
        text = content_text(document.value_of(step.message))
        results = (step.observation.results if step.observation else None) or []
        if step.source == "user":
            draft.goal = draft.goal or text or None
            if not step.is_copied_context:
                # What a sub-agent is told comes from its parent or the harness, not from a person.
                told = draft.parent is not None or text.startswith(HANDED_OVER)
                draft.said("system" if told else "user", text, number, at)
        elif step.is_copied_context:
            return
        elif step.source == "agent" and step.llm_call_count != 0:
            draft.model = draft.model or step.model_name
            self.agent_step(number, step, text, results, at)
        elif step.source in ("system", "agent"):
            self.harness_step(number, step, text, results, at)
        elif str(step.source) not in self.unknown:
            self.unknown.add(str(step.source))
            draft.warn(number, f"unknown step source {str(step.source)[:40]!r}", lost=False)

    def harness_step(
        self, number: int, step: Step, text: str, results: list[Returned], at: str | None
    ) -> None:
        draft = self.draft
        if SUMMARIZED.match(text):
            draft.signal("compaction", text, number, at)
        else:
            draft.said("system", text, number, at)
        for call in step.tool_calls or ():
            draft.said("system", f"{call.function_name or ''} {_arguments(call)}", number, at)
        for result in results:
            draft.said("system", content_text(document.value_of(result.content)), number, at)

    def agent_step(
        self, number: int, step: Step, text: str, results: list[Returned], at: str | None
    ) -> None:
        draft, group = self.draft, str(number)
        calls: list[tuple[str | None, str, Any]] = [
            (call.tool_call_id, call.function_name or "", _arguments(call))
            for call in step.tool_calls or ()
        ]
        if not calls and results and text.strip():
            text, calls = _calls_in(text)
        draft.said("assistant", text, number, at, group)
        ids = [
            draft.called(self.unused(id, number), tool, arguments, number, at, group)
            for id, tool, arguments in calls
        ]
        self.calls.update(ids)
        named: dict[str | None, str] = {
            call[0]: id for call, id in zip(calls, ids, strict=True) if call[0]
        }
        if not ids:
            for result in results:
                draft.said("system", content_text(document.value_of(result.content)), number, at)
        whole = document.fields(step.extra) if len(results) == 1 else {}
        for call_id, parts in _matched(results, ids, named):
            self.returned(call_id, parts, whole, number, at)

    def unused(self, id: str | None, number: int) -> str | None:
        """Some writers begin to count their calls anew in each step."""
        return f"{id}-{number}" if id in self.calls else id

    def returned(
        self,
        call_id: str,
        parts: list[Returned],
        whole: document.Fields,
        number: int,
        at: str | None,
    ) -> None:
        texts = (content_text(document.value_of(part.content)) for part in parts)
        text = "\n".join(filter(None, texts))
        status, code = _flags(whole)
        for part in parts:
            own_status, own_code = _flags(document.fields(part.extra))
            status = own_status if own_status != "ok" else status
            code = own_code if own_code is not None else code
        if text.startswith(UNPARSED):
            status = "error"
        if code is None:
            code = _exit_code(text)
        refs = [ref for part in parts for ref in part.subagent_trajectory_ref or ()]
        child = next((ref.trajectory_id or ref.session_id for ref in refs), None)
        self.draft.returned(call_id, text, number, at, status, code, child)


def _arguments(call: ToolCall) -> str:
    """The arguments on one line, however the file is laid out."""
    value = document.value_of(call.arguments)
    if value is None or isinstance(value, str):
        return value or ""
    return msgspec.json.encode(value).decode()


def _matched(
    results: list[Returned], ids: list[str], named: dict[str | None, str]
) -> Iterator[tuple[str, list[Returned]]]:
    """Results with the calls they answer: by id, else by place, else all to the last call."""
    unnamed = [result for result in results if result.source_call_id not in named]
    answered = {
        named[result.source_call_id] for result in results if result.source_call_id in named
    }
    waiting = [id for id in ids if id not in answered]
    for result in results:
        if result.source_call_id in named:
            yield named[result.source_call_id], [result]
    if unnamed and len(unnamed) == len(waiting):
        for id, result in zip(waiting, unnamed, strict=True):
            yield id, [result]
    elif unnamed and waiting:
        yield waiting[-1], unnamed


def _calls_in(text: str) -> tuple[str, list[tuple[str | None, str, Any]]]:
    """The words and calls of a message that has both inside it, as Terminus-2 writes it raw."""
    try:
        value = msgspec.json.decode(text) if text.lstrip().startswith("{") else None
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        value = None
    if not isinstance(value, dict) or not isinstance(value.get("commands"), list):
        return "", [(None, "", text)]
    calls: list[tuple[str | None, str, Any]] = [
        (None, "bash_command", command) for command in value["commands"]
    ]
    if value.get("task_complete") is True:
        calls.append((None, "mark_task_complete", {}))
    said = [
        f"{name.capitalize()}: {value[name]}" for name in ("analysis", "plan") if value.get(name)
    ]
    return "\n".join(said), calls or [(None, "", text)]


def _flags(extra: document.Fields) -> tuple[Status, int | None]:
    """Converters put an agent's own flags into `extra`, each under its own name."""
    status: Status = "ok"
    for name in ("is_error", "tool_result_is_error", "isError"):
        if document.value_of(extra.get(name)) is True:
            status = "error"
    for name in ("exit_code", "exitCode", "return_code", "returncode"):
        code = document.value_of(extra.get(name))
        if isinstance(code, int) and not isinstance(code, bool) and 0 <= code < 1 << 31:
            return status, code
    return status, None


def _exit_code(text: str) -> int | None:
    found = EXIT_AT_START.match(text[:600]) or EXIT_AT_END.search(text[-300:])
    return int(found[1]) if found else None
