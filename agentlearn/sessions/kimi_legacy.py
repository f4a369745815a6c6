"""Events of Kimi's older wire files, in the shape of the newer ones.

They are named like `TurnBegin` and carry a payload. The arguments of a call may stream in behind
it, in parts without an id. What a sub-agent does stands inside its parent's file and is left out.
"""

from __future__ import annotations

from typing import Any


def current(message: dict[str, Any]) -> dict[str, Any] | None:
    """The event in today's shape; None for one that says nothing of the session."""
    payload = _object(message.get("payload"))
    kind = message.get("type")
    if kind in ("TurnBegin", "SteerInput"):
        return {"type": "prompt", "input": payload.get("user_input")}
    if kind == "StepBegin":
        return {"type": "step.begin"}
    if kind == "ContentPart":
        return {"type": "content.part", "part": payload}
    if kind == "ToolCall":
        function = _object(payload.get("function"))
        given = {"name": function.get("name"), "args": function.get("arguments")}
        return {"type": "tool.call", "toolCallId": payload.get("id"), **given}
    if kind == "ToolCallPart":
        return {"type": "more", "args": payload.get("arguments_part")}
    if kind == "ToolResult":
        value = _object(payload.get("return_value"))
        text = value.get("output") or value.get("message")
        result = {"output": text, "isError": value.get("is_error") is True}
        return {"type": "tool.result", "toolCallId": payload.get("tool_call_id"), "result": result}
    if kind == "ApprovalRequest":
        asked = {"id": payload.get("id"), "toolCallId": payload.get("tool_call_id")}
        return {"type": "asked", **asked}
    if kind in ("ApprovalResponse", "ApprovalRequestResolved"):
        answer = {"decision": payload.get("response"), "feedback": payload.get("feedback")}
        return {"type": "answered", "id": payload.get("request_id"), **answer}
    if kind == "StepInterrupted":
        return {"type": "interrupted"}
    if kind == "CompactionBegin":
        return {"type": "compaction"}
    return None


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
