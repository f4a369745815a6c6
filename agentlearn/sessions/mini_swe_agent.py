"""mini-swe-agent trajectories: a bare list of messages (v0), or an object around it (v1, v2).

One bash command a response, in a fenced block until v2, a tool call after. The user message that
follows is what the command printed, not a person; the last one is what was handed in. Only the
first user message is the task, and what the person typed while the agent worked stands in fixed
phrases. `Submitted` says that the agent was done, not that it was right: the label is in a
report beside the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Raw, Struct

from agentlearn.sessions import document, verdicts
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text, iso_time, number_in
from agentlearn.sessions.values import Session, Status

DIALECT = "mini-swe-agent"
FENCE = re.compile(r"```(?:bash|mswea_bash_command)[^\S\n]*\n")
RETURN_CODE = re.compile(r"<returncode>(-?\d{1,9})</returncode>")
TIMED_OUT = re.compile(r"\AThe last command <command>.*timed out and has been killed", re.DOTALL)
NOT_EXECUTED = "action was not executed"
REJECTED = re.compile(
    r"\ACommands? not executed\. (?:Switching to human mode|"
    r"The user rejected your commands? with the following message: ?(.*))",
    re.DOTALL,
)
INTERRUPTED = re.compile(r"\AInterrupted by user: ?(.*)", re.DOTALL)
NO_COMMENT = "Temporary interruption caught."
NEW_TASK = re.compile(r"\AThe user added a new task: ?(.*)", re.DOTALL)
BY_HAND = re.compile(r"\A(?:User command:)?\s*```bash\n.*\n```\s*\Z", re.DOTALL)
LIMITS = {"LimitsExceeded", "TimeExceeded", "RepeatedFormatError", "CostLimitExceeded"}


class Action(Struct, gc=False):
    command: str | None = None
    tool_call_id: str | None = None


class ApiResponse(Struct, gc=False):
    """The raw response; its text is the message's own and is not read again."""

    created: float | None = None


class Extra(Struct, gc=False):
    actions: list[Action] | None = None
    returncode: int | None = None
    exception_info: str | None = None
    timestamp: float | None = None
    interrupt_type: str | None = None
    model_response: str | None = None
    exit_status: str | None = None
    response: ApiResponse | None = None


class Function(Struct, gc=False):
    name: str | None = None
    arguments: str | None = None


class ToolCall(Struct, gc=False):
    id: str | None = None
    function: Function | None = None


class Item(Struct, gc=False):
    """A message; with the Responses API also a whole response, or the output of a call."""

    role: str | None = None
    type: str | None = None
    object: str | None = None
    content: Raw = Raw(b"")
    output: Raw = Raw(b"")
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    call_id: str | None = None
    extra: Extra | None = None


def read_document(source: Source) -> Iterator[Session]:
    value = document.load(source)
    draft = Draft(DIALECT, source.name, "entry")
    draft.agent = DIALECT
    around = document.as_object(value)
    raws = value if isinstance(value, list) else document.items(around.get("messages"))
    info = document.fields(around.get("info"))
    _head(draft, around, info)
    exit_status = document.text_of(info.get("exit_status"))
    reading = _Reading(draft, last=len(raws), exit_status=exit_status)
    for number, item in document.numbered(raws, Item, draft):
        reading.take(number, item)
    if reading.exit_status:
        draft.metadata["exit_status"] = reading.exit_status
        if reading.exit_status != "Submitted":
            draft.outcome, draft.reason = "aborted", reading.exit_status
    verdict = verdicts.of_instance(source, draft.metadata.get("task"))
    if verdict is not None:
        draft.outcome, draft.reason = "unknown", None
    verdicts.pronounce(draft, verdict)
    yield draft.finish(source.id_from_bytes())


def _head(draft: Draft, around: document.Fields, info: document.Fields) -> None:
    draft.version = document.text_of(info.get("mini_version"))
    config = document.fields(info.get("config"))
    draft.model = document.text_of(document.fields(config.get("model")).get("model_name"))
    draft.cwd = document.text_of(document.fields(config.get("environment")).get("cwd"))
    if task := document.text_of(around.get("instance_id")):
        draft.metadata["task"] = task


