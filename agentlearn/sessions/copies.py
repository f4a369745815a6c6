"""What stands in several files counts once.

Agents copy: a forked or resumed session begins with the lines of another, and a store keeps a
session as it grows, a file each time. Files that may have to do with each other are found by the
ids in their first lines, which costs little; only those that share one are read line by line. A
line is known by its `uuid` where a chain of such lines makes the session (Claude Code, Qwen),
else by its bytes.

A file that holds nothing beyond another file of its session is left out. Where two overlap, the
original keeps what they share and the fork begins with what is new in it. Only ids that nobody
makes up twice count: `s1` in two files is no reason to think that they are one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agentlearn.errors import BadInput
from agentlearn.sessions.detect import HEAD
from agentlearn.sessions.lines import JUNK, LineTooLong, decoder, lines
from agentlearn.sessions.source import Source

LONG_HEAD = 1024 * 1024
"""Looked at where the first line alone is longer than a head: Codex puts its tools there."""
ENOUGH = 12
"""So many uuids tell whose a file is: a fork may begin with those of a few hooks of its own."""
MOST_LINES = 40
"""No more lines are looked at where some id was found."""
MOST_SESSIONS = 3
"""A file that names more sessions in its first lines is a list of them, such as a history."""
RANDOM = re.compile(
    r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|(?=[A-Za-z]*[0-9])[0-9A-Za-z]{16,}"
)
DISTINCT = 8
"""A random id has so many different characters; `00000000-0000-0000-0000-000000000001` has not."""

Mark = str | tuple[bytes, int]
"""The uuid of a line, or the hash of its bytes and how often they stood before."""


class Shared(Struct, frozen=True):
    """The lines of a file that another file has, and counts."""

    lines: frozenset[int]
    with_file: Path
    """The one that has most of them."""


class Copies(Struct, frozen=True):
    left_out: dict[Path, Path] = {}
    """Files that hold nothing that another does not, and that other."""
    shared: dict[Path, Shared] = {}


def find_copies(paths: Iterable[Path]) -> Copies:
    found = Copies()
    looks = {path: look for path in paths if (look := look_at(path)) is not None}
    for group in _together({path: look.keys for path, look in looks.items()}):
        known: dict[Mark, Mark] = {}
        files = [_Marked(path, looks[path].own) for path in group]
        files = _without_grown([file for file in files if file.read(known)], found)
        _share([file for file in files if file.uuids], found)
    return found


class Ids(Struct):
    id: str | int | None = None
    sessionId: str | None = None
    messageUuid: str | None = None


class FirstLine(Struct):
    """What a line says of whose it is, in any dialect."""

    type: str | None = None
    id: str | int | None = None
    uuid: str | None = None
    sessionId: str | None = None
    session_id: str | None = None
    sessionID: str | None = None
    thread_id: str | None = None
    agentId: str | None = None
    isSidechain: bool | None = None
    payload: Ids | None = None
    data: Ids | None = None
    forkedFrom: Ids | None = None


class Look(Struct, frozen=True):
    own: str | None
    """The id of the session that the file begins with."""
    keys: set[str]
    """All ids by which it may be found to have to do with another."""


def look_at(path: Path) -> Look | None:
    """The ids in the first lines of a file; None if it has none that is random."""
    try:
        if not path.is_file():  # what a pipe says can be read only once
            return None
        with Source(path) as source:
            head, size = source.stream.peek(HEAD), HEAD
            if b"\n" not in head:
                head, size = source.stream.peek(LONG_HEAD), LONG_HEAD
    except (OSError, EOFError, BadInput):  # it will be told when the file is read
        return None
    rows = head.split(b"\n")
    if len(head) == size:
        rows.pop()
    sessions: dict[str, None] = {}
    keys: set[str] = set()
    uuids = 0
    for place, line in enumerate(_first_lines(rows)):
        if line.payload is not None:
            # A fork of Codex has its parent's head and lines, too, but is not its parent.
            if line.type == "session_meta":
                sessions, keys = dict.fromkeys(_random(line.payload.id)), set()
                break
            continue
        session = _session_of(line, is_first=place == 0)
        if session not in sessions:
            sessions.update(dict.fromkeys(_random(session)))
        keys.update(_random(line.uuid))
        if line.forkedFrom is not None:
            keys.update(_random(line.forkedFrom.sessionId, line.forkedFrom.messageUuid))
        uuids += line.uuid is not None
        if uuids == ENOUGH or (place >= MOST_LINES and sessions):
            break
    if len(sessions) > MOST_SESSIONS:
        return None
    keys.update(sessions)
    return Look(next(iter(sessions), None), keys) if keys else None


def _first_lines(rows: list[bytes]) -> Iterator[FirstLine]:
    decode = decoder(FirstLine).decode
    wrong = 0
    for row in rows:
        try:
            yield decode(row[max(row.find(b"{", 0, JUNK), 0) :])
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            wrong += bool(row.strip())
            if wrong > 3:  # one JSON value over many lines, or no JSON at all
                return


def _session_of(line: FirstLine, is_first: bool) -> str | int | None:
    """The session of a line; that of a sub-agent is its own, though it names its parent's."""
    if line.isSidechain and line.agentId:
        return line.agentId
    if line.data is not None and line.data.sessionId:
        return line.data.sessionId
    named = line.sessionId or line.session_id or line.sessionID or line.thread_id
    return named or (line.id if is_first else None)


