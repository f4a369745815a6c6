"""The native format: JSON lines, one session after another, or several written at once.

A line without `session_id` belongs to the session that began last. Such a session is complete when
the next one begins; one whose lines carry `session_id` may go on later, until its outcome. What is
complete is handed on when the next session begins, so that a file of many needs the memory of one;
of those written at once in the order of their heads. A session that has no lines yet may go on too.

The same session as one object with `turns`, as other tools serialize it, is read too; totals
are recomputed, and a stored one that disagrees is a warning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw, Struct, structs

from agentlearn.sessions import document
from agentlearn.sessions.draft import Draft, finite, pack_arguments, possible_exit_code
from agentlearn.sessions.lines import objects
from agentlearn.sessions.native_values import parse_outcome, parse_reward
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import content_text, iso_time
from agentlearn.sessions.values import Call, Message, Result, Session, Signal, Warning_, pack

DIALECT = "native"
SCHEMA = "agentlearn-session/1"
MOST_LINES = 2**53
ROLES = ("user", "assistant", "system")
STATUSES = ("ok", "error", "rejected", "interrupted")
SIGNALS = (
    "interruption", "rejection", "rollback", "compaction", "verdict", "edited", "api_error", "note",
)  # fmt: skip


class Line(Struct, gc=False):
    """The fields of all line types, in one."""

    type: str = ""
    schema: str | None = None
    session_id: str | None = None
    id: str | None = None
    goal: str | None = None
    agent: str | None = None
    model: str | None = None
    version: str | None = None
    cwd: str | None = None
    parent: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    metadata: dict[str, Any] | None = None
    role: str | None = None
    text: Any = None
    at: str | None = None
    step: str | None = None
    action: Any = None
    observation: Any = None
    reward: Any = None
    tool: str | None = None
    arguments: Raw = Raw(b"")
    continues: str | None = None
    call_id: str | None = None
    status: str = "ok"
    exit_code: int | None = None
    child: str | None = None
    kind: str | None = None
    value: float | None = None
    undoes: int = 0
    line: int = 0
    outcome: Any = None
    reason: str | None = None
    # the session as one object
    turns: list[Any] | None = None
    total_reward: float | None = None


class _Open:
    """A session that may still grow."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.lines = 0
        self.tagged = False
        self.has_outcome = False

    @property
    def complete(self) -> bool:
        """Whether nothing of it can stand after the head of another session."""
        return self.has_outcome if self.tagged else self.lines > 0


def read_lines(source: Source) -> Iterator[Session]:
    reading = Reading(source)
    for number, line in objects(source.stream, Line, reading.warn):
        yield from reading.take(number, line)
    yield from reading.rest()


def read_document(source: Source) -> Iterator[Session]:
    """One object with `turns`, or a list of such."""
    value = document.load(source)
    raws = value if isinstance(value, list) else [Raw(msgspec.json.encode(value))]
    reading = Reading(source)
    holder = Draft(DIALECT, None)
    session: Session | None = None
    for number, line in document.numbered(raws, Line, holder, warn=reading.warn):
        if session is not None:
            yield session
        turns = document.items(document.fields(raws[number - 1]).get("turns"))
        session = reading.whole(number, line, entry_raws=turns)
    if session is not None:
        session.warnings.extend(Warning_(*warning) for warning in reading.unplaced)
        is_alone = reading.count == 1 and reading.has_made_ids
        yield structs.replace(session, id=source.id_from_bytes()) if is_alone else session


