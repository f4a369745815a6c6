"""The base: SQLite with FTS5, one file, safe for several processes.

Storing what is there already raises its confidence and gives the same id. Storing what contradicts
it keeps both, and tells. A file that is locked, damaged, read-only or of a newer version is told in
a sentence; nothing that was stored is ever lost over it.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.knowledge.rows import COLUMNS, item_of, merged, now, number_of, row_of, topic_number
from agentlearn.knowledge.values import Item, raised
from agentlearn.knowledge.words import indexed

VERSION = 1
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
INSERT = (
    f"INSERT INTO item ({', '.join(COLUMNS)}, topic) VALUES ({', '.join('?' * len(COLUMNS))}, ?)"
)


ADD_WORDS = "INSERT INTO word (rowid, text) VALUES (?, ?)"
GATHER_WORDS = "INSERT INTO word (word, rank) VALUES ('hashsize', ?)"
AT_A_TIME = 10_000
USUALLY_GATHERED_BYTES, GATHERED_BYTES = 1 << 20, 32 << 20
"""What FTS5 gathers in memory before it writes a piece of its index. Many small pieces have to be
merged while they are written, and are all looked into by every search."""
OF_TOPIC = (
    f"SELECT {', '.join(COLUMNS)} FROM item WHERE topic = ? AND number != ? "
    "ORDER BY confidence DESC LIMIT 10"
)
ID_LENGTH = 12
ID = re.compile(r"[0-9a-f]{4,12}")


class NothingYet(Exception):
    """The file is there, but somebody else is still making its tables."""


class Stored(Struct, frozen=True):
    item: Item
    is_new: bool
    conflicts: tuple[Item, ...] = ()
    """What says otherwise of the same matter."""


class Base:
    """An open base. `path` need not exist: it is made when something is stored."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Base:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def exists(self) -> bool:
        return self.path.is_file() and self.path.stat().st_size > 0

    # Reading

    def rows(self, query: str, given: Sequence[Any] = ()) -> list[Any]:
        """What a query finds; nothing where there is no base yet."""
        if self._connection is None and not self.exists():
            return []
        with self._told():
            try:
                return self._open(write=False).execute(query, given).fetchall()
            except NothingYet:
                return []

    def items(self, where: str = "", given: Sequence[Any] = ()) -> list[Item]:
        columns = ", ".join(f"item.{name}" for name in COLUMNS)
        return self.items_of(self.rows(f"SELECT {columns} FROM item {where}", given))

    def items_of(self, rows: Iterable[Any]) -> list[Item]:
        """Rows as items; a file that came from elsewhere may hold anything in them."""
        with self.told_if_damaged():
            return [item_of(row) for row in rows]

    @contextlib.contextmanager
    def told_if_damaged(self) -> Iterator[None]:
        try:
            yield
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
            raise AgentlearnError(f"{self.path} is damaged: {error}") from None

    def get(self, id: str) -> list[Item]:
        """The items whose id begins like this."""
        if not ID.fullmatch(id):
            return []
        missing = ID_LENGTH - len(id)
        first, last = int(id + "0" * missing, 16), int(id + "f" * missing, 16)
        return self.items("WHERE number BETWEEN ? AND ? LIMIT 10", (first, last))

    def count(self) -> int:
        rows = self.rows("SELECT count(*) FROM item")
        return int(rows[0][0]) if rows else 0

    # Writing

    def store(self, item: Item) -> Stored:
        with self._writing() as connection:
            return self._store(connection, item)

    def store_all(self, items: Iterable[Item]) -> list[Stored]:
        """All of them or none."""
        with self._writing() as connection:
            return [self._store(connection, item) for item in items]

    def _store(self, connection: sqlite3.Connection, item: Item) -> Stored:
        known = self._known(connection, item.id)
        if known is not None:
            again = structs.replace(
                known,
                confidence=raised(known.confidence, item.confidence),
                evidence=tuple(dict.fromkeys([*known.evidence, *item.evidence]))[-20:],
                verified=known.verified or item.verified or _is_confirmed(known, item),
                source="person" if item.source == "person" else known.source,
                body=item.body,
            )
            self._update(connection, known, again)
            return Stored(again, False, self._conflicts(connection, again))
        new = item if item.created else structs.replace(item, created=now())
        self._insert(connection, new)
        return Stored(new, True, self._conflicts(connection, new))

    def replace_all(self, items: Iterable[Item]) -> tuple[int, int]:
        """Take items over as they are, for an import: how many were new, how many were there.

        Of one that is there the surer and the more used wins.
        """
        new = again = 0
        with self._writing() as connection:
            there = {row[0] for row in connection.execute("SELECT number FROM item")}
            fresh: dict[int, Item] = {}
            for item in items:
                number = number_of(item.id)
                if number in there:
                    again += 1
                    known = self._known(connection, item.id)
                    assert known is not None
                    self._update(connection, known, merged(known, item))
                elif number in fresh:
                    again += 1
                    fresh[number] = merged(fresh[number], item)
                else:
                    new += 1
                    fresh[number] = item
            self._insert_all(connection, fresh)
        return new, again

    def forget(self, items: Iterable[Item]) -> None:
        with self._writing() as connection:
            for item in items:
                # As it stands now: the index must be told just what it was given, and once.
                known = self._known(connection, item.id)
                if known is None:
                    continue
                self._remove_words(connection, known)
                connection.execute("DELETE FROM item WHERE number = ?", (number_of(item.id),))

    def used(self, items: Iterable[Item]) -> None:
        """Note that these were asked for; a base that cannot be written is none the worse."""
        numbers = [number_of(item.id) for item in items]
        if not numbers:
            return
        at = now()
        with contextlib.suppress(AgentlearnError), self._writing(seconds=0.2) as connection:
            connection.executemany(
                "UPDATE item SET uses = uses + 1, last_used = ? WHERE number = ?",
                [(at, number) for number in numbers],
            )

    # Inside

    def _known(self, connection: sqlite3.Connection, id: str) -> Item | None:
        query = f"SELECT {', '.join(COLUMNS)} FROM item WHERE number = ?"
        row = connection.execute(query, (number_of(id),)).fetchone()
        return None if row is None else item_of(row)

    def _insert(self, connection: sqlite3.Connection, item: Item) -> None:
        connection.execute(INSERT, row_of(item))
        self._add_words(connection, item)

    def _insert_all(self, connection: sqlite3.Connection, fresh: dict[int, Item]) -> None:
        # In the order of their numbers, which is the order that an index is made in; many at a
        # time, since SQLite and Python in turn for each row would take a quarter longer.
        numbers = sorted(fresh)
        connection.execute(GATHER_WORDS, (GATHERED_BYTES,))
        for start in range(0, len(numbers), AT_A_TIME):
            some = [(number, fresh[number]) for number in numbers[start : start + AT_A_TIME]]
            connection.executemany(INSERT, [row_of(item) for _, item in some])
            words = [(number, indexed(item.text)) for number, item in some]
            connection.executemany(ADD_WORDS, words)
        connection.execute(GATHER_WORDS, (USUALLY_GATHERED_BYTES,))

    def _update(self, connection: sqlite3.Connection, known: Item, item: Item) -> None:
        names = ", ".join(f"{name} = ?" for name in COLUMNS)
        connection.execute(
            f"UPDATE item SET {names}, topic = ? WHERE number = ?",
            (*row_of(item), number_of(item.id)),
        )
        if known.text != item.text:
            self._remove_words(connection, known)
            self._add_words(connection, item)

    def _add_words(self, connection: sqlite3.Connection, item: Item) -> None:
        connection.execute(ADD_WORDS, (number_of(item.id), indexed(item.text)))

    def _remove_words(self, connection: sqlite3.Connection, item: Item) -> None:
        """The index keeps no texts, so it must be told what it was given."""
        connection.execute(
            "INSERT INTO word (word, rowid, text) VALUES ('delete', ?, ?)",
            (number_of(item.id), indexed(item.text)),
        )

    def _conflicts(self, connection: sqlite3.Connection, item: Item) -> tuple[Item, ...]:
        if not item.topic:
            return ()
        rows = connection.execute(OF_TOPIC, (topic_number(item), number_of(item.id)))
        return _of_one_topic(item, self.items_of(rows))

    def others(self, item: Item) -> tuple[Item, ...]:
        """What else is said of the matter that a fact speaks of."""
        if not item.topic:
            return ()
        rows = self.rows(OF_TOPIC, (topic_number(item), number_of(item.id)))
        return _of_one_topic(item, self.items_of(rows))

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
        """Make the tables, or see that they are those we know; false if there are none yet."""
        version = _version(connection)
        if version == 0 and write:
            self._make_tables(connection)
            version = _version(connection)
        if version > VERSION:
            raise BadInput(
                f"{self.path} was written by a newer agentlearn (version {version} of its format)",
                "update agentlearn to use it",
            )
        return version == VERSION

    def _make_tables(self, connection: sqlite3.Connection) -> None:
        _to_wal(connection)
        connection.execute("BEGIN IMMEDIATE")
        try:
            if _version(connection) == 0:  # nobody was faster
                if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                    raise BadInput(f"{self.path} is a database, but none of agentlearn")
                for statement in SCHEMA.split(";\n"):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {VERSION}")
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
            if "readonly" in text or "unable to open" in text:
                raise AgentlearnError(f"{self.path} cannot be written: {text}") from None
            raise AgentlearnError(f"{self.path} cannot be used: {text}") from None
        except sqlite3.DatabaseError as error:
            hint = "keep a copy of it; what can be read: agentlearn knowledge export"
            raise AgentlearnError(f"{self.path} is damaged: {error}", hint) from None
        except OSError as error:
            reason = error.strerror or str(error)
            raise AgentlearnError(f"{self.path} cannot be used: {reason}") from None


def _is_confirmed(known: Item, again: Item) -> bool:
    """What a person says, and was learned without him, has been seen twice by different eyes."""
    return known.source != again.source and "person" in (known.source, again.source)


def _of_one_topic(item: Item, found: list[Item]) -> tuple[Item, ...]:
    """Numbers of topics are short: two may have the same."""
    return tuple(other for other in found if other.topic == item.topic)


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