class _Reading:
    """The messages of one run as they come: each answer belongs to the calls before it."""

    def __init__(self, draft: Draft, last: int, exit_status: str | None) -> None:
        self.draft = draft
        self.last = last
        self.exit_status = exit_status
        self.open: list[str] = []
        self.skipped: list[tuple[str, str, int, str | None]] = []
        """Results of commands that were not run: the next message tells whose doing that was."""
        self.tasked = False
        self.by_hand = False

    def take(self, number: int, item: Item) -> None:
        extra = item.extra or Extra()
        at = iso_time(extra.timestamp) or iso_time(
            extra.response.created if extra.response else None
        )
        if extra.exit_status:
            self.exit_status = extra.exit_status
        if item.role == "assistant" or item.object == "response":
            self.settle()
            self.response(number, item, extra, at)
        elif item.role == "tool" or item.type == "function_call_output":
            text = content_text(document.value_of(item.output or item.content))
            self.result(item.tool_call_id or item.call_id, text, number, at, extra)
        elif item.role in ("user", "exit"):
            self.answer(content_text(document.value_of(item.content)), number, at, item, extra)
        else:
            self.draft.said("system", content_text(document.value_of(item.content)), number, at)
        if number == self.last:
            self.settle()

    def response(self, number: int, item: Item, extra: Extra, at: str | None) -> None:
        draft, step = self.draft, str(number)
        if item.object == "response":
            text = _response_text(document.value_of(item.output))
        else:
            text = content_text(document.value_of(item.content))
        self.open = []
        commands = [(action.tool_call_id, action.command) for action in extra.actions or ()]
        blocks = list(_blocks(text)) if not item.tool_calls else []
        if not commands and len(blocks) == 1:
            start, end = blocks[0]
            commands = [(None, text[start:end].split("\n", 1)[1].removesuffix("```").strip())]
        if commands and len(blocks) == 1:
            start, end = blocks[0]
            text = f"{text[:start].rstrip()}\n{text[end:].lstrip()}".strip()
        draft.said("assistant", text, number, at, step)
        if commands:
            for id, command in commands:
                arguments = {"command": command or ""}
                self.open.append(draft.called(id, "bash", arguments, number, at, step))
            return
        for call in item.tool_calls or ():
            function = call.function or Function()
            self.open.append(
                draft.called(call.id, function.name or "", function.arguments, number, at, step)
            )

    def answer(self, text: str, number: int, at: str | None, item: Item, extra: Extra) -> None:
        """A message in the user's place: the task, a result, the person, or the harness."""
        draft, kind = self.draft, extra.interrupt_type
        if not self.tasked and item.role == "user":
            self.tasked = True
            draft.said("user", text, number, at)
        elif found := REJECTED.match(text):
            first = self.cut_short("rejected", text, number, at)
            if words := (found[1] or "").strip():
                draft.signal("rejection", words, number, at, call_id=first)
        elif found := INTERRUPTED.match(text):
            self.cut_short("interrupted", text, number, at)
            draft.signal("interruption", "", number, at)
            words = found[1].strip()
            draft.said("user", "" if words == NO_COMMENT else words, number, at)
        elif found := NEW_TASK.match(text):
            self.cut_short("ok", text, number, at)
            draft.said("user", found[1], number, at)
        elif kind == "FormatError":
            draft.said("assistant", extra.model_response or "", number, at, str(number))
            draft.said("system", text, number, at)
        elif item.role == "exit" or (number == self.last and not _is_observation(text, extra)):
            self.ended(text, number, at)
        elif BY_HAND.match(text) and not self.open:
            self.by_hand = True
            draft.said("user", text.strip(), number, at)
        elif self.open and not self.by_hand:
            self.result(self.open[0], text, number, at, extra)
        else:
            self.by_hand = False
            draft.said("system", text, number, at)

    def result(self, id: str | None, text: str, number: int, at: str | None, extra: Extra) -> None:
        call_id = id or (self.open[0] if self.open else "")
        if extra.exception_info == NOT_EXECUTED:
            self.skipped.append((call_id, text, number, at))
            return
        if call_id in self.open:
            self.open.remove(call_id)
        code = extra.returncode
        if code is None:
            code = number_in(RETURN_CODE, text, 200)
        broke = bool(extra.exception_info) or TIMED_OUT.match(text) is not None
        if broke and code == -1:
            code = None
        self.draft.returned(call_id, text, number, at, "error" if broke else "ok", code)

    def cut_short(self, status: Status, text: str, number: int, at: str | None) -> str | None:
        """Close the calls that wait for a result; gives the first of them."""
        first = self.skipped[0][0] if self.skipped else self.open[0] if self.open else None
        for call_id, printed, line, when in self.skipped:
            self.draft.returned(call_id, printed, line, when, status)
            if call_id in self.open:
                self.open.remove(call_id)
        if status != "ok":
            for call_id in self.open:
                self.draft.returned(call_id, text, number, at, status)
        self.skipped, self.open = [], []
        return first

    def settle(self) -> None:
        """Commands that nobody stopped were not run because one before them ended the run."""
        if self.skipped:
            self.cut_short("interrupted", "", 0, None)

    def ended(self, text: str, number: int, at: str | None) -> None:
        """The last message: what was handed in, or what stopped the run."""
        draft, status = self.draft, self.exit_status
        if status in (None, "Submitted"):
            handed_in = self.skipped[0][0] if self.skipped else self.open[0] if self.open else None
            self.skipped = self.skipped[1:]
            if handed_in is not None:
                draft.returned(handed_in, text, number, at)
            else:
                draft.said("system", text, number, at)
        elif status in LIMITS:
            draft.signal("note", text.strip() or status, number, at)
        elif self.open:
            draft.returned(self.open[0], text, number, at, "error")
        else:
            draft.signal("api_error", text.strip() or status, number, at)
        self.open = []


def _is_observation(text: str, extra: Extra) -> bool:
    return (
        extra.returncode is not None
        or RETURN_CODE.search(text[:200]) is not None
        or TIMED_OUT.match(text) is not None
    )


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Where the fenced commands stand: a block ends at a fence that begins a line."""
    position = 0
    while found := FENCE.search(text, position):
        end = text.find("\n```", found.end() - 1)
        if end < 0:
            return
        position = end + 4
        yield found.start(), position


def _response_text(output: Any) -> str:
    """The words of a response of the Responses API, without its reasoning."""
    parts = output if isinstance(output, list) else []
    said = (
        content_text(part.get("content"))
        for part in parts
        if isinstance(part, dict) and part.get("type") == "message"
    )
    return "\n".join(filter(None, said))
