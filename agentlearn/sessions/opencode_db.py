"""The database of opencode: tables session, message and part, with JSON in their data columns.

It is opened for reading only and nothing is left beside it: without a write-ahead log it is
taken as it stands, since even a reader would otherwise create one. Sessions are read one at a
time, in the order they were begun. Each message and each part is an entry, numbered in order.
Columns come and go between versions: only those that are there are asked for.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from agentlearn.errors import BadInput
from agentlearn.sessions.document import value_of
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.lines import loosened
from agentlearn.sessions.opencode_parts import DIALECT, Info, Part, SessionInfo, Writing
from agentlearn.sessions.source import SQLITE, Source
from agentlearn.sessions.values import Session

OTHERS = {
    "cursorDiskKV": "Cursor's database; read are its transcripts, "
    "~/.cursor/projects/*/agent-transcripts/*.jsonl, or a chat exported with `Export Transcript`",
    "ItemTable": "the state of an editor such as Cursor; read are Cursor's transcripts, "
    "~/.cursor/projects/*/agent-transcripts/*.jsonl, or a chat exported with `Export Transcript`",
    "messages": "the database of Hermes or one like it; run `hermes sessions export FILE.jsonl`",
}
COLUMNS = {
    "session": ("id", "parent_id", "directory", "title", "version", "time_created",
                "time_updated", "revert", "data"),
    "message": ("id", "session_id", "time_created", "data"),
    "part": ("id", "message_id", "session_id", "data"),
}  # fmt: skip


def read_database(source: Source) -> Iterator[Session]:
    path = source.path
    if path is None:
        raise BadInput(
            "a SQLite database cannot be read from a pipe",
            "name the file itself, or pipe `opencode export SESSION`",
        )
    with path.open("rb") as file:
        if file.read(len(SQLITE)) != SQLITE:
            raise BadInput(f"{path} is a compressed database", "decompress it first")
    try:
        with closing(_connected(path)) as database:
            columns = _columns(database, source.name)
            for row in _rows(database, "session", columns, "", ()):
                yield _session(database, columns, row, source.name)
    except sqlite3.Error as error:
        raise BadInput(
            f"{path} cannot be read: {error}",
            "close opencode and try again, or run `opencode export SESSION > session.json`",
        ) from error


def _connected(path: Path) -> sqlite3.Connection:
    beside = [path.with_name(path.name + end) for end in ("-wal", "-journal")]
    live = any(file.exists() and file.stat().st_size for file in beside)
    mode = "mode=ro" if live else "mode=ro&immutable=1"
    database = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True)
    database.text_factory = bytes
    return database


def _columns(database: sqlite3.Connection, name: str) -> dict[str, list[str]]:
    """The columns of the tables that are read. Raises NotATranscript for another's database."""
    rows = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    tables = {row[0].decode("utf-8", "replace") for row in rows if isinstance(row[0], bytes)}
    if not tables >= COLUMNS.keys():
        from agentlearn.sessions.detect import Detected
        from agentlearn.sessions.read import NotATranscript

        shown = ", ".join(sorted(tables)[:6]) or "none"
        known = (what for table, what in OTHERS.items() if table in tables)
        looks = next(known, f"a SQLite database that is not opencode's (its tables: {shown})")
        raise NotATranscript(name, Detected("sqlite", None, f"it looks like {looks}"))
    found: dict[str, list[str]] = {}
    for table, wanted in COLUMNS.items():
        there = {row[1].decode() for row in database.execute(f"PRAGMA table_info({table})")}
        found[table] = [column for column in wanted if column in there]
    return found


def _rows(
    database: sqlite3.Connection,
    table: str,
    columns: dict[str, list[str]],
    where: str,
    values: tuple[Any, ...],
) -> Iterator[dict[str, Any]]:
    """The rows of a table as opencode orders them: by time, then by id (parts by id alone)."""
    names = columns[table]
    order: list[str] = [name for name in ("time_created", "id") if name in names] or ["rowid"]
    query = f"SELECT {', '.join(names) or 'rowid'} FROM {table} {where} ORDER BY {', '.join(order)}"
    for row in database.execute(query, values):
        yield {
            name: value.decode("utf-8", "replace") if isinstance(value, bytes) else value
            for name, value in zip(names, row, strict=False)
        }


def _session(
    database: sqlite3.Connection, columns: dict[str, list[str]], row: dict[str, Any], name: str
) -> Session:
    draft = Draft(DIALECT, name, "entry")
    writing = Writing(draft, _session_info(row))
    draft.id = draft.id or str(row.get("id"))
    key = (row.get("id"),)
    parts: dict[Any, list[dict[str, Any]]] = {}
    try:
        if "session_id" in columns["part"]:
            for part in _rows(database, "part", columns, "WHERE session_id = ?", key):
                parts.setdefault(part.get("message_id"), []).append(part)
        if "session_id" in columns["message"]:
            for message in _rows(database, "message", columns, "WHERE session_id = ?", key):
                _write(writing, message, parts.get(message.get("id"), []))
    except sqlite3.Error as error:
        draft.warn(len(draft.raws), f"the session cannot be read to its end: {error}")
    writing.finish()
    return draft.finish()


def _write(writing: Writing, message: dict[str, Any], parts: list[dict[str, Any]]) -> None:
    draft = writing.draft
    number, info = _numbered(draft, message)
    time = info.get("time")
    if not isinstance(time, dict) or "created" not in time:
        info["time"] = {"created": message.get("time_created")}
    found = []
    for part in parts:
        place, value = _numbered(draft, part)
        found.append((place, loosened(value, Part)))
    writing.message(number, loosened(info, Info), found)


def _numbered(draft: Draft, row: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    """The JSON of a row with its id in it, and the number under which its bytes are kept."""
    data = row.get("data")
    raw = data.encode() if isinstance(data, str) else b""
    draft.raws.append(raw)
    number = len(draft.raws)
    value = value_of(raw)
    if not isinstance(value, dict):
        draft.warn(number, "not a JSON object")
        value = {}
    return number, {**value, "id": row.get("id")}


def _session_info(row: dict[str, Any]) -> SessionInfo:
    """From columns, or from the JSON of a version that keeps all in one."""
    data = _json(row.get("data"))
    found = data if isinstance(data, dict) else {}
    columns = {
        "id": _text(row.get("id")),
        "parentID": _text(row.get("parent_id")),
        "directory": _text(row.get("directory")),
        "title": _text(row.get("title")),
        "version": _text(row.get("version")),
        "revert": _json(row.get("revert")),
        "time": {"created": row.get("time_created"), "updated": row.get("time_updated")},
    }
    if row.get("time_created") is None:
        del columns["time"]
    given = {name: value for name, value in columns.items() if value is not None}
    return loosened({**found, **given}, SessionInfo)


def _json(value: Any) -> Any:
    return value_of(value.encode()) if isinstance(value, str) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
