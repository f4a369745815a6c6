"""Which items answer a query, and how well.

    relevance = coverage · (0.7 + 0.3 · b) · (0.85 + 0.15 · confidence) · (0.95 + 0.05 · recency)

`coverage` is the part of the query's words that the item has: a word that is only like one of its
words (a typing error, a part of it) counts as much as the two are alike. `b` is BM25 as FTS5 gives
it, brought to 0…1 as s / (s + 4). `recency` halves every 90 days since the item was made or used.
All are from 0 to 1, so relevance is, too, and means the same for every kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import Struct

from agentlearn.guard.hidden import has_hidden
from agentlearn.guard.orders import has_order
from agentlearn.guard.secrets import has_secret
from agentlearn.knowledge.base import Base
from agentlearn.knowledge.rows import COLUMNS, text_of
from agentlearn.knowledge.values import CONVENTION, Item, Kind, is_secret_fact
from agentlearn.knowledge.words import beginning_of, query_words, words_of

CANDIDATES = 20
"""So many of the best by BM25 are looked at more closely; with more, the fixtures do no better."""
CANDIDATES_OF = (
    f"SELECT {', '.join(f'item.{name}' for name in COLUMNS)}, -rank FROM word "
    "JOIN item ON item.number = word.rowid WHERE word MATCH ? ORDER BY rank LIMIT ?"
)
FOR_FILTERS = 20
HAS_WORD = "SELECT 1 FROM word WHERE word MATCH ? LIMIT 1"
CONFIDENCE, CREATED, LAST_USED = map(COLUMNS.index, ("confidence", "created", "last_used"))
Row = tuple[Any, ...]
MOST_LIKE = 6
"""Words of the base that stand for one that is not in it."""
LEAST_LIKE = 0.45
SWAPPED = 0.75
"""Of a short word with two letters the wrong way round, no three letters are the same."""
HALF_LIFE_DAYS = 90.0
MOST_QUERY = 4000


class Found(Struct, frozen=True):
    item: Item
    relevance: float
    base: Base
    conflicts: tuple[str, ...] = ()
    """What else is said of the same matter, by other items."""


def recall(
    bases: Iterable[Base],
    query: str,
    limit: int = 5,
    min_relevance: float = 0.3,
    kind: Kind | None = None,
    scope: str | None = None,
    enough: int | None = None,
) -> list[Found]:
    """The best answers of all bases, best first. `scope` leaves out what holds elsewhere only.

    So many words are `enough`: who looks for all words of a conversation finds no item with all.
    """
    bases = list(bases)
    wanted = query_words(query[:MOST_QUERY])
    # What is left out afterwards must not take the places of what would be found.
    most = max(CANDIDATES, 2 * limit) * (1 if kind is None and scope is None else FOR_FILTERS)
    scored = [one for base in bases for one in _scored(base, wanted, enough, min_relevance, most)]
    scored.sort(key=lambda one: (-one[0], one[1][0]))
    found: dict[str, Found] = {}
    for relevance, row, base in scored:
        if len(found) == limit:
            break
        (item,) = base.items_of([row])
        is_wanted = (kind is None or item.kind == kind) and holds_in(item, scope)
        # What the project and the person both know is told once.
        if item.id not in found and is_wanted and is_harmless(item):
            found[item.id] = Found(item, relevance, base, _others(bases, item))
    return list(found.values())


def best_known(bases: Iterable[Base], limit: int) -> list[Found]:
    """What is surest and most used, where there is nothing to look for yet."""
    now = datetime.now(UTC)
    found = [
        Found(
            item,
            item.confidence * (0.5 + 0.5 * _recency(item.last_used or item.created, now)),
            base,
        )
        for base in bases
        for item in base.items("ORDER BY verified DESC, uses DESC, confidence DESC LIMIT 50")
    ]
    found.sort(key=lambda one: (-one.item.uses, -one.relevance, one.item.id))
    return [one for one in found if is_harmless(one.item)][:limit]


def is_harmless(item: Item) -> bool:
    """A base may have come with a clone, or from an import: what is in it is not trusted."""
    if item.kind != "fact":
        return is_harmless_text(item.text)
    is_secret = is_secret_fact(item.subject, item.predicate, item.object)
    return not (is_secret or has_hidden(item.text) or has_order(item.text))


@lru_cache(maxsize=4096)
def is_harmless_text(text: str) -> bool:
    return not (has_hidden(text) or has_secret(text) or has_order(text))


def _scored(
    base: Base, wanted: list[str], enough: int | None, floor: float, most: int
) -> list[tuple[float, Row, Base]]:
    """What has one of the words, by BM25 and then by how many; words that nothing has are looked
    for once more, as parts of others and with typing errors.
    """
    if not wanted:
        return []
    weights = {word: (word, 1.0) for word in wanted}
    with base.told_if_damaged():
        candidates = _candidates(base, weights, most)
        missing = {word for word in wanted if not any(one.has(word) for one in candidates)}
        if more := _like_those(base, missing, len(candidates) == most):
            weights |= {like: pair for like, pair in more.items() if like not in weights}
            candidates = _candidates(base, weights, most)
        now = datetime.now(UTC)
        scored = []
        for row, text, words in candidates:
            if _relevance(row, _coverage(words, wanted, weights, enough), floor, now) < floor:
                continue  # most go here: to take all of their words would take longest
            covered = _coverage(words.intersection(words_of(text)), wanted, weights, enough)
            scored.append((_relevance(row, covered, floor, now), row, base))
        return [one for one in scored if one[0] >= floor]


class Candidate(NamedTuple):
    row: Row
    """As in the table, with the score by BM25 at its end."""
    text: str
    words: set[str]
    """Those of the words looked for that it may have, as far as is quickly seen."""

    def has(self, word: str) -> bool:
        return word in self.words and word in words_of(self.text)


def _candidates(base: Base, weights: dict[str, tuple[str, float]], most: int) -> list[Candidate]:
    """The best by BM25."""
    match = " OR ".join(f'"{word}"' for word in weights)
    beginnings = [(word, beginning_of(word)) for word in weights]
    found = []
    for row in base.rows(CANDIDATES_OF, (match, most)):
        text = text_of(row)
        lowered = text.lower() if text.isascii() else None
        words = {word for word, begins in beginnings if lowered is None or begins in lowered}
        found.append(Candidate(row, text, words))
    return found


def _like_those(
    base: Base, missing: set[str], there_may_be_others: bool
) -> dict[str, tuple[str, float]]:
    """For words that the base does not have: those that are like them, and how much."""
    if there_may_be_others:  # which have them
        missing = {word for word in missing if not base.rows(HAS_WORD, (f'"{word}"',))}
    found: dict[str, tuple[str, float]] = {}
    for word in sorted(missing):
        for like, likeness in _alike(base, word):
            found.setdefault(like, (word, likeness))
    return found


def _alike(base: Base, word: str) -> list[tuple[str, float]]:
    """Words of the base that have one as a part, or that differ by a typing error."""
    if len(word) < 2 or (word.isascii() and len(word) < 3):
        return []
    grams = _grams(word)
    found = []
    low, high = len(word) - 4, len(word) + 12
    terms = base.rows("SELECT term FROM vocabulary WHERE length(term) BETWEEN ? AND ?", (low, high))
    for (term,) in terms:
        if word in term:
            likeness = 0.6 + 0.4 * len(word) / len(term)
        elif len(term) == len(word) and term[0] == word[0] and sorted(term) == sorted(word):
            likeness = SWAPPED
        else:
            others = _grams(term)
            likeness = 2 * len(grams & others) / (len(grams) + len(others))
        if likeness >= LEAST_LIKE:
            found.append((term, likeness))
    found.sort(key=lambda pair: (-pair[1], pair[0]))
    return found[:MOST_LIKE]


def _grams(word: str) -> set[str]:
    """The trigrams of a word, its two ends marked."""
    marked = f"^{word}$"
    return {marked[at : at + 3] for at in range(len(marked) - 2)} or {marked}


def _coverage(
    words: set[str],
    wanted: list[str],
    weights: dict[str, tuple[str, float]],
    enough: int | None,
) -> float:
    """Of words that all have a weight."""
    best: dict[str, float] = {}
    for word in words:
        of, likeness = weights[word]
        if likeness > best.get(of, 0.0):
            best[of] = likeness
    return min(1.0, sum(best.values()) / min(len(wanted), enough or len(wanted)))


def coverage_of(text: str, wanted: list[str], enough: int) -> float:
    """The same for a text that is in no base, such as a note."""
    if not wanted:
        return 0.0
    weights = {word: (word, 1.0) for word in wanted}
    return _coverage(set(wanted).intersection(words_of(text)), wanted, weights, enough)


def _relevance(row: Row, coverage: float, floor: float, now: datetime) -> float:
    """Recency, which takes longest to work out, is taken as 1 where it cannot matter any more."""
    score = row[-1] or 0.0
    b = score / (score + 4.0) if score > 0 else 0.0
    relevance: float = coverage * (0.7 + 0.3 * b) * (0.85 + 0.15 * float(row[CONFIDENCE]))
    if relevance >= floor:
        relevance *= 0.95 + 0.05 * _recency(row[LAST_USED] or row[CREATED], now)
    return min(1.0, relevance)


def _recency(last_used: str, now: datetime) -> float:
    try:
        last = datetime.fromisoformat(str(last_used))
        last = last if last.tzinfo else last.replace(tzinfo=UTC)
    except ValueError:
        return 0.0
    days = max(0.0, (now - last).total_seconds() / 86_400)
    return float(0.5 ** (days / HALF_LIFE_DAYS))


def holds_in(item: Item, scope: str | None) -> bool:
    """Whether an item is for a folder: it is for that one, for one above it, or for all."""
    if scope is None or not item.scope or item.scope == scope:
        return True
    return scope.startswith(item.scope + "/")


def _others(bases: Iterable[Base], item: Item) -> tuple[str, ...]:
    """What else is said of the same matter, by whichever base; looked at only where it is shown."""
    claims = [other.claim for base in bases for other in base.others(item)]
    return tuple(claim for claim in dict.fromkeys(claims) if claim != item.claim)


def conventions(
    bases: Iterable[Base], language: str | None, folder: str, limit: int = 20
) -> list[Item]:
    """The folder's own conventions, then its parents', then those for all, without repeats."""
    bases = list(bases)
    steps = [folder]
    while steps[-1]:
        steps.append(steps[-1].rpartition("/")[0])
    found: dict[str, Item] = {}
    for step in steps:
        for base in bases:
            where = "WHERE predicate = ? AND scope = ? ORDER BY confidence DESC, created, number"
            for item in base.items(where, (CONVENTION, step)):
                is_for = language is None or item.subject.casefold() == language.casefold()
                if is_for and is_harmless(item):
                    found.setdefault(" ".join(item.object.casefold().split()), item)
    return list(found.values())[:limit]
