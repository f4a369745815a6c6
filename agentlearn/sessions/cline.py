"""Cline: the SDK's session document, and the list of API messages that came before it.

The SDK writes Anthropic messages; a tool's result is an object, or a list of them, that says
`success` for each part of the work: a part that failed fails the call. The old list (Roo keeps it
too) puts results into the person's mouth as text, `[tool for '…'] Result:`, with their feedback
in tags and the editor's state behind it; the oldest wrote calls as XML into the response.
`attempt_completion` is a claim, and what the person answers to it is what counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec import Raw, Struct

from agentlearn.sessions import document
from agentlearn.sessions.block_messages import BlockMessages
from agentlearn.sessions.calls import says_failed, without_thinking
from agentlearn.sessions.claude_blocks import Block, block_text
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import loosened
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text, iso_time, number_in
from agentlearn.sessions.values import Session, Status

DIALECT = "cline"
TOOLS = (
    "execute_command|read_file|write_to_file|replace_in_file|apply_diff|insert_content|"
    "search_and_replace|search_files|list_files|list_code_definition_names|browser_action|"
    "use_mcp_tool|access_mcp_resource|ask_followup_question|attempt_completion|switch_mode|"
    "new_task|plan_mode_respond|fetch_instructions|update_todo_list|codebase_search|web_fetch"
)
XML_CALL = re.compile(rf"<({TOOLS})>(.*?)(?:</\1>|\Z)", re.DOTALL)
XML_ARGUMENT = re.compile(r"<(\w+)>(.*?)(?:</\1>|\Z)", re.DOTALL)
RESULT = re.compile(r"\A\[(\w+)(?: [^\n]*)?\] Result:[ \n]?")
FEEDBACK = re.compile(r"<(feedback|user_message|answer)>(.*?)(?:</\1>|\Z)", re.DOTALL)
EDITOR_STATE = re.compile(r"<environment_details>.*?(?:</environment_details>|\Z)", re.DOTALL)
TASK = re.compile(r"\A<(task|user_message|feedback|answer)>(.*)</\1>\Z", re.DOTALL)
DENIED = "The user denied this operation"
HARNESS = ("[ERROR]", "[TASK RESUMPTION]", "# task_progress", "# TODO LIST", "<explicit_")
EXIT_CODE = re.compile(r"(?:\A|\n)Exit code: (\d{1,6})\b")


class ModelInfo(Struct, gc=False):
    id: str | None = None
    modelId: str | None = None


class ClineMessage(Struct, gc=False):
    role: str | None = None
    content: Any = None
    ts: Any = None
    modelInfo: ModelInfo | None = None


def read_document(source: Source) -> Iterator[Session]:
    value = document.load(source)
    draft = Draft(DIALECT, source.name, "entry")
    draft.agent = "cline"
    raws: list[Raw] = value if isinstance(value, list) else document.items(value.get("messages"))
    if isinstance(value, dict):
        draft.id = document.text_of(value.get("sessionId"))
        draft.said("system", document.text_of(value.get("system_prompt")) or "", 1)
    messages = ClineMessages(draft)
    unknown: set[str] = set()
    for number, message in document.numbered(raws, ClineMessage, draft):
        if info := message.modelInfo:
            draft.model = info.id or info.modelId or draft.model
        role = message.role or ""
        content = blocks_of(message.content)
        if not messages.add(role, content, number, iso_time(message.ts)) and role not in unknown:
            unknown.add(role)
            draft.warn(number, f"unknown role {role[:40]!r}", lost=False)
    yield draft.finish(draft.id or source.id_from_bytes())


def blocks_of(content: Any) -> list[Block]:
    """The blocks of a message; what an SDK tool returned becomes the text of its result."""
    if isinstance(content, str):
        return [Block("text", content)]
    blocks = []
    for part in content if isinstance(content, list) else []:
        if not isinstance(part, dict) or part.get("type") == "file":
            continue  # a file that the person named: its text is not what they said
        block = loosened(part, Block)
        if block.type == "tool_result":
            block.content, failed = outcome_of(part.get("content"))
            block.is_error = block.is_error or failed
        blocks.append(block)
    return blocks


def outcome_of(content: Any) -> tuple[str, bool]:
    """Text of a result, and whether a part of it failed."""
    parts = document.value_of(content.encode()) if is_json(content) else content
    parts = parts if isinstance(parts, list) else [parts]
    stated = [part for part in parts if isinstance(part, dict) and "success" in part]
    if not stated:
        return content_text(content), False
    texts = [content_text(part.get("error") or part.get("result")) for part in stated]
    return "\n".join(texts), any(part["success"] is False for part in stated)


def is_json(content: Any) -> bool:
    return isinstance(content, str) and content[:1] in ("{", "[")


class ClineMessages(BlockMessages):
    """Anthropic messages, with what the old list writes as text."""

    def response(
        self, content: str | list[Block] | None, line: int, at: str | None, step: str
    ) -> None:
        for block in content if isinstance(content, list) else []:
            if block.text is None:
                super().response([block], line, at, step)
                continue
            text = without_thinking(block.text)
            self.draft.said("assistant", XML_CALL.sub("", text).strip(), line, at, step)
            for found in XML_CALL.finditer(text):
                named = {name: text.strip("\n") for name, text in XML_ARGUMENT.findall(found[2])}
                arguments = named or found[2].strip()
                self.calls.called(None, found[1], arguments, line, at, step=step)

    def user(self, content: str | list[Block] | None, line: int, at: str | None) -> None:
        """Results and words; a text without a heading goes on with the result before it."""
        self._came_back += 1
        tool, text = "", ""
        for block in content if isinstance(content, list) else []:
            if block.type == "tool_result":
                self.result(block, line, at)
                continue
            said = EDITOR_STATE.sub("", block_text(block)).strip()
            heading = RESULT.match(said)
            if tool and said and not heading and not FEEDBACK.match(said):
                text = f"{text}\n{said}".strip()
                continue
            self.text_result(tool, text, line, at)
            tool, text = (heading[1], said[heading.end() :]) if heading else ("", "")
            if said and not heading:
                self.words(said, line, at)
        self.text_result(tool, text, line, at)

    def text_result(self, tool: str, text: str, line: int, at: str | None) -> None:
        if not tool:
            return
        call_id = self.calls.answered_by(None, tool)
        words = "\n".join(words.strip() for _, words in FEEDBACK.findall(text))
        if text.startswith(DENIED):
            self.draft.returned(call_id, text, line, at, "rejected")
            if words:
                self.draft.signal("rejection", words, line, at, call_id=call_id)
            return
        status: Status = "error" if says_failed(text) else "ok"
        code = number_in(EXIT_CODE, text) if tool == "execute_command" else None
        self.draft.returned(call_id, text, line, at, status, code)
        self.draft.said("user", words, line, at)

    def words(self, text: str, line: int, at: str | None) -> None:
        task = TASK.match(text)
        if task is None and text.startswith(HARNESS):
            self.draft.said("system", text, line, at)
        else:
            super().words(task[2].strip() if task else text, line, at)