def _random(*names: str | int | None) -> list[str]:
    return [name for name in names if isinstance(name, str) and is_random(name)]


def is_random(name: str) -> bool:
    """Whether an id was drawn and not thought of, so that no two files have it by chance."""
    found = RANDOM.search(name)
    return found is not None and len(set(found[0])) >= DISTINCT


def _together(keys: dict[Path, set[str]]) -> list[list[Path]]:
    """The files that share a key, directly or through others."""
    first: dict[str, Path] = {}
    group_of: dict[Path, list[Path]] = {}
    for path, names in keys.items():
        group = group_of[path] = [path]
        for name in names:
            other = group_of[first.setdefault(name, path)]
            if other is not group:
                other += group
                for each in group:
                    group_of[each] = other
                group = other
    groups = {id(group): group for group in group_of.values() if len(group) > 1}
    return list(groups.values())


class Line(Struct):
    uuid: str | None = None
    parentUuid: str | UnsetType | None = UNSET
    sessionId: str | None = None
    timestamp: str | None = None
    forkedFrom: Ids | None = None


class _Marked:
    """A file and the marks of its lines."""

    def __init__(self, path: Path, own: str | None) -> None:
        self.path = path
        self.own = own
        self.marks: dict[int, Mark] = {}
        self.uuids: set[Mark] = set()
        self.ended = ""
        self.is_fork = False

    def read(self, known: dict[Mark, Mark]) -> bool:
        """Mark every line; false if the file cannot be read. Equal marks are kept in `known`."""
        from hashlib import blake2b

        decode = decoder(Line).decode
        times: Counter[bytes] = Counter()
        cut = 0
        try:
            with Source(self.path) as source:
                for number, raw in lines(source.stream):
                    cut = 0
                    try:
                        mark: Mark | None = self.uuid_of(decode(raw))
                    except msgspec.ValidationError:
                        mark = None
                    except (msgspec.MsgspecError, UnicodeError, RecursionError):
                        mark, cut = None, number
                    if mark is None:
                        row = bytes(raw).strip()
                        if not row:
                            continue
                        digest = blake2b(row, digest_size=16).digest()
                        times[digest] += 1
                        mark = (digest, times[digest])
                    self.marks[number] = known.setdefault(mark, mark)
        except (OSError, EOFError, BadInput, LineTooLong):
            return False
        self.marks.pop(cut, None)  # the agent was still writing it
        self.uuids = {mark for mark in self.marks.values() if isinstance(mark, str)}
        self.held = self.uuids or set(self.marks.values())
        return bool(self.held)

    def uuid_of(self, line: Line) -> str | None:
        """The uuid of a line in a chain of them: that of the original, if it says so."""
        if line.uuid is None or line.parentUuid is UNSET or not line.sessionId:
            return None
        uuid = line.uuid
        if line.forkedFrom is not None:
            self.is_fork = True
            uuid = line.forkedFrom.messageUuid or uuid
        if not is_random(uuid):
            return None
        self.ended = line.timestamp or self.ended
        return uuid


def _without_grown(files: list[_Marked], found: Copies) -> list[_Marked]:
    """Without those of which another file of the same session has everything."""
    kept: list[_Marked] = []
    for file in sorted(files, key=lambda each: (-len(each.held), -len(each.marks), each.path)):
        for other in kept:
            if other.own == file.own and file.held <= other.held:
                found.left_out[file.path] = other.path
                break
        else:
            kept.append(file)
    return kept


def _share(files: list[_Marked], found: Copies) -> None:
    """Each line that several files have stays with one: that of the original, which ended first."""
    owner: dict[Mark, Path] = {}
    for file in sorted(files, key=lambda each: (each.is_fork, each.ended, each.path)):
        if not file.uuids.isdisjoint(owner):
            others = {number: owner[mark] for number, mark in file.marks.items() if mark in owner}
            path = Counter(others.values()).most_common(1)[0][0]
            if file.uuids <= owner.keys():
                found.left_out[file.path] = path
                continue
            found.shared[file.path] = Shared(frozenset(others), path)
        for mark in file.marks.values():
            owner.setdefault(mark, file.path)
