"""The stated rewards of a native file, without its texts: the fast way to returns.

Every line is still decoded and checked, but only the few fields that returns need become Python
values. The scan knows the plain case only: sessions one after another, of messages of people,
turns and an outcome, each session stating its rewards. On anything else it stops, and the full
reader goes on after the sessions that were already scanned; both give the same numbers.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Raw, Struct

from agentlearn.sessions.lines import BUFFER, decoded_at_once, line_bounds
from agentlearn.sessions.native import SCHEMA
from agentlearn.sessions.native_values import parse_outcome
from agentlearn.sessions.text import without_data_uris
from agentlearn.sessions.values import cut

PART = 32 * 1024 * 1024
"""So much of a file is scanned before its sessions are handed on."""
SHARED_PART = 8 * 1024 * 1024
"""So much of a file is one piece of work when several processes share it."""
MOST_TICKETS = 8192
"""As many pieces as fit into a pipe before anybody reads from it, and fewer."""
LENGTH = 8


class Amount(Struct, gc=False):
    kind: Literal["positive", "negative", "neutral", "terminal"]
    value: float | None = None


class Line(Struct, gc=False):
    type: Literal["session", "message", "turn", "outcome"]
    session_id: str | None = None
    reward: Amount | float | None = None
    role: str | None = None
    text: str | None = None
    schema: str | None = None
    id: str | None = None
    goal: str | None = None
    metadata: Raw = Raw(b"")
    outcome: str | None = None


class Scanned(Struct):
    """A session, or the part of one that a piece of the file holds (`id` None: it goes on)."""

    id: str | None
    goal: str | None
    task: str | None
    outcome: str
    rewards: array[float]
    stated: bool = False
    lines: int = 0


class NotPlain(Exception):
    """Something that only the full reader knows how to read."""


def scan(path: Path, jobs: int, stated_only: bool) -> Iterator[Scanned]:
    """The sessions of a file in order; NotPlain where the full reader must go on."""
    pieces = _pieces_in_turn(path, jobs) if jobs > 1 else _pieces(path)
    current: Scanned | None = None
    for piece in pieces:
        for part in piece:
            if part.id is not None:
                if current is not None:
                    yield _complete(current, stated_only)
                current = part
            elif current is None:
                raise NotPlain
            else:
                _join(current, part)
    if current is not None:
        yield _complete(current, stated_only)


def _complete(session: Scanned, stated_only: bool) -> Scanned:
    if session.lines == 0 or not (session.stated or stated_only or not session.rewards):
        raise NotPlain
    return session


def _join(session: Scanned, rest: Scanned) -> None:
    session.rewards.extend(rest.rewards)
    session.stated |= rest.stated
    session.lines += rest.lines
    if session.goal is None:
        session.goal = rest.goal
    if rest.outcome:
        session.outcome = rest.outcome


def _pieces(path: Path) -> Iterator[list[Scanned]]:
    start = 0
    size = path.stat().st_size
    while start < size:
        yield scan_piece(path, start, start + PART)
        start += PART


def scan_piece(path: Path, start: int, end: int) -> list[Scanned]:
    """The sessions, whole or in part, of the lines that begin in a range of bytes."""
    parts: list[Scanned] = []
    buffer = bytearray(BUFFER)
    view = memoryview(buffer)
    with path.open("rb", buffering=0) as file:
        position = _line_start(file, start)
        file.seek(position)
        have = 0
        while position < end:
            got = file.readinto(view[have:])
            filled = have + got
            if not got:
                _take_lines(view, [0, have + 1] if have else [0], parts)
                break
            bounds, is_plain = line_bounds(buffer, have, filled, end - position)
            if not is_plain:
                raise NotPlain
            _take_lines(view, bounds, parts)
            taken = bounds[-1]
            if not taken and filled == len(buffer):
                bigger = bytearray(2 * len(buffer))
                bigger[:filled] = buffer
                buffer, view = bigger, memoryview(bigger)
            position += taken
            have = filled - taken
            if taken:
                buffer[:have] = buffer[taken:filled]
    return parts


def _take_lines(view: memoryview, bounds: list[int], parts: list[Scanned]) -> None:
    """Nearly every line is a turn with a reward: those are added here, without a call for each."""
    session = parts[-1] if parts else None
    found = decoded_at_once(Line, view, bounds)
    if found is None:
        raise NotPlain
    for line in found:
        reward = line.reward
        if session is None or reward is None or line.type != "turn" or line.session_id is not None:
            _take(line, parts)
            session = parts[-1]
            continue
        session.lines += 1
        session.stated = True
        if type(reward) is float:
            session.rewards.append(reward or 0.0)  # never -0.0
        else:
            session.rewards.append(_signed(reward))  # type: ignore[arg-type]


def _line_start(file: object, start: int) -> int:
    """The first line that begins at or after a byte."""
    if start == 0:
        return 0
    position = start - 1
    file.seek(position)  # type: ignore[attr-defined]
    while block := file.read(65536):  # type: ignore[attr-defined]
        found = block.find(b"\n")
        if found >= 0:
            return int(position + found + 1)
        position += len(block)
    return int(position)


def _take(line: Line, parts: list[Scanned]) -> None:
    kind = line.type
    if line.session_id is not None:
        raise NotPlain
    if kind == "session":
        if not line.id or line.schema != SCHEMA:
            raise NotPlain
        task = _task(line.metadata)
        parts.append(Scanned(line.id, line.goal, task, "in_progress", array("d")))
        return
    if not parts:
        parts.append(Scanned(None, None, None, "", array("d")))
    session = parts[-1]
    session.lines += 1
    if kind == "turn":
        reward = line.reward
        if reward is None:
            session.rewards.append(0.0)
            return
        session.stated = True
        session.rewards.append(_signed(reward) if isinstance(reward, Amount) else reward or 0.0)
    elif kind == "message":
        if line.role not in ("user", "system"):
            raise NotPlain
        if session.goal is None and line.role == "user":
            session.goal = cut(without_data_uris(line.text or ""))
    elif kind == "outcome":
        try:
            session.outcome = parse_outcome(line.outcome)[0]
        except ValueError:
            raise NotPlain from None


def _signed(reward: Amount) -> float:
    value = reward.value
    if reward.kind == "neutral":
        if value:
            raise NotPlain
        return 0.0
    if value is None or (value < 0 and reward.kind != "terminal"):
        raise NotPlain
    return (-value if reward.kind == "negative" else value) or 0.0


def _task(metadata: Raw) -> str | None:
    if not metadata:
        return None
    try:
        value = msgspec.json.decode(metadata)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise NotPlain from None
    task = value.get("task") if isinstance(value, dict) else None
    return None if task is None else str(task)


def _pieces_in_turn(path: Path, jobs: int) -> Iterator[list[Scanned]]:
    """The pieces in order, each scanned by whichever process is free: cores differ in speed.

    Plain forks and pipes: loading multiprocessing takes as long as scanning 20 MB.
    """
    size = path.stat().st_size
    part = max(SHARED_PART, size // MOST_TICKETS + 1)
    starts = range(0, size, part)
    jobs = min(jobs, len(starts))
    if jobs < 2 or not hasattr(os, "fork"):
        yield from _pieces(path)
        return
    tickets, giving = os.pipe()
    workers: dict[int, int] = {}
    try:
        for _ in range(jobs):
            process, results = _start_worker(path, part, tickets, giving)
            workers[results] = process
        os.write(giving, array("I", range(len(starts))).tobytes())
        os.close(giving)
        yield from _in_order(workers.keys(), len(starts))
    finally:
        os.close(tickets)
        for results, process in workers.items():
            os.close(results)
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)


def _in_order(pipes: Iterable[int], count: int) -> Iterator[list[Scanned]]:
    """What comes through the pipes, (number, piece) by (number, piece), sorted by number.

    A piece that is None was not plain: nothing after it is waited for.
    """
    waiting: dict[int, list[Scanned] | None] = {}
    unread = {pipe: bytearray() for pipe in pipes}
    for wanted in range(count):
        while wanted not in waiting:
            if not unread:
                raise NotPlain
            for pipe in select.select(list(unread), [], [])[0]:
                data = os.read(pipe, 1 << 20)
                unread[pipe] += data
                waiting.update(_whole_pieces(unread[pipe]))
                if not data:
                    del unread[pipe]
        piece = waiting.pop(wanted)
        if piece is None:
            raise NotPlain
        yield piece


def _whole_pieces(data: bytearray) -> Iterator[tuple[int, list[Scanned] | None]]:
    """Take from the front what has come whole."""
    while len(data) >= LENGTH and len(data) >= LENGTH + (size := int.from_bytes(data[:LENGTH])):
        yield pickle.loads(data[LENGTH : LENGTH + size])
        del data[: LENGTH + size]


def _start_worker(path: Path, part: int, tickets: int, giving: int) -> tuple[int, int]:
    """A process that scans pieces as long as there are tickets, and the pipe they come through.

    It ends at the first piece that is not plain, and tells which: those before it have been taken
    by others already, since tickets are given in order.
    """
    receive, send = os.pipe()
    process = os.fork()
    if process:
        os.close(send)
        return process, receive
    try:  # in the child, which must never return from here
        os.close(receive)
        os.close(giving)
        with os.fdopen(send, "wb") as pipe:
            while ticket := os.read(tickets, array("I").itemsize):
                number = array("I", ticket)[0]
                try:
                    piece = scan_piece(path, number * part, (number + 1) * part)
                except NotPlain:
                    piece = None
                packed = pickle.dumps((number, piece))
                pipe.write(len(packed).to_bytes(LENGTH) + packed)
                pipe.flush()
                if piece is None:
                    break
    except BaseException:
        os._exit(1)
    os._exit(0)
