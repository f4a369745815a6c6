"""A session while it is being read: readers add what they find, `finish` freezes it."""

from __future__ import annotations

import math
from typing import Any, Literal

import msgspec

from agentlearn.sessions.values import (
    FIELD_CAP,
    Call,
    Entry,
    Message,
    Packed,
    Place,
    Result,
    Role,
    Session,
    Signal,
    SignalKind,
    Status,
    Warning_,
    cut,
    pack,
)

MAX_WARNINGS = 200
"""A file of a million broken lines must not become a million warnings."""


class Draft:
    """What is known of a session so far. Attributes that a reader sets end up on the session."""

    def __init__(
        self, dialect: str, path: str | None, unit: Literal["line", "entry"] = "line"
    ) -> None:
        self.dialect = dialect
        self.path = path
        self.unit = unit
        self.entries: list[Entry] = []
        self.warnings: list[Warning_] = []
        self.unlisted = 0
        self.raws: list[bytes] = []
        self.metadata: dict[str, Any] = {}
        self.id: str | None = None
        self.agent: str | None = None
        self.model: str | None = None
        self.version: str | None = None
        self.cwd: str | None = None
        self.goal: str | None = None
        self.started_at: str | None = None
        self.ended_at: str | None = None
        self.parent: str | None = None
        self.outcome = "unknown"
        self.reason: str | None = None

    def said(
        self, role: Role, text: str, line: int, at: str | None = None, step: str | None = None
    ) -> None:
        """Words; empty ones are nothing said."""
        if text and not text.isspace():
            self.entries.append(Message(role, pack(text), line, at, step))

    def called(
        self,
        id: str | None,
        tool: str,
        arguments: Any,
        line: int,
        at: str | None = None,
        step: str | None = None,
        continues: str | None = None,
    ) -> str:
        """A call; without an id of its own it is given one, which is returned."""
        call_id = id or f"call-{len(self.entries)}"
        packed = pack_arguments(arguments)
        self.entries.append(Call(call_id, tool, packed, line, at, step, continues=continues))
        return call_id

    def returned(
        self,
        call_id: str,
        text: str,
        line: int,
        at: str | None = None,
        status: Status = "ok",
        exit_code: int | None = None,
        child: str | None = None,
    ) -> None:
        code = possible_exit_code(exit_code)
        self.entries.append(Result(call_id, pack(text), line, at, status, code, child))

    def signal(
        self,
        kind: SignalKind,
        text: str,
        line: int,
        at: str | None = None,
        value: float | None = None,
        undoes: int = 0,
        call_id: str | None = None,
        place: Place | None = None,
    ) -> None:
        self.entries.append(
            Signal(kind, pack(text), line, at, finite(value), undoes, call_id, 0, place)
        )

    def number_after_all(self, raw: bytes) -> int:
        """The number of an object of a document that stands outside the list of its entries."""
        self.raws.append(raw)
        return len(self.raws)

    def warn(self, line: int, reason: str, lost: bool = True) -> None:
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings.append(Warning_(line, reason, lost))
            return
        self.unlisted += 1
        if len(self.warnings) > MAX_WARNINGS:
            first = self.warnings.pop()
            line, lost = first.line, lost or first.lost
        reason = f"and {self.unlisted} more, from here on"
        self.warnings.append(Warning_(line, reason, lost, self.unlisted))

    def finish(self, id: str | None = None) -> Session:
        """The session; its goal is the first thing the person said, where nothing states one."""
        verdict = next(
            (e.value for e in reversed(self.entries) if type(e) is Signal and e.kind == "verdict"),
            None,
        )
        if self.outcome in ("unknown", "in_progress") and verdict is not None:
            self.outcome = outcome_of(verdict)
        times = [entry.at for entry in self.entries if entry.at]
        goal = self.goal
        if goal is None:
            goal = next(
                (e.text for e in self.entries if type(e) is Message and e.role == "user"), None
            )
        return Session(
            id=id or self.id or "",
            dialect=self.dialect,
            entries=self.entries,
            unit=self.unit,
            path=self.path,
            agent=self.agent,
            model=self.model,
            version=self.version,
            cwd=self.cwd,
            goal=goal,
            started_at=self.started_at or (times[0] if times else None),
            ended_at=self.ended_at or (times[-1] if times else None),
            parent=self.parent,
            outcome=self.outcome,
            reason=self.reason,
            metadata=self.metadata,
            warnings=self.warnings,
            raws=self.raws,
        )


def possible_exit_code(value: int | None) -> int | None:
    """An exit code, unless no program could have left it."""
    return value if value is not None and -(2**31) <= value < 2**32 else None


def finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def finite_number(value: Any) -> float | None:
    """A number, or a flag as one; None for what is neither, or too large for a float."""
    if not isinstance(value, (bool, int, float)):
        return None
    try:
        return finite(float(value))
    except OverflowError:
        return None


def outcome_of(score: float) -> str:
    """A full score is success; a part of one is not."""
    return "success" if score >= 1.0 else "failure"


def pack_arguments(arguments: Any) -> Packed:
    """Arguments as JSON text (or the raw text a model wrote), long values inside them cut."""
    if isinstance(arguments, (bytes, bytearray, memoryview)):
        arguments = _on_one_line(bytes(arguments)).decode("utf-8", "replace")
    if not isinstance(arguments, str):
        arguments = "" if arguments is None else msgspec.json.encode(arguments).decode()
    if len(arguments) > FIELD_CAP:
        arguments = _cut_inside(arguments)
    return pack(arguments)


def _on_one_line(data: bytes) -> bytes:
    """JSON without the white space of a file that was written for people to read."""
    if b"\n" not in data and b"\r" not in data:
        return data
    try:
        return msgspec.json.format(data, indent=-1)
    except (msgspec.MsgspecError, RecursionError):
        return data


def _cut_inside(arguments: str) -> str:
    """Shorten the long strings of a JSON object, so that it stays one."""
    try:
        value = msgspec.json.decode(arguments)
        for cap in (FIELD_CAP // 2, FIELD_CAP // 8, FIELD_CAP // 64):
            shorter = msgspec.json.encode(_shorten(value, cap)).decode()
            if len(shorter) <= FIELD_CAP:
                return shorter
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        pass
    return cut(arguments)


def _shorten(value: Any, cap: int) -> Any:
    if isinstance(value, str) and len(value) > cap:
        return f"{value[:cap]}…({len(value)} characters, the end is left out)…"
    if isinstance(value, dict):
        return {key: _shorten(item, cap) for key, item in value.items()}
    if isinstance(value, list):
        return [_shorten(item, cap) for item in value]
    return value