class Reading:
    """The sessions of one file while its lines come in."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.open: dict[str, _Open] = {}
        self.current: _Open | None = None
        self.count = 0
        self._file_id: str | None = None
        self.unplaced: list[tuple[int, str, bool]] = []

    def warn(self, line: int, reason: str, lost: bool = True) -> None:
        if self.current is not None:
            self.current.draft.warn(line, reason, lost)
        else:
            self.unplaced.append((line, reason, lost))

    def take(self, number: int, line: Line) -> Iterator[Session]:
        if line.type == "session":
            yield from self.completed()
            self.begin(number, line)
        elif line.turns is not None and not line.type:
            yield from self.completed()
            if self.current is not None and self.current.complete:
                self.current = None
            yield self.whole(number, line)
        else:
            self.add(number, line)

    def completed(self) -> Iterator[Session]:
        """The sessions that end here: the last one, and those written at once from the first on."""
        if self.current is not None and self.current.complete and not self.current.tagged:
            yield self.close(self.current)
        while self.open and (first := next(iter(self.open.values()))).complete:
            yield self.close(first)

    def begin(self, number: int, line: Line) -> None:
        if line.id is not None and line.id in self.open:
            self.current = self.open[line.id]
            self.warn(number, f"session {line.id[:40]!r} begins a second time")
            return
        draft = self.new_draft(line)
        opened = _Open(draft)
        opened.tagged = line.session_id is not None
        self.current = self.open[draft.id or ""] = opened
        if line.schema != SCHEMA:
            draft.warn(number, f"schema {str(line.schema)[:40]!r} is not {SCHEMA!r}", lost=False)

    def new_draft(self, line: Line) -> Draft:
        self.count += 1
        draft = Draft(DIALECT, self.source.name)
        draft.id = line.id or f"{self.file_id()}-{self.count}"
        draft.goal, draft.agent, draft.model = line.goal, line.agent, line.model
        draft.version, draft.cwd, draft.parent = line.version, line.cwd, line.parent
        draft.started_at, draft.ended_at = line.started_at, line.ended_at
        draft.metadata = line.metadata or {}
        draft.outcome = "in_progress"
        for warning in self.unplaced:
            draft.warn(*warning)
        self.unplaced.clear()
        return draft

    @property
    def has_made_ids(self) -> bool:
        return self._file_id is not None

    def file_id(self) -> str:
        """Hashing a file takes its time: once, however many sessions it holds."""
        if self._file_id is None:
            self._file_id = self.source.id_from_bytes()
        return self._file_id

    def add(self, number: int, line: Line) -> None:
        target = self.current if line.session_id is None else self.open.get(line.session_id)
        is_tagged = line.session_id is not None
        if target is None or (target.has_outcome and (target.tagged or is_tagged)):
            whose = f" {line.session_id[:40]!r}" if line.session_id else ""
            self.warn(number, f"no session{whose} is open at this line")
            return
        target.lines += 1
        target.tagged = target.tagged or is_tagged
        try:
            add_entry(target.draft, number, line)
        except ValueError as error:
            target.draft.warn(number, str(error))
        else:
            target.has_outcome = target.has_outcome or line.type == "outcome"

    def close(self, opened: _Open) -> Session:
        self.open.pop(opened.draft.id or "", None)
        return opened.draft.finish()

    def rest(self) -> Iterator[Session]:
        if not self.open and self.unplaced:
            self.open[""] = _Open(self.new_draft(Line()))
        if self.count == len(self.open) == 1 and self.has_made_ids:
            (opened,) = self.open.values()
            opened.draft.id = self.source.id_from_bytes()  # alone, so it needs no number
        for opened in list(self.open.values()):
            yield self.close(opened)

    def whole(self, number: int, line: Line, entry_raws: list[Raw] | None = None) -> Session:
        """A session that is one object."""
        draft = self.new_draft(line)
        if entry_raws is not None:
            draft.unit = "entry"
            draft.raws = list(entry_raws)
        total = 0.0
        for index, turn in enumerate(line.turns or (), start=1):
            at = index if entry_raws is not None else number
            try:
                total += _add_object_turn(draft, at, turn)
            except ValueError as error:
                draft.warn(at, f"turn {index}: {error}")
        if line.outcome is not None:
            try:
                draft.outcome, draft.reason = parse_outcome(line.outcome, line.reason)
            except ValueError as error:
                draft.warn(number, str(error))
        stored = line.total_reward
        if stored is not None and abs(stored - total) > 1e-6 * max(1.0, abs(total)):
            why = f"the stored total_reward {stored:g} is not the sum of the rewards, {total:g}"
            draft.warn(number, why, lost=False)
        return draft.finish()


def _add_object_turn(draft: Draft, number: int, turn: Any) -> float:
    if not isinstance(turn, dict):
        raise ValueError("a turn is an object")
    reward = parse_reward(turn.get("reward"))
    at = iso_time(turn.get("timestamp") or turn.get("at"))
    _add_turn(draft, number, turn.get("action"), turn.get("observation"), reward, at, 0)
    return reward.signed if reward else 0.0


def _add_turn(
    draft: Draft, number: int, action: Any, observation: Any, reward: Any, at: str | None, came: int
) -> None:
    call_id = f"turn-{len(draft.entries)}"
    packed = pack_arguments(action)
    draft.entries.append(Call(call_id, "", packed, number, at, None, reward, came))
    if observation is not None:
        draft.entries.append(
            Result(call_id, pack(_plain(observation)), number, at, source_line=came)
        )


def _plain(value: Any) -> str:
    if isinstance(value, (dict, int, float)) and not isinstance(value, bool):
        return msgspec.json.encode(value).decode()
    return content_text(value)


def add_entry(draft: Draft, number: int, line: Line) -> None:
    """Add what a line says; ValueError with the reason if it says something impossible."""
    kind, at, came = line.type, line.at, line.line if 0 < line.line < MOST_LINES else 0
    if kind == "turn":
        reward = parse_reward(line.reward)
        _add_turn(draft, number, line.action, line.observation, reward, at, came)
    elif kind == "message":
        if line.role not in ROLES:
            raise ValueError(f"role {str(line.role)[:40]!r} is none of {', '.join(ROLES)}")
        text = _plain(line.text)
        draft.entries.append(Message(line.role, pack(text), number, at, line.step, came))  # type: ignore[arg-type]
    elif kind == "call":
        call_id = line.id or f"call-{len(draft.entries)}"
        arguments = _arguments(line.arguments)
        reward = parse_reward(line.reward)
        draft.entries.append(
            Call(
                call_id, line.tool or "", arguments, number, at, line.step, reward, came,
                line.continues,
            )
        )  # fmt: skip
    elif kind == "result":
        if line.status not in STATUSES:
            raise ValueError(f"status {line.status[:40]!r} is none of {', '.join(STATUSES)}")
        draft.entries.append(
            Result(
                line.call_id or "", pack(_plain(line.text)), number, at, line.status,  # type: ignore[arg-type]
                possible_exit_code(line.exit_code), line.child, came,
            )
        )  # fmt: skip
    elif kind == "signal":
        if line.kind not in SIGNALS:
            raise ValueError(f"signal {str(line.kind)[:40]!r} is none of {', '.join(SIGNALS)}")
        undoes = min(max(line.undoes, 0), len(draft.entries))
        words = pack(_plain(line.text))
        draft.entries.append(
            Signal(line.kind, words, number, at, finite(line.value), undoes, line.call_id, came)  # type: ignore[arg-type]
        )
    elif kind == "outcome":
        draft.outcome, draft.reason = parse_outcome(line.outcome, line.reason)
        draft.ended_at = line.ended_at or line.at or draft.ended_at
    else:
        draft.warn(number, f"unknown line type {kind[:40]!r}", lost=False)


def _arguments(raw: Raw) -> Any:
    """An object stays JSON text; a string is the raw text that a model wrote."""
    data = memoryview(raw)
    if bytes(data[:1]) == b'"':
        return pack_arguments(document.value_of(raw))
    return pack_arguments(data) if data else ""
