"""Parts of the Gemini API, which Gemini CLI and Qwen Code write to disk as they are.

All functions take plain values of any shape: what is not a part is nothing.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from agentlearn.sessions.text import content_text, last_number_in, part_text
from agentlearn.sessions.values import Status

# One writer escapes the line ends of a tool's output twice.
EXIT_CODE = re.compile(r"(?:^|\n|\\n)Exit Code: (-?\d{1,6})\b")
CUT_SHORT = (
    "cancelled tool execution",
    "call cancelled by user",
    "Tool cancelled by user",
    "abort",
)


def parts_of(content: Any) -> list[Any]:
    """The parts of a message, whose content may also be a string or a single part."""
    if isinstance(content, list):
        return content
    return [] if content is None else [content]


def words_of(content: Any) -> list[str]:
    """The text of each part, without thoughts, calls and responses."""
    found = []
    for part in parts_of(content):
        if isinstance(part, dict) and (part.get("thought") or "functionResponse" in part):
            continue
        if text := part_text(part):
            found.append(text)
    return found


def calls_of(content: Any) -> list[dict[str, Any]]:
    return _inside(content, "functionCall")


def responses_of(content: Any) -> list[dict[str, Any]]:
    return _inside(content, "functionResponse")


def _inside(content: Any, key: str) -> list[dict[str, Any]]:
    parts = [part.get(key) for part in parts_of(content) if isinstance(part, dict)]
    return [part for part in parts if isinstance(part, dict)]


def result_text(result: Any) -> str:
    """What a tool gave back: its responses, and what stands beside them."""
    texts = [response_text(response) for response in responses_of(result)]
    return "\n".join(filter(None, texts + words_of(result)))


def response_text(function_response: dict[str, Any]) -> str:
    response = function_response.get("response")
    texts = [content_text(function_response.get("parts"))]
    if isinstance(response, dict):
        keys = [key for key in ("output", "error", "content", "result") if response.get(key)]
        value = response[keys[0]] if keys else (response if response.keys() - {"output"} else "")
    else:
        value = response
    texts.insert(0, value if isinstance(value, str) else as_json(value))
    return "\n".join(filter(None, texts))


def as_json(value: Any) -> str:
    return "" if value is None else msgspec.json.encode(value).decode()


def is_error_response(function_response: dict[str, Any]) -> bool:
    response = function_response.get("response")
    return isinstance(response, dict) and bool(response.get("error")) and not response.get("output")


def status_of(status: Any, text: str, failed: bool = False) -> Status | None:
    """The status of a tool's result; None while it has none.

    A shell command that failed counts as `success` here: its exit code stands in the text.
    """
    if status == "cancelled" or text.startswith("[Operation Cancelled]"):
        return "interrupted" if any(mark in text for mark in CUT_SHORT) else "rejected"
    if status == "error":
        return "error"
    if status == "success" or (text and status in (None, "")):
        return "error" if failed else "ok"
    return None


def exit_code_of(tool: str, text: str) -> int | None:
    return last_number_in(EXIT_CODE, text) if "shell" in tool.lower() else None
