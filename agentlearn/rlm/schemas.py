"""The tools of an explorer as models are told of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentlearn.models.model import Tool

MOST_PARTS = 20
LINES = {"type": "integer", "minimum": 1}
SESSION = {"type": "string", "description": "Its id, or its number; only if there are several."}
PLACE = {"type": "string", "description": "Lines, as L120-L138; session#L120 of several."}


def _tool(name: str, description: str, required: Sequence[str], **fields: Any) -> Tool:
    schema = {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }
    return Tool(name, description, schema)


ANSWER = _tool(
    "answer",
    "End with the answer, and the lines that it rests on.",
    ["text", "citations"],
    text={"type": "string"},
    citations={"type": "array", "items": PLACE},
)
TOOLS = (
    _tool(
        "outline",
        "What there is: turns, tools, failures, the person's words. Of a stretch, or of all.",
        [],
        first=LINES,
        last=LINES,
        session=SESSION,
    ),
    _tool(
        "look",
        "The text of lines, first to last.",
        ["first", "last"],
        first=LINES,
        last=LINES,
        session=SESSION,
    ),
    _tool(
        "search",
        "Where a regular expression is found; upper and lower case are the same. An entry reads as "
        "`user: …`, `assistant: …`, `tool_call: Bash …`, `tool_result: (error, exit code 1) …`.",
        ["pattern"],
        pattern={"type": "string"},
        first=LINES,
        last=LINES,
        session=SESSION,
    ),
    _tool(
        "ask",
        "Another model reads these lines and answers a question about them.",
        ["question", "first", "last"],
        question={"type": "string"},
        first=LINES,
        last=LINES,
        session=SESSION,
    ),
    _tool(
        "ask_each",
        f"The same question about several parts, at most {MOST_PARTS}, read side by side.",
        ["question", "parts"],
        question={"type": "string"},
        parts={"type": "array", "items": PLACE},
        session=SESSION,
    ),
    ANSWER,
)
STATUS = {"ask": "asking", "ask_each": "asking", "answer": "answering"}
"""What a run is doing while a tool is used; else it is searching."""
