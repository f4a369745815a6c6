"""The file of the base: opened, made, brought up to date; what is wrong with it told in a sentence.

Safe for several processes, in WAL mode. A file that is locked, damaged, read-only or of a newer
version is never written to.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from agentlearn.errors import AgentlearnError, BadInput

BUSY_SECONDS = 10.0
CACHE_KB = 16_000
"""BM25 asks for the length of every text that has a word: they should stay in memory."""
SCHEMA = """
CREATE TABLE item (
    number INTEGER PRIMARY KEY,  -- the id, as a number
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    predicate TEXT NOT NULL,
    object TEXT NOT NULL,
    body TEXT,
    scope TEXT NOT NULL,
    confidence REAL NOT NULL,
    source TEXT NOT NULL,
    evidence TEXT,
    created TEXT NOT NULL,
    last_used TEXT,
    uses INTEGER NOT NULL,
    verified INTEGER NOT NULL,
    topic INTEGER
);
CREATE INDEX item_topic ON item (topic) WHERE topic IS NOT NULL;
CREATE INDEX item_convention ON item (scope) WHERE predicate = 'convention';
CREATE VIRTUAL TABLE word USING fts5 (text, content='', tokenize='unicode61 remove_diacritics 0');
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (word, row);
"""
MIGRATIONS = (SCHEMA,)
"""What brings a base from each version to the next one; the first makes it."""


class NothingYet(Exception):
    """The file is there, but somebody else is still making its tables."""


class Database:
    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def exists(self) -> bool:
        """Whether there is something to open; what is no file is told when it is."""
        try:
            return self.path.stat().st_size > 0
        except OSError as error:
            if isinstance(error, (FileNotFoundError, NotADirectoryError)):
                return False
            raise AgentlearnError(f"{self.path} cannot be opened: {error.strerror}") from None

    def rows(self, query: str, given: Sequence[Any] = ()) -> list[Any]:
        """What a query finds; nothing where there is no base yet."""
        if self._connection is None and not self.exists():
            return []
        with self._told():
            try:
                return self._open(write=False).execute(query, given).fetchall()
            except NothingYet:
                return []

    def each(self, query: str) -> Iterator[Any]:
        """Row by row, up to the first that cannot be read."""
        with self._told():
            yield from self._open(write=False).execute(query)

    @contextlib.contextmanager
    def _writing(self, seconds: float | None = None) -> Iterator[sqlite3.Connection]:
        """One transaction: all that is done in it, or nothing."""
        with self._told():
            connection = self._open(write=True)
            patience = BUSY_SECONDS if seconds is None else seconds
            connection.execute(f"PRAGMA busy_timeout = {int(patience * 1000)}")
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk has ended it already
                    connection.execute("ROLLBACK")
                raise

    def _open(self, write: bool) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        for path in (self.path.parent, self.path):
            if path.is_symlink():
                raise BadInput(f"{path} is a link: what is known lies in a file of its own")
        if write:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = self._connected(write)
        try:
            is_ready = self._prepare(connection, write)
        except BaseException:
            connection.close()
            raise
        if not is_ready:
            connection.close()
            raise NothingYet
        connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
        self._connection = connection
        return connection

    def _connected(self, write: bool) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        if write or not self.exists():
            return connection
        try:  # a folder that cannot be written to is read all the same
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
            return connection
        except sqlite3.OperationalError:
            connection.close()
            return sqlite3.connect(
                f"{self.path.absolute().as_uri()}?immutable=1", uri=True, isolation_level=None
            )

    def _prepare(self, connection: sqlite3.Connection, write: bool) -> bool:
        """Make the tables, or bring them up to date; false if there are none yet."""
        version = _version(connection)
        if version < len(MIGRATIONS) and (write or version):
            self._bring_up(connection)
            version = _version(connection)
        if version > len(MIGRATIONS):
            raise BadInput(
                f"{self.path} was written by a newer agentlearn (version {version} of its format)",
                "update agentlearn to use it",
            )
        if version == 0 and _tables(connection):
            raise BadInput(f"{self.path} is a database, but none of agentlearn")
        return version == len(MIGRATIONS)

    def _bring_up(self, connection: sqlite3.Connection) -> None:
        """All steps from its version to ours, or none."""
        _to_wal(connection)
        connection.execute("BEGIN IMMEDIATE")
        try:
            version = _version(connection)  # somebody may have been faster
            if version == 0 and _tables(connection):
                raise BadInput(f"{self.path} is a database, but none of agentlearn")
            for migration in MIGRATIONS[version:]:
                for statement in migration.split(";\n"):
                    connection.execute(statement)
            if version < len(MIGRATIONS):
                connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """What goes wrong with the file, in a sentence."""
        try:
            yield
        except sqlite3.OperationalError as error:
            text = str(error)
            if "locked" in text or "busy" in text:
                raise AgentlearnError(f"{self.path} is in use by another process") from None
            if "readonly" in text:
                raise AgentlearnError(f"{self.path} cannot be written: {text}") from None
            if "unable to open" in text:
                raise AgentlearnError(f"{self.path} cannot be opened") from None
            raise AgentlearnError(f"{self.path} cannot be used: {text}") from None
        except sqlite3.DatabaseError as error:
            hint = "keep a copy of it, and move it away: a new one is made when something is stored"
            raise AgentlearnError(f"{self.path} is damaged: {error}", hint) from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise AgentlearnError(f"{self.path} cannot be used: {reason}") from None


def _tables(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _to_wal(connection: sqlite3.Connection) -> None:
    """SQLite does not wait here by itself while another process does the same."""
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
