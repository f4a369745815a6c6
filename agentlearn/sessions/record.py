"""Writing a native file line by line, from several processes at once.

Each line is checked, then appended whole under a lock on the file itself, so that nothing lies
beside it. A last line that some killed program left unfinished is closed first: the next line
must not be glued to it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import orjson

from agentlearn.errors import BadInput
from agentlearn.sessions.lines import objects
from agentlearn.sessions.native import SCHEMA, Line, Reading
from agentlearn.sessions.native_values import parse_outcome, parse_reward
from agentlearn.sessions.source import Source

ENDED = "has ended already"
CLOSED = "takes no more lines: another begins after it, and its own lines carry no session_id"


class Mark(msgspec.Struct, gc=False):
    """What tells the state of a file: which sessions it holds and which of them have ended."""

    type: str = ""
    id: str | None = None
    session_id: str | None = None
    turns: msgspec.Raw = msgspec.Raw(b"")
    outcome: Any = None


def start_session(
    path: Path, goal: str, fields: dict[str, Any], session_id: str | None = None
) -> str:
    """Begin a session and give back its id: the one that is given, or a new one."""
    wanted = session_id
    session_id = wanted or secrets.token_hex(6)
    line = {
        "type": "session", "schema": SCHEMA, "id": session_id, "session_id": session_id,
        "goal": goal, **fields, "started_at": now(),
    }  # fmt: skip
    with locked(path, create=True) as file:
        if wanted is not None and wanted in _sessions(path, file):
            raise BadInput(f"{path} has a session {wanted} already")
        _append(file, line)
    return session_id


def add_turn(
    path: Path, session_id: str | None, action: str, observation: str | None, reward: str | None
) -> None:
    stated = parse_reward_option(reward)
    line = {
        "type": "turn", "action": action, "observation": observation, "reward": stated,
        "at": now(),
    }  # fmt: skip
    with locked(path) as file:
        _append(file, {**line, "session_id": _open_session(path, file, session_id)})


def end_session(path: Path, session_id: str | None, outcome: str) -> None:
    name, _, reason = outcome.partition(":")
    try:
        known, _ = parse_outcome(name)
    except ValueError as error:
        raise BadInput(str(error)) from None
    if reason and known != "aborted":
        raise BadInput(f"only aborted has a reason, not {known}")
    line = {"type": "outcome", "outcome": known, "reason": reason or None, "ended_at": now()}
    with locked(path) as file:
        _append(file, {**line, "session_id": _open_session(path, file, session_id)})


def parse_reward_option(text: str | None) -> dict[str, Any] | None:
    """`+0.1`, `-0.2`, `0` or `terminal:1` as a reward."""
    if text is None:
        return None
    kind, colon, amount = text.rpartition(":")
    try:
        value = float(amount)
        reward = parse_reward({"kind": kind, "value": value} if colon else value)
    except ValueError as error:
        why = "it is no number" if str(error).startswith("could not") else str(error)
        hint = "for example --reward +0.1, -0.2, 0 or terminal:1"
        raise BadInput(f"--reward {text}: {why}", hint) from None
    assert reward is not None
    if reward.kind == "neutral":
        return {"kind": "neutral"}
    return {"kind": reward.kind, "value": reward.value}


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@contextlib.contextmanager
def locked(path: Path, create: bool = False) -> Iterator[int]:
    """The file, open for reading and appending, while no other process writes it."""
    flags = os.O_RDWR | os.O_APPEND | (os.O_CREAT if create else 0)
    try:
        file = os.open(path, flags, 0o644)
    except FileNotFoundError:
        if create:
            raise BadInput(f"the folder {path.parent} does not exist") from None
        hint = f'start a session first: agentlearn record {path} --goal "…"'
        raise BadInput(f"{path} does not exist", hint) from None
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror or error}") from None
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
        _refuse_foreign(path, file)
        yield file
    finally:
        os.close(file)


def _refuse_foreign(path: Path, file: int) -> None:
    """Only a file that this program writes is added to: never a transcript, or anything else."""
    head = os.pread(file, 4096, 0).lstrip()
    is_native = head.startswith(b"{") and b'"agentlearn-session/' in head.split(b"\n")[0]
    if head and not is_native:
        raise BadInput(f"{path} is no file of recorded sessions", "name a new file to record into")


def _append(file: int, fields: dict[str, Any]) -> None:
    kept = {name: _text(value) for name, value in fields.items() if value is not None}
    line = orjson.dumps(kept, option=orjson.OPT_APPEND_NEWLINE)
    size = os.fstat(file).st_size
    if size and os.pread(file, 1, size - 1) != b"\n":
        line = b"\n" + line
    written = os.write(file, line)
    if written != len(line):
        os.ftruncate(file, size)
        raise BadInput("the disk is full: nothing was recorded")
    os.fsync(file)


def _text(value: Any) -> Any:
    """Words from a command line need not be UTF-8; what is not becomes a mark."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if isinstance(value, dict):
        return {key: _text(item) for key, item in value.items()}
    return value


def _open_session(path: Path, file: int, wanted: str | None) -> str:
    """The session a line goes to: the one that is named, or the only one that has not ended."""
    known = _sessions(path, file)
    open_ids = [session_id for session_id, why_not in known.items() if why_not is None]
    hint = f'start one: agentlearn record {path} --goal "…"'
    if wanted is not None:
        if why_not := known.get(wanted):
            raise BadInput(f"session {wanted} {why_not}", hint)
        if wanted in known:
            return wanted
        listed = f"open are: {', '.join(open_ids)}" if open_ids else None
        raise BadInput(f"{path} has no session {wanted}", listed)
    if len(open_ids) == 1:
        return open_ids[0]
    if not open_ids:
        raise BadInput(f"{path} has no session that is still open", hint)
    raise BadInput(
        f"{path} has {len(open_ids)} open sessions: {', '.join(open_ids[:5])}",
        f"say which: agentlearn record {path} --session {open_ids[-1]} …",
    )


def _sessions(path: Path, file: int) -> dict[str, str | None]:
    """The sessions of a file by id, each with why it takes no more lines; None if it does.

    The reader itself is asked, with the lines' texts left out: what it would skip is not recorded.
    """
    os.lseek(file, 0, os.SEEK_SET)
    known: dict[str, str | None] = {}
    with os.fdopen(os.dup(file), "rb", buffering=0) as raw:
        source = Source(path, raw)
        reading = Reading(source)
        for number, mark in objects(source.stream, Mark, lambda line, reason: None):
            for closed in reading.take(number, _without_texts(mark)):
                had_outcome = closed.outcome != "in_progress"
                known[closed.id] = ENDED if had_outcome else CLOSED
            if mark.type == "session" and mark.id:
                known[mark.id] = None
    for session_id, opened in reading.open.items():
        if session_id in known:
            known[session_id] = ENDED if opened.has_outcome else None
    return known


def _without_texts(mark: Mark) -> Line:
    kind = mark.type if mark.type in ("session", "outcome") else "turn"
    if mark.turns and not mark.type:
        return Line(turns=[], id=mark.id)
    return Line(kind, SCHEMA, mark.session_id, mark.id, outcome=mark.outcome)
