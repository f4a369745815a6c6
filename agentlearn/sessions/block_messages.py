"""Messages made of Anthropic content blocks, as several agents keep them.

A response's words and calls share a step. A response goes on until something comes back: agents
that write one block a message would otherwise part the words from the call they announce.
Refusals are recognised by Claude's wording, which travels with the messages into other logs.
"""

from __future__ import annotations

from agentlearn.sessions.calls import OpenCalls, exit_code_in
from agentlearn.sessions.claude_blocks import Block, block_text, strip_reminders, typed_by
from agentlearn.sessions.claude_code import (
    COLLATERAL,
    INTERRUPTED,
    NOT_THEIRS,
    REASONS,
    REJECTED,
)
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.values import Status


class BlockMessages:
    """Adds the messages of one session to its draft."""

    def __init__(self, draft: Draft, calls: OpenCalls | None = None) -> None:
        self.draft = draft
        self.calls = calls or OpenCalls(draft)
        self._came_back = 0

    def add(
        self, role: str | None, content: str | list[Block] | None, line: int, at: str | None = None
    ) -> bool:
        """False for a role that nobody has."""
        if role == "assistant":
            self.response(content, line, at, f"r{self._came_back}")
        elif role == "user":
            self.user(content, line, at)
        elif role in ("system", "developer"):
            self.draft.said("system", block_text(content), line, at)
        else:
            return False
        return True

    def response(
        self, content: str | list[Block] | None, line: int, at: str | None, step: str
    ) -> None:
        if isinstance(content, str):
            self.draft.said("assistant", content, line, at, step)
            return
        for block in content or ():
            if block.type in ("tool_use", "server_tool_use"):
                arguments = memoryview(block.input)
                self.calls.called(block.id, block.name or "", arguments, line, at, step=step)
            elif block.type not in ("thinking", "redacted_thinking", "reasoning"):
                self.draft.said("assistant", block_text(block), line, at, step)

    def user(self, content: str | list[Block] | None, line: int, at: str | None) -> None:
        self._came_back += 1
        texts: list[str] = []
        for block in content if isinstance(content, list) else [Block("text", content)]:
            if block.type == "tool_result":
                self.result(block, line, at)
            elif text := strip_reminders(block_text(block)):
                texts.append(text)
        self.words("\n".join(texts), line, at)

    def words(self, text: str, line: int, at: str | None) -> None:
        """What stands in the person's place: their words, or a note of the harness."""
        if text.startswith(INTERRUPTED):
            self.draft.signal("interruption", "", line, at)
            return
        role, text = typed_by(text)
        self.draft.said(role, text, line, at)

    def result(self, block: Block, line: int, at: str | None) -> None:
        call_id = self.calls.answered_by(block.tool_use_id, block.name)
        answer(self.draft, call_id, block_text(block.content), line, at, failed=block.is_error)


def answer(
    draft: Draft, call_id: str, text: str, line: int, at: str | None, *, failed: bool | None
) -> None:
    """A result, and the person's words if they refused the call with some."""
    status: Status = "error" if failed else "ok"
    if text.startswith(REJECTED):
        status = "rejected"
    elif COLLATERAL.match(text) or text.startswith(INTERRUPTED):
        status = "interrupted"
    exit_code = None if status in ("rejected", "interrupted") else exit_code_in(text)
    draft.returned(call_id, text, line, at, status, exit_code)
    reason = REASONS.search(text) if status == "rejected" else None
    if reason and reason[1].strip() and not reason[1].startswith(NOT_THEIRS):
        draft.signal("rejection", reason[1].strip(), line, at, call_id=call_id)
