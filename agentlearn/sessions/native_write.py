"""Sessions as native JSON lines. Writing what was read from such lines gives the same bytes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import orjson

from agentlearn.sessions.native import SCHEMA
from agentlearn.sessions.values import Call, Entry, Message, Result, Session, Signal


def native_lines(session: Session) -> Iterator[bytes]:
    """The lines of a session, each with its end."""
    yield _line(
        {
            "type": "session",
            "schema": SCHEMA,
            "id": session.id,
            "goal": session.goal,
            "agent": session.agent,
            "model": session.model,
            "version": session.version,
            "cwd": session.cwd,
            "parent": session.parent,
            "started_at": session.started_at,
            "metadata": _metadata(session),
        }
    )
    is_native = session.dialect == "native"
    waiting: Entry | None = None
    for entry in session.entries:
        if type(waiting) is Call:
            if type(entry) is Result and entry.call_id == waiting.id:
                yield _line(_turn(waiting, entry))
                waiting = None
                continue
            yield _line(_turn(waiting, None))
            waiting = None
        if type(entry) is Call and not entry.tool and entry.id.startswith("turn-"):
            waiting = entry
        else:
            yield _line(_fields(entry, is_native))
    if type(waiting) is Call:
        yield _line(_turn(waiting, None))
    yield _line(
        {
            "type": "outcome",
            "outcome": session.outcome,
            "reason": session.reason,
            "ended_at": session.ended_at,
        }
    )


def _metadata(session: Session) -> orjson.Fragment | None:
    metadata = session.metadata
    if session.dialect != "native":
        metadata = {**metadata, "dialect": session.dialect, "unit": session.unit}
    # orjson refuses what it need not: integers over 64 bits, values nested 255 deep.
    return orjson.Fragment(msgspec.json.encode(metadata)) if metadata else None


def _turn(call: Call, result: Result | None) -> dict[str, Any]:
    """A native `turn` line again, from the call and the result it was read as."""
    return {
        "type": "turn",
        "action": call.arguments,
        "observation": None if result is None else result.text,
        "reward": _reward(call),
        "at": call.at,
        "line": call.source_line or None,
    }


def _fields(entry: Entry, is_native: bool) -> dict[str, Any]:
    line = (entry.source_line if is_native else entry.line) or None
    if isinstance(entry, Message):
        return {
            "type": "message", "role": entry.role, "text": entry.text, "at": entry.at,
            "step": entry.step, "line": line,
        }  # fmt: skip
    if isinstance(entry, Call):
        return {
            "type": "call", "id": entry.id, "tool": entry.tool,
            "arguments": _arguments(entry.arguments), "continues": entry.continues,
            "reward": _reward(entry),
            "at": entry.at, "step": entry.step, "line": line,
        }  # fmt: skip
    if isinstance(entry, Result):
        return {
            "type": "result", "call_id": entry.call_id, "text": entry.text,
            "status": entry.status, "exit_code": entry.exit_code, "child": entry.child,
            "at": entry.at, "line": line,
        }  # fmt: skip
    assert isinstance(entry, Signal)
    return {
        "type": "signal", "kind": entry.kind, "text": entry.text, "value": entry.value,
        "undoes": entry.undoes or None, "call_id": entry.call_id, "at": entry.at, "line": line,
    }  # fmt: skip


def _reward(call: Call) -> dict[str, Any] | None:
    if call.reward is None:
        return None
    if call.reward.kind == "neutral":
        return {"kind": "neutral"}
    return {"kind": call.reward.kind, "value": call.reward.value}


def _arguments(text: str) -> Any:
    """A JSON object as it stands, anything else as a string."""
    if text.startswith("{") and "\n" not in text and "\r" not in text:
        try:
            msgspec.json.decode(text)
        except (msgspec.MsgspecError, RecursionError):
            return text
        return orjson.Fragment(text)
    return text


def _line(fields: dict[str, Any]) -> bytes:
    kept = {key: value for key, value in fields.items() if value is not None}
    return orjson.dumps(kept, option=orjson.OPT_APPEND_NEWLINE)
