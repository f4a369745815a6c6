"""OpenAI chat messages, in the shapes that people keep them in.

One message a line is one session; one conversation a line (or an element of a list) is a session
each, with an optional verdict beside the messages. Of a preference pair the preferred output is
read, of a request log the response is the last message, and of a tau-bench episode the user is
simulated and the reward real. A flag `success` is the writer's own opinion and no verdict; a
score above 1 is on a scale that nothing states, so it is noted and judges nothing.
Messages with Anthropic blocks inside are read too: loggers write whatever they sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Raw, Struct

from agentlearn.sessions import document
from agentlearn.sessions.block_messages import BlockMessages, answer
from agentlearn.sessions.calls import (
    OpenCalls,
    calls_in,
    results_in,
    says_failed,
    without_thinking,
)
from agentlearn.sessions.claude_blocks import Block
from agentlearn.sessions.draft import Draft, finite_number
from agentlearn.sessions.lines import loosened, objects
from agentlearn.sessions.many import ManySessions, elements
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text, iso_time
from agentlearn.sessions.values import Session

DIALECT = "openai-chat"
NOTHING = Raw(b"")
RESULT_ROLES = ("tool", "function", "ipython")
REASONING_PARTS = ("thinking", "redacted_thinking", "reasoning", "reasoning_text")
BLOCK_TYPES = ("tool_use", "tool_result", "server_tool_use")
JUDGED = ("reward", "score", "resolved", "passed")
TASK_KEYS = ("task_id", "instance_id", "task")


class Function(Struct, gc=False):
    name: str | None = None
    arguments: Raw = NOTHING
    """JSON text in a string, as the API has it, or the object itself."""
    input: Raw = NOTHING


class ToolCall(Struct, gc=False):
    id: str | int | None = None
    function: Function | None = None
    custom: Function | None = None
    name: str | None = None
    arguments: Raw = NOTHING
    args: Raw = NOTHING


class ChatMessage(Struct, gc=False):
    role: str | None = None
    content: Any = None
    tool_calls: list[ToolCall] | None = None
    function_call: Function | None = None
    tool_call_id: str | int | None = None
    name: str | None = None
    tool_name: str | None = None
    refusal: str | None = None
    is_error: bool | None = None
    timestamp: Any = None


class Row(ChatMessage, gc=False):
    """One object of a file: a message by itself, or a whole conversation."""

    id: Any = None
    session_id: Any = None
    conversation_id: Any = None
    model: Any = None
    messages: Raw = NOTHING
    traj: Raw = NOTHING
    input: Raw = NOTHING
    preferred_output: Raw = NOTHING
    chosen: Raw = NOTHING
    response: Raw = NOTHING
    metadata: Any = None
    reward: Any = None
    score: Any = None
    resolved: Any = None
    passed: Any = None
    task_id: Any = None
    instance_id: Any = None
    task: Any = None
    trial: Any = None


def read_lines(source: Source) -> Iterator[Session]:
    many = ManySessions(source, DIALECT, "line")
    alone: Chat | None = None
    for number, row in objects(source.stream, Row, many.warn):
        if is_conversation(row):
            yield from many.done(conversation(row, many.draft(), number))
        elif row.role is not None:
            if alone is None:
                alone = Chat(many.draft())
            alone.add(row, number)
        else:
            many.strange(number, "line without messages")
    if alone is not None:
        yield from many.done(alone.draft, only=True)
    yield from many.end()


def read_document(source: Source) -> Iterator[Session]:
    many = ManySessions(source, DIALECT, "entry")
    raws: list[bytes] = []
    alone: Chat | None = None
    for number, row, is_all in elements(source, Row, many, raws):
        if is_conversation(row):
            draft = conversation(row, many.draft(), None, raws[number - 1])
            yield from many.done(draft, only=is_all)
        elif row.role is not None:
            if alone is None:
                alone = Chat(many.draft())
            alone.add(row, number)
        else:
            many.strange(number, "element without messages")
    if alone is not None:
        alone.draft.raws = raws
        yield from many.done(alone.draft, only=True)
    yield from many.end()


def is_conversation(row: Row) -> bool:
    return any(map(_is_there, (row.messages, row.traj, row.preferred_output)))


def _is_there(raw: Raw) -> bool:
    return len(memoryview(raw)) > 0


def conversation(row: Row, draft: Draft, line: int | None, whole: bytes = b"") -> Draft:
    """The draft of one conversation; its messages are numbered unless they share a line.

    `whole` is all of it, with what stands beside the messages.
    """
    raws = document.items(row.messages) or document.items(row.traj)
    raws = raws or document.items(document.fields(row.input).get("messages"))
    preferred = row.preferred_output if _is_there(row.preferred_output) else row.chosen
    raws += document.items(preferred) or ([preferred] if document.fields(preferred) else [])
    response = document.fields(row.response)
    raws += response_message(response, row.response)
    chat = Chat(draft)
    for number, message in document.numbered(raws, ChatMessage, draft, line):
        chat.add(message, number)
    about(row, draft)
    models = (row.model, document.value_of(response.get("model")))
    draft.model = next(filter(None, map(_text, models)), None)
    if response:  # a log is written when the answer is there
        created = document.value_of(response.get("created"))
        draft.ended_at = iso_time(row.timestamp) or iso_time(created)
    else:
        draft.started_at = iso_time(row.timestamp)
    verdict(row, draft, line, whole)
    return draft


def response_message(response: document.Fields, raw: Raw) -> list[Raw]:
    """The message of a logged response: the first choice's, or the response itself."""
    choices = document.items(response.get("choices"))
    message = document.fields(choices[0]).get("message") if choices else None
    if message is not None:
        return [message]
    return [raw] if "role" in response and "content" in response else []


