"""ShareGPT conversations: `from` and `value`, calls and results as turns or as tags in the text.

A file holds many. There are no ids and no times: a result belongs to the first open call of the
last response. Of a preference pair the chosen answer is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Raw, Struct, field

from agentlearn.sessions import document
from agentlearn.sessions.block_messages import answer
from agentlearn.sessions.calls import (
    OpenCalls,
    calls_from_json,
    calls_in,
    results_in,
    says_failed,
    without_thinking,
)
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import objects
from agentlearn.sessions.many import ManySessions, elements
from agentlearn.sessions.openai_chat import about, verdict
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text
from agentlearn.sessions.values import Session

DIALECT = "sharegpt"
NOTHING = Raw(b"")
PERSON = ("human", "user")
ASSISTANT = ("gpt", "assistant", "chatgpt", "model", "bot", "bing", "bard")
CALL = ("function_call", "tool_call", "function-call", "tool-call")
RESULT = ("observation", "tool", "function_response", "tool_response", "function", "ipython")


class Saying(Struct, gc=False):
    """One turn of a conversation. Some writers use the OpenAI names for the same."""

    sender: str | None = field(name="from", default=None)
    value: Any = None
    role: str | None = None
    content: Any = None


class Row(Struct, gc=False):
    id: Any = None
    session_id: Any = None
    conversation_id: Any = None
    conversations: Raw = NOTHING
    system: Any = None
    chosen: Raw = NOTHING
    model: Any = None
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
    for number, row in objects(source.stream, Row, many.warn):
        if memoryview(row.conversations):
            yield from many.done(conversation(row, many.draft(), number))
        else:
            many.strange(number, "line without conversations")
    yield from many.end()


def read_document(source: Source) -> Iterator[Session]:
    many = ManySessions(source, DIALECT, "entry")
    raws: list[bytes] = []
    for number, row, is_all in elements(source, Row, many, raws):
        if memoryview(row.conversations):
            draft = conversation(row, many.draft(), None, raws[number - 1])
            yield from many.done(draft, only=is_all)
        else:
            many.strange(number, "element without conversations")
    yield from many.end()


def conversation(row: Row, draft: Draft, line: int | None, whole: bytes = b"") -> Draft:
    raws = document.items(row.conversations)
    raws += document.items(row.chosen) or ([row.chosen] if document.fields(row.chosen) else [])
    if isinstance(row.system, str):
        draft.said("system", row.system, line or 1)
    reader = Conversation(draft)
    for number, saying in document.numbered(raws, Saying, draft, line):
        reader.add(saying, number)
    if isinstance(row.model, str):
        draft.model = row.model or None
    about(row, draft)
    verdict(row, draft, line, whole)
    return draft


class Conversation:
    """Adds the turns of one conversation to its draft."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.calls = OpenCalls(draft)
        self.unknown: set[str] = set()
        self._came_back = 0

    def add(self, saying: Saying, line: int) -> None:
        sender = saying.sender or saying.role or ""
        text = content_text(saying.content if saying.value is None else saying.value)
        if sender in PERSON:
            self._came_back += 1
            self.draft.said("user", text, line)
        elif sender in ASSISTANT:
            words, calls = calls_in(without_thinking(text))
            self.draft.said("assistant", words, line, step=self.step)
            self.call(calls, line)
        elif sender in CALL:
            words, calls = calls_in(without_thinking(text))
            self.call(calls or calls_from_json(words), line)
        elif sender in RESULT:
            self._came_back += 1
            for result in results_in(text):
                call_id = self.calls.answered_by(None)
                answer(self.draft, call_id, result, line, None, failed=says_failed(result))
        elif sender == "system":
            self.draft.said("system", text, line)
        elif sender not in self.unknown:
            self.unknown.add(sender)
            self.draft.warn(line, f"unknown sender {sender[:40]!r}", lost=False)

    @property
    def step(self) -> str:
        """Words and calls are one response until something comes back."""
        return str(self._came_back)

    def call(self, calls: list[tuple[str, Any]], line: int) -> None:
        for name, arguments in calls:
            self.calls.called(None, name, arguments, line, step=self.step)
