"""The base: SQLite with FTS5, one file, safe for several processes.

Storing what is there already raises its confidence and gives the same id. Storing what contradicts
it keeps both, and tells. A file that is locked, damaged, read-only or of a newer version is told in
a sentence; nothing that was stored is ever lost over it.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct, structs

from agentlearn.errors import AgentlearnError
from agentlearn.knowledge.database import Database
from agentlearn.knowledge.rows import COLUMNS, item_of, merged, now, number_of, row_of, topic_number
from agentlearn.knowledge.values import Item, raised
from agentlearn.knowledge.words import indexed

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
ID = re.compile(r"[0-9a-f]{1,12}")


class Stored(Struct, frozen=True):
    item: Item
    is_new: bool
    conflicts: tuple[Item, ...] = ()
    """What says otherwise of the same matter."""


class Base(Database):
    """An open base. `path` need not exist: it is made when something is stored."""

    # Reading

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

    def all_that_can_be_read(self) -> tuple[list[Item], AgentlearnError | None]:
        """Every item, by when it was made; of a damaged file, those before and after the damage."""
        try:
            return self.items("ORDER BY created, number"), None
        except AgentlearnError as damage:
            found: dict[str, Item] = {}
            for order in ("ASC", "DESC"):
                with contextlib.suppress(AgentlearnError):
                    for row in self.each(
                        f"SELECT {', '.join(COLUMNS)} FROM item ORDER BY number {order}"
                    ):
                        with contextlib.suppress(AgentlearnError):
                            (item,) = self.items_of([row])
                            found[item.id] = item
            return sorted(found.values(), key=lambda item: (item.created, item.id)), damage

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
                body=_counted(known.body, item.body),
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
        if not numbers or not self.exists():
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


def _counted(known: dict[str, Any] | None, again: dict[str, Any] | None) -> dict[str, Any] | None:
    """A pattern that was seen again has occurred more often; of a rate the newer is right."""
    if known is None or again is None or "occurrences" not in known:
        return again
    return {**again, "occurrences": known["occurrences"] + again.get("occurrences", 1)}


def _is_confirmed(known: Item, again: Item) -> bool:
    """What a person says, and was learned without him, has been seen twice by different eyes."""
    return known.source != again.source and "person" in (known.source, again.source)


def _of_one_topic(item: Item, found: list[Item]) -> tuple[Item, ...]:
    """Numbers of topics are short: two may have the same."""
    return tuple(other for other in found if other.topic == item.topic)
