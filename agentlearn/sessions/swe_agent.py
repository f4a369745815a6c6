"""SWE-agent trajectories (`.traj`, 0.x and 1.x).

`trajectory` has the steps, also those that the model had to repeat; `history` has the prompt, and
the steps only where there is no `trajectory`. Demonstrations in the history are not of this run,
and 1.x repeats the whole prompt in every step, which is not read. Entries are numbered through:
the items of the prompt first, then the steps. No step has an exit code, and `submitted` is no
success: the label is in a report beside the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Raw, Struct

from agentlearn.sessions import document, verdicts
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text
from agentlearn.sessions.values import Session

DIALECT = "swe-agent"
SUBMITTED = "submitted"
TIMED_OUT = re.compile(
    r"\A(?:EXECUTION TIMED OUT|COMMAND TIMED OUT|The command .{1,2000} was cancelled)", re.S
)
DEMONSTRATION = "Here is a demonstration of how to correctly accomplish this task"


class Function(Struct, gc=False):
    name: str | None = None
    arguments: Raw = Raw(b"")


class ToolCall(Struct, gc=False):
    id: str | None = None
    function: Function | None = None


class Item(Struct, gc=False):
    """An item of the history."""

    role: str | None = None
    content: Raw = Raw(b"")
    thought: str | None = None
    action: str | None = None
    message_type: str | None = None
    is_demo: bool | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_ids: list[str] | None = None


class Step(Struct, gc=False):
    """A step of the trajectory. `query` and `messages` are the whole prompt again."""

    action: str | None = None
    observation: Raw = Raw(b"")
    response: Raw = Raw(b"")
    thought: str | None = None
    state: Raw = Raw(b"")


def read_document(source: Source) -> Iterator[Session]:
    root = document.as_object(document.load(source))
    draft = Draft(DIALECT, source.name, "entry")
    draft.agent = DIALECT
    history = document.items(root.get("history"))
    steps = document.items(root.get("trajectory"))
    reading = _Reading(draft)
    if steps:
        prompt = _prompt(history)
        for number, item in document.numbered(prompt, Item, draft):
            reading.item(number, item)
        for number, step in document.numbered(steps, Step, draft):
            reading.step(number + len(prompt), step)
    else:
        for number, item in document.numbered(history, Item, draft):
            reading.item(number, item)
    _about(draft, root)
    instance = document.text_of(root.get("instance_id")) or _replayed_id(root)
    if instance:
        draft.metadata["task"] = instance
    verdict = verdicts.of_instance(source, instance)
    if verdict is not None:
        draft.outcome, draft.reason = "unknown", None
    verdicts.pronounce(draft, verdict)
    yield draft.finish(source.id_from_bytes())


def _prompt(history: list[Raw]) -> list[Raw]:
    """What stands before the first response, demonstrations aside."""
    prompt: list[Raw] = []
    for raw in history:
        fields = document.fields(raw)
        role = document.value_of(fields.get("role"))
        if role in ("assistant", "tool") and document.value_of(fields.get("is_demo")) is not True:
            break
        prompt.append(raw)
    return prompt


def _about(draft: Draft, root: document.Fields) -> None:
    info = document.fields(root.get("info"))
    draft.version = document.text_of(info.get("swe_agent_version"))
    config = _replay_config(root)
    agent = config.get("agent")
    model = agent.get("model") if isinstance(agent, dict) else None
    name = model.get("name") if isinstance(model, dict) else None
    draft.model = name if isinstance(name, str) else None
    status = document.text_of(info.get("exit_status"))
    if status:
        draft.metadata["exit_status"] = status
        if status != SUBMITTED:
            draft.outcome, draft.reason = "aborted", status


def _replay_config(root: document.Fields) -> dict[str, Any]:
    """The run's settings, which 1.x writes as JSON inside a string."""
    config = document.value_of(root.get("replay_config"))
    if isinstance(config, str):
        config = document.value_of(config.encode("utf-8", "replace"))
    return config if isinstance(config, dict) else {}


def _replayed_id(root: document.Fields) -> str | None:
    problem = _replay_config(root).get("problem_statement")
    id = problem.get("id") if isinstance(problem, dict) else None
    return id if isinstance(id, str) and id else None


class _Reading:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.open: list[str] = []
        self.tasked = False

    def step(self, number: int, step: Step) -> None:
        draft, group = self.draft, str(number)
        action = (step.action or "").strip()
        response = content_text(document.value_of(step.response))
        observation = content_text(document.value_of(step.observation))
        if draft.cwd is None:
            draft.cwd = _folder(step.state)
        if not action:
            # A response that could not be used: the model was asked again.
            draft.said("assistant", response or step.thought or "", number, None, group)
            draft.said("system", observation, number)
            return
        draft.said("assistant", (step.thought or "").strip(), number, None, group)
        call_id = draft.called(None, "bash", {"command": action}, number, None, group)
        self.returned(call_id, observation, number)

    def item(self, number: int, item: Item) -> None:
        draft, group = self.draft, str(number)
        text = content_text(document.value_of(item.content))
        if item.is_demo or item.message_type == "demonstration" or text.startswith(DEMONSTRATION):
            return
        if item.role == "assistant":
            self.open = []
            draft.said("assistant", item.thought or text, number, None, group)
            for call in item.tool_calls or ():
                function = call.function or Function()
                arguments = document.value_of(function.arguments)
                self.open.append(
                    draft.called(call.id, function.name or "", arguments, number, None, group)
                )
            action = (item.action or "").strip()
            if action and not self.open:
                id = draft.called(None, "bash", {"command": action}, number, None, group)
                self.open.append(id)
        elif item.role in ("user", "tool") and (self.open or item.tool_call_ids):
            for call_id in item.tool_call_ids or self.open[:1]:
                self.returned(call_id, text, number)
            self.open = []
        elif item.role == "user" and not self.tasked:
            self.tasked = True
            draft.said("user", text, number)
        else:
            draft.said("system", text, number)

    def returned(self, call_id: str, text: str, number: int) -> None:
        timed_out = TIMED_OUT.match(text) is not None
        self.draft.returned(call_id, text, number, status="error" if timed_out else "ok")


def _folder(state: Raw | None) -> str | None:
    """The folder of the first step: `state` is an object, or (0.x) JSON inside a string."""
    value = document.value_of(state)
    if isinstance(value, str):
        value = document.value_of(value.encode("utf-8", "replace"))
    folder = value.get("working_dir") if isinstance(value, dict) else None
    return folder if isinstance(folder, str) and folder else None