def about(row: Any, draft: Draft) -> None:
    """Id and task of a conversation, from the keys beside its messages."""
    draft.id = next(filter(None, map(_text, (row.id, row.session_id, row.conversation_id))), None)
    extra = row.metadata if isinstance(row.metadata, dict) else {}
    for key in TASK_KEYS:
        task = getattr(row, key)
        task = extra.get(key) if task is None else task
        if isinstance(task, (str, int)) and not isinstance(task, bool):
            draft.metadata["task"] = str(task)
            break
    if isinstance(row.trial, (str, int)):
        draft.metadata["trial"] = str(row.trial)


def verdict(row: Any, draft: Draft, line: int | None, whole: bytes) -> None:
    """A judge's number beside the messages, or under their metadata."""
    extra = row.metadata if isinstance(row.metadata, dict) else {}
    found = [(key, getattr(row, key)) for key in JUDGED] + [(key, extra.get(key)) for key in JUDGED]
    for key, value in found:
        score = finite_number(value)
        if score is None:
            continue
        number = line or draft.number_after_all(whole)
        said = f"{key}: {str(value).lower()}"
        if score > 1:
            draft.signal("note", f"{said}, on an unknown scale", number)
        else:
            draft.signal("verdict", said, number, value=score)
        return


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


class Chat:
    """Adds the messages of one conversation to its draft."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.calls = OpenCalls(draft)
        self.blocks = BlockMessages(draft, self.calls)
        self.unknown: set[str] = set()
        self._responses = 0

    def add(self, message: ChatMessage, line: int) -> None:
        role, at = message.role or "", iso_time(message.timestamp)
        blocks = blocks_of(message.content)
        if role in ("assistant", "model"):
            self._responses += 1
            self.response(message, blocks, line, at)
        elif role == "user" and blocks:
            self.blocks.user(blocks, line, at)
        elif role == "user":
            self.blocks.user(content_text(message.content), line, at)
        elif role in RESULT_ROLES:
            self.result(message, line, at)
        elif role in ("system", "developer"):
            self.draft.said("system", content_text(message.content), line, at)
        elif role not in self.unknown:
            self.unknown.add(role)
            self.draft.warn(line, f"unknown role {role[:40]!r}", lost=False)

    def response(
        self, message: ChatMessage, blocks: list[Block], line: int, at: str | None
    ) -> None:
        step = str(self._responses)
        if blocks:
            self.blocks.response(blocks, line, at, step)
            return
        words = without_thinking(content_text(spoken(message.content))) or message.refusal or ""
        words, tagged = calls_in(words) if not message.tool_calls else (words, [])
        self.draft.said("assistant", words, line, at, step)
        for name, arguments in tagged:
            self.calls.called(None, name, arguments, line, at, step=step)
        for call in message.tool_calls or ():
            function = (
                call.function or call.custom or Function(call.name, call.arguments, call.args)
            )
            self.call(_id(call.id), function, line, at, step)
        if message.function_call is not None and not message.tool_calls:
            self.call(None, message.function_call, line, at, step)

    def call(
        self, id: str | None, function: Function, line: int, at: str | None, step: str
    ) -> None:
        raw = function.arguments if _is_there(function.arguments) else function.input
        arguments = document.value_of(raw)
        self.calls.called(id, function.name or "", arguments, line, at, step=step)

    def result(self, message: ChatMessage, line: int, at: str | None) -> None:
        for text in results_in(content_text(message.content)):
            failed = message.is_error if message.is_error is not None else says_failed(text)
            tool = message.name or message.tool_name
            call_id = self.calls.answered_by(_id(message.tool_call_id), tool)
            answer(self.draft, call_id, text, line, at, failed=failed)


def _id(value: str | int | None) -> str | None:
    return None if value is None else str(value)


def spoken(content: Any) -> Any:
    """The parts of a message that are not reasoning."""
    if not isinstance(content, list):
        return content
    return [
        part
        for part in content
        if not (isinstance(part, dict) and part.get("type") in REASONING_PARTS)
    ]


def blocks_of(content: Any) -> list[Block]:
    """The content as Anthropic blocks, where it holds calls or results; else nothing."""
    if not isinstance(content, list):
        return []
    parts = [part for part in content if isinstance(part, dict)]
    if not any(part.get("type") in BLOCK_TYPES for part in parts):
        return []
    return [loosened(part, Block) for part in parts]
