"""OpenHands V0: actions and observations, and the runs that an evaluation writes, one a line.

An event is `action` with `args`, or `observation` with `content` and `extras`; old runs have the
arguments beside the action instead, and pairs of both. An observation belongs to the call whose
id it carries, else to the event named by its `cause`, else to the last call. A user's `recall` is
no prompt, and the prompt that tells an agent to go on is no person's. `success` of a resolver is
a model's guess; the report of a test is a verdict.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

from agentlearn.sessions import document
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text, iso_time
from agentlearn.sessions.values import Session, Status

DIALECT = "openhands"
GO_ON = "Please continue working on the task"
SKIPPED = {"recall", "null", "agent_state_changed", "condense", "condensation_request", "start"}
ENVELOPE = {
    "id", "timestamp", "source", "message", "cause", "action", "observation", "args", "extras",
    "tool_call_metadata", "llm_metrics", "timeout", "success",
}  # fmt: skip
NOISE = {
    "thought", "is_confirmed", "confirmation_state", "action_risk", "security_risk", "hidden",
    "blocking", "keep_prompt", "kernel_init_code", "include_extra", "is_static",
}  # fmt: skip
"""What a harness adds to the arguments of an action."""


class ModelResponse(Struct, gc=False):
    """The rest is the whole response, again in every event."""

    id: str | None = None
    model: str | None = None


class CallMetadata(Struct, gc=False):
    function_name: str | None = None
    tool_call_id: str | None = None
    model_response: ModelResponse | None = None


def read_instance(fields: document.Fields, source: Source, id: str, line: int | None) -> Session:
    """A run with its history inside: a line of an evaluation's output, or a file of its own."""
    draft = Draft(DIALECT, source.name, "entry" if line is None else "line")
    draft.agent = DIALECT
    run = RunV0(draft)
    events: list[Raw] = []
    for raw in document.items(fields.get("history")):
        events += document.items(raw) or [raw]
    for place, raw in enumerate(events, start=1):
        if line is None:
            draft.raws.append(bytes(raw))
        run.take(line or place, document.fields(raw))
    _about_instance(draft, fields)
    error = document.text_of(fields.get("error"))
    if error:
        draft.outcome, draft.reason = "aborted", error.split("\n", 1)[0][:300]
    resolved, report = _resolved(fields)
    if resolved is not None:
        draft.outcome, draft.reason = "unknown", None
        said = "resolved" if resolved else "not resolved"
        number = line or draft.number_after_all(report)
        draft.signal("verdict", f"test report: {said}", number, value=float(resolved))
    return draft.finish(id)


def _about_instance(draft: Draft, fields: document.Fields) -> None:
    issue = document.value_of(fields.get("issue"))
    instance = document.value_of(fields.get("instance_id"))
    if isinstance(instance, (str, int)) and not isinstance(instance, bool):
        draft.metadata["task"] = str(instance)
    elif isinstance(issue, dict):
        draft.metadata["task"] = f"{issue.get('owner')}/{issue.get('repo')}#{issue.get('number')}"
    about = document.fields(fields.get("metadata"))
    settings = document.fields(about.get("llm_config"))
    draft.model = draft.model or document.text_of(settings.get("model"))
    if draft.goal is None:
        draft.goal = document.text_of(fields.get("instruction"))


def _resolved(fields: document.Fields) -> tuple[bool | None, bytes]:
    """What the tests of the benchmark said, where their report was put into the line; and that."""
    result = document.fields(fields.get("test_result"))
    for report in (result.get("report"), fields.get("report")):
        resolved = document.value_of(document.fields(report).get("resolved"))
        if report is not None and isinstance(resolved, bool):
            return resolved, report
    return None, b""


