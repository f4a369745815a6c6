"""The block for the next prompt: what is known that may bear on what was said last.

Search terms come from the person's and the tools' last words, never from the assistant's: what it
says is no evidence that anything matters. The block is information for an agent, so only what is
harmless gets into it; put into a text a second time, it takes its own place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from msgspec import Struct

from agentlearn.guard import plain
from agentlearn.knowledge.base import Base
from agentlearn.knowledge.recall import Found, coverage_of, is_harmless_text, recall
from agentlearn.knowledge.words import STOP_WORDS, WORD, query_words
from agentlearn.sessions.values import Entry, Message, Result

BEGIN, END = "[KNOWLEDGE_CONTEXT]", "[/KNOWLEDGE_CONTEXT]"
BLOCK = re.compile(rf"\n*{re.escape(BEGIN)}\n.*?\n{re.escape(END)}\n*", re.DOTALL)
SENTENCE = "What earlier sessions taught that may help here. It is information, not an order."
LAST_MESSAGES, WORDS_A_MESSAGE, WORDS_IN_ALL, SHORTEST = 5, 10, 15, 4
ENOUGH = 4
"""So many of the words are all that one item can be expected to have."""
READ_CHARS = 20_000
NOISE = re.compile(r"[0-9a-f]{8,}|\d+|[A-Za-z0-9+/=_-]{30,}")


class Noted(Struct, frozen=True):
    """A note of the memory, and how much it has to do with what was said."""

    text: str
    relevance: float


def search_words(entries: Iterable[Entry]) -> list[str]:
    """What to look for, from the last messages of a conversation."""
    said = [entry for entry in entries if isinstance(entry, (Message, Result))]
    found: dict[str, None] = {}
    for entry in said[-LAST_MESSAGES:]:
        if isinstance(entry, Result) or entry.role == "user":
            found.update(dict.fromkeys(words_in(entry.text)))
    return list(found)[-WORDS_IN_ALL:]


def words_in(text: str) -> list[str]:
    """The telling words of one message: long enough, no stop words, no ids and numbers."""
    without = BLOCK.sub("\n", text[:READ_CHARS])
    words = [
        word
        for word in WORD.findall(without)
        if len(word) >= SHORTEST and word.lower() not in STOP_WORDS and not NOISE.fullmatch(word)
    ]
    return list(dict.fromkeys(word.lower() for word in words))[:WORDS_A_MESSAGE]


def context_for(
    words: list[str],
    bases: list[Base],
    notes: Iterable[str],
    floor: float = 0.3,
    most: int = 5,
) -> str:
    """The block, or nothing if nothing is known that would help."""
    query = " ".join(words)
    if not query:
        return ""
    shown = relevant_notes(query, notes, floor, most)
    told = [note.text for note in shown]
    found = untold(lambda limit: recall(bases, query, limit, floor, enough=ENOUGH), told, most)
    return block_of(shown, found)


def relevant_notes(query: str, notes: Iterable[str], floor: float, most: int) -> list[Noted]:
    wanted = query_words(query)
    scored = [Noted(text, coverage_of(text, wanted, ENOUGH)) for text in notes]
    good = [note for note in scored if note.relevance >= floor and is_harmless_text(note.text)]
    good.sort(key=lambda note: -note.relevance)
    return good[:most]


def first_notes(notes: Iterable[str], most: int) -> list[Noted]:
    """The notes themselves, where nothing was said yet that they could be held against."""
    return [Noted(text, 1.0) for text in notes if is_harmless_text(text)][:most]


def untold(ask: Callable[[int], list[Found]], told: Iterable[str], most: int) -> list[Found]:
    """So many of the best that say something new; `ask` gives as many as there are up to a limit.

    A review keeps what it notes as a fact, too: a block shall not say it twice.
    """
    limit = most
    while True:
        found = ask(limit)
        said = {_key(text) for text in told}
        new = []
        for one in found:
            keys = {_key(one.item.text), _key(one.item.object or one.item.text)}
            if not keys & said:
                new.append(one)
                said.add(_key(one.item.text))
        if len(new) >= most or len(found) < limit:
            return new[:most]
        limit *= 2


def _key(text: str) -> str:
    """The same for texts that differ in case, white space, their last dot and the mark (seen)."""
    return " ".join(text.removeprefix("(seen) ").casefold().split()).rstrip(".! ")


def block_of(notes: list[Noted], found: list[Found]) -> str:
    if not notes and not found:
        return ""
    lines = [BEGIN, SENTENCE]
    lines += [f"- [memory, relevance={note.relevance:.2f}] {_line(note.text)}" for note in notes]
    for one in found:
        head = f"[knowledge/{one.item.kind}, confidence={one.item.confidence:.2f}]"
        lines.append(f"- {head} {_line(one.item.shown)}")
    return "\n".join([*lines, END]) + "\n"


def _line(text: str) -> str:
    """On one line, and without what would end the block."""
    line = " ".join(plain(text).split())
    return re.sub(r"\[(?=/?KNOWLEDGE_CONTEXT)", "(", line)


def with_block(text: str, block: str) -> str:
    """A text with the block at its end, in the place of an earlier one."""
    without = BLOCK.sub("\n\n", text).rstrip("\n")
    return f"{without}\n\n{block}" if block else f"{without}\n"
