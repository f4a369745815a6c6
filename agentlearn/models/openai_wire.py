"""The words of the OpenAI chat API: our values in, their JSON out, and back.

Servers take liberties with what they send: content that is null or in parts, calls without ids,
arguments that are no text. All of it becomes a `Reply`. What is sent back to them is stricter than
what they sent, because some refuse their own model's mistakes when they see them again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from agentlearn.guard import one_line
from agentlearn.models.model import Reply, Said, Tool, ToolCall, Usage

SENTENCE = 300
"""Characters of a server's own words that are shown."""
MARKUP = re.compile(r"<style.*?</style>|<script.*?</script>|<[^>]*>", re.DOTALL)
"""Of the pages that gateways answer with. It is slow on hostile text: only for short ones."""


def as_message(said: Said) -> dict[str, Any]:
    text = whole(said.text)
    if said.role == "tool":
        return {"role": "tool", "tool_call_id": whole(said.call_id or ""), "content": text}
    if not said.calls:
        return {"role": said.role, "content": text}
    calls = [
        {
            "id": whole(call.id),
            "type": "function",
            "function": {
                "name": _allowed_name(call.name),
                "arguments": _valid_arguments(call.arguments),
            },
        }
        for call in said.calls
    ]
    return {"role": said.role, "content": text or None, "tool_calls": calls}


def as_function(tool: Tool) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": whole(tool.description),
        "parameters": tool.parameters,
    }
    return {"type": "function", "function": function}


def whole(text: str) -> str:
    """The text without halves of surrogate pairs, which nobody can send."""
    return text.encode("utf-8", "replace").decode()


def _allowed_name(name: str) -> str:
    """Servers refuse a conversation in which the model once called a tool `../../x`."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "unnamed"


def _valid_arguments(arguments: str) -> str:
    """llama.cpp, for one, answers 500 to a conversation with broken JSON in a call."""
    arguments = whole(arguments)
    try:
        msgspec.json.decode(arguments)
    except (ValueError, RecursionError):
        return json.dumps({"not_json": arguments[:2000]}, ensure_ascii=False)
    return arguments


def parse(body: bytes) -> Any:
    """The JSON of an answer; ValueError if it is none."""
    try:
        return json.loads(body.decode("utf-8-sig", "replace"))
    except RecursionError:
        raise ValueError("nested too deep") from None


def reply_of(value: Any, messages: Sequence[Said]) -> Reply | None:
    """The reply in an answer, or None if there is none in it."""
    choices = _field(value, "choices", list)
    if not choices:
        return None
    message = _field(choices[0], "message", dict)
    if message is None:
        return None
    finish = _field(choices[0], "finish_reason", str)
    return Reply(_text(message), _calls(message, messages), _usage(value), finish)


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(_field(part, "text", str) or "" for part in content)
    if not isinstance(content, str):
        content = _field(message, "refusal", str) or ""
    return whole(content)


def _calls(message: dict[str, Any], messages: Sequence[Said]) -> tuple[ToolCall, ...]:
    taken = {call.id for said in messages for call in said.calls}
    calls = []
    for item in _field(message, "tool_calls", list) or []:
        function = _field(item, "function", dict) or {}
        given = whole(_field(item, "id", str) or "")
        call_id = given if given and given not in taken else _new_id(taken)
        taken.add(call_id)
        name = whole(_field(function, "name", str) or "")
        calls.append(ToolCall(call_id, name, _arguments(function.get("arguments"))))
    return tuple(calls)


def _new_id(taken: set[str]) -> str:
    """The same conversation gives the same ids."""
    number = len(taken) + 1
    while f"call_{number}" in taken:
        number += 1
    return f"call_{number}"


def _arguments(value: Any) -> str:
    if value is None or value == "":
        return "{}"
    return whole(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _usage(value: Any) -> Usage:
    usage = _field(value, "usage", dict) or {}
    return Usage(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0))


def _field(value: Any, name: str, kind: type) -> Any:
    """What stands in the field, if value is an object and it is of that kind."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, kind) else None


def error_in(value: Any) -> dict[str, Any] | None:
    """The error in an answer, also in one whose status says that all is well."""
    error = value.get("error") if isinstance(value, dict) else None
    if isinstance(error, str) and error:
        return {"message": error}
    return error if isinstance(error, dict) and error else None


def sentence_in(body: bytes) -> str:
    """What a server says of its refusal, on one line."""
    try:
        value = parse(body)
    except ValueError:
        text = MARKUP.sub(" ", body[:4096].decode(errors="replace"))
    else:
        error = error_in(value) or (value if isinstance(value, dict) else {})
        text = next((error[name] for name in ("message", "detail", "error") if error.get(name)), "")
        text = text if isinstance(text, str) else json.dumps(text)
    return one_line(text, SENTENCE).rstrip(". ")


def model_names_in(value: Any) -> list[str]:
    names = (_field(item, "id", str) for item in _field(value, "data", list) or [])
    return [one_line(name, 100) for name in names if name][:1000]