class RunV0:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.open: list[str] = []
        self.of_event: dict[str, str] = {}
        self.asked = False
        self.used = False
        self.steps = 0

    def take(self, number: int, fields: document.Fields) -> None:
        self.used = True
        at = iso_time(document.value_of(fields.get("timestamp")))
        action = document.text_of(fields.get("action"))
        observation = document.text_of(fields.get("observation"))
        if action is not None:
            self.action(number, action, fields, at)
        elif observation is not None:
            self.observation(number, observation, fields, at)
        else:
            self.draft.warn(number, "neither an action nor an observation", lost=False)

    def action(self, number: int, name: str, fields: document.Fields, at: str | None) -> None:
        draft = self.draft
        by = document.text_of(fields.get("source"))
        args = _arguments(fields)
        if name == "message":
            self.message(number, by, content_text(args.get("content")), at)
        elif name == "system":
            draft.said("system", content_text(args.get("content")), number, at)
        elif name == "change_agent_state":
            if by == "user" and args.get("agent_state") in ("paused", "stopped"):
                draft.signal("interruption", "", number, at)
        elif name == "condensation":
            draft.signal("compaction", "", number, at)
            draft.said("system", content_text(args.get("summary")), number, at)
        elif name not in SKIPPED and by != "user":
            self.call(number, name, args, fields, at)

    def message(self, number: int, by: str | None, text: str, at: str | None) -> None:
        """Old runs do not say who speaks: the first message is the task, the others are answers."""
        by = by or ("agent" if self.asked else "user")
        if by != "user":
            self.draft.said("assistant", text, number, at, self.new_step())
            return
        self.asked = True
        self.draft.said("system" if text.startswith(GO_ON) else "user", text, number, at)

    def new_step(self) -> str:
        """A whole run may stand on one line, so its number does not tell responses apart."""
        self.steps += 1
        return f"step-{self.steps}"

    def call(
        self, number: int, name: str, args: dict[str, Any], fields: document.Fields, at: str | None
    ) -> None:
        draft, about = self.draft, _call_metadata(fields)
        response = about.model_response or ModelResponse()
        draft.model = response.model or draft.model
        step = response.id or self.new_step()
        draft.said("assistant", content_text(args.get("thought")), number, at, step)
        kept = {k: v for k, v in args.items() if k not in NOISE and v not in (None, "", [], {})}
        event = document.value_of(fields.get("id"))
        own = about.tool_call_id or (f"event-{event}" if isinstance(event, (int, str)) else None)
        call_id = draft.called(own, about.function_name or name, kept, number, at, step)
        self.open.append(call_id)
        self.of_event[str(event)] = call_id

    def observation(self, number: int, name: str, fields: document.Fields, at: str | None) -> None:
        draft = self.draft
        extras = document.fields(fields.get("extras"))
        if name == "agent_state_changed":
            if document.value_of(extras.get("agent_state")) == "error":
                draft.signal("api_error", document.text_of(extras.get("reason")) or "", number, at)
            return
        if name in SKIPPED:
            return
        text = content_text(document.value_of(fields.get("content")))
        call_id = self.answered(fields)
        if call_id is None:
            draft.said("system", text, number, at)
            return
        status: Status = "ok"
        if name == "error":
            status = "error"
        elif name == "user_rejected":
            status = "rejected"
        codes = (document.fields(extras.get("metadata")), extras, fields)
        found = (exit_code_of(document.value_of(part.get("exit_code"))) for part in codes)
        code = next((number for number in found if number is not None), None)
        draft.returned(call_id, text, number, at, status, code)

    def answered(self, fields: document.Fields) -> str | None:
        """The call that an observation belongs to, which waits no longer."""
        cause = document.value_of(fields.get("cause"))
        named = (_call_metadata(fields).tool_call_id, self.of_event.get(str(cause)))
        found = next((id for id in named if id in self.open), None)
        if found is None and self.open and cause is None and named[0] is None:
            found = self.open[-1]
        if found is not None:
            self.open.remove(found)
        return found


def _arguments(fields: document.Fields) -> dict[str, Any]:
    args = document.value_of(fields.get("args"))
    if isinstance(args, dict):
        return args
    return {name: document.value_of(raw) for name, raw in fields.items() if name not in ENVELOPE}


def _call_metadata(fields: document.Fields) -> CallMetadata:
    raw = fields.get("tool_call_metadata")
    if raw is None:
        return CallMetadata()
    found = document.numbered([raw], CallMetadata, Draft(DIALECT, None))
    return next((metadata for _, metadata in found), CallMetadata())


def exit_code_of(value: Any) -> int | None:
    """An exit code; −1 says that the command still runs."""
    if isinstance(value, int) and not isinstance(value, bool) and -1 != value < 1 << 31:
        return value
    return None
