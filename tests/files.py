"""Files for the tests of readers: written, read back, and bent out of shape."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentlearn.sessions.read import read_sessions
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Call, Entry, Message, Result, Session

SAMPLES = os.environ.get("AGENTLEARN_SAMPLES")


def lines_file(path: Path, objects: list[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(value) + "\n" for value in objects))
    return path


def document_file(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, indent=1))
    return path


def read_all(path: Path) -> list[Session]:
    with Source(path) as source:
        return list(read_sessions(source))


def read_one(path: Path) -> Session:
    (session,) = read_all(path)
    return session


def sample(name: str) -> Path:
    assert SAMPLES is not None
    return Path(SAMPLES) / name


def brief(session: Session) -> list[tuple[Any, ...]]:
    """The entries in a form that fits in an assertion, each with its line last."""
    return [_brief(entry) for entry in session.entries]


def _brief(entry: Entry) -> tuple[Any, ...]:
    if isinstance(entry, Message):
        return (entry.role, entry.text, entry.line)
    if isinstance(entry, Call):
        return ("call", entry.id, entry.tool, entry.arguments, entry.line)
    if isinstance(entry, Result):
        return ("result", entry.call_id, entry.text, entry.status, entry.exit_code, entry.line)
    if entry.kind == "rollback":
        return ("rollback", entry.undoes, entry.line)
    return (entry.kind, entry.text, entry.line)


def bent(value: Any) -> Iterator[Any]:
    """The value with each of its parts, at any depth, replaced by what does not belong there."""
    for path in list(_paths(value)):
        for odd in (None, 7, True, "odd", [], {}, [[1]], [{"odd": {}}], {"odd": [None]}):
            changed = copy.deepcopy(value)
            inside = changed
            for step in path[:-1]:
                inside = inside[step]
            inside[path[-1]] = odd
            yield changed


def _paths(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inside: Any = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for key, part in inside:
        yield (*above, key)
        yield from _paths(part, (*above, key))
