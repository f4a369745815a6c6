"""Text that tries to command the agent that reads it, as planted in web pages, files and issues.

Two strengths. An injected order is refused wherever it would be written: it wants the reader to
forget its task, to keep something from the person, to send data away, to run what the net sends,
to switch a check off, or it plays a part of the conversation. An imperative is any sentence that
says what to do: nothing evil, but a note that rests on a tool's output alone may only describe.

Text is normalised first: compatibility forms, unseen characters, lookalikes, entities, case. A
sentence that forbids the thing ("never use --no-verify") is no order to do it. What this cannot
see: an order in other words than it knows. It is one check among several, not the wall.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from html import unescape
from itertools import accumulate
from typing import NamedTuple

from agentlearn.guard.hidden import LIKE_LATIN, hidden_characters
from agentlearn.guard.imperatives import is_imperative
from agentlearn.guard.order_shapes import Shape

__all__ = ["Order", "has_order", "injected_orders", "is_imperative"]

EXCERPT_CHARS = 160
SIGNS = str.maketrans("’‘ʼ＇“”„–—‐‑", "''''\"\"\"----")
FOREIGN = re.compile(r"[^\x00-\x7f]")
ENTITY = re.compile(r"&(?:#\d{2,6}|#x[0-9a-f]{2,5}|[a-z]{2,8});", re.IGNORECASE)
EMPHASIS = re.compile(r"[*`]|~~|(?<![^\W_])_+|_+(?![^\W_])")
SENTENCE_END = re.compile(r"[.!?;](?=\s|\Z)|\n")
DENIAL = re.compile(
    r"\b(?:never|not|cannot|\w+n't|no|avoid|without|instead of|rather than|refuses?|bans?"
    r"|forbid(?:s|den)?|banned|prohibit\w*|rejects?|rejected|stop|block(?:s|ed)?|against|nie|niemals|nicht|jamais"
    r"|nunca|никогда)\b(?!\s+(?:forget|hesitate|fail|worry|omit|only|matter))"
)
DENIED_AFTER = re.compile(
    r"\b(?:is|are|was|must|should|may|will|gets?)\s+(?:\w+\s+)?(?:not|never|forbidden|banned|blocked"
    r"|prohibited|refused|disallowed|rejected|denied|wrong)\b"
)


class Order(NamedTuple):
    kind: str
    """What it wants: `override`, `secrecy`, `exfiltration`, `piped-to-shell`, …"""
    excerpt: str
    """The words that gave it away, normalised, on one line."""
    start: int
    """Where in the text it begins."""


class View(NamedTuple):
    """A normalised text, with the place of each of its characters; none if all kept theirs."""

    text: str
    places: Sequence[int] | None


def has_order(text: str) -> bool:
    return next(_orders(text), None) is not None


def first_with_order(texts: Sequence[str]) -> int | None:
    """The number of the first text that has an order, of very many short ones.

    The words that a shape needs are looked for in all of them at once; the shape itself only in
    those that have one. One by one it takes ten times as long.
    """
    simple = [text.lower() if _is_simple(text) else "" for text in texts]
    found = [number for number, text in enumerate(texts) if not simple[number] and has_order(text)]
    starts = list(accumulate((len(text) + 1 for text in simple), initial=0))
    whole = "\n".join(simple)
    for shape in _all_shapes():
        for number in sorted(
            {n for needle in shape.needles for n in _having(needle, whole, starts)}
        ):
            if next(_matches((shape,), View(simple[number], None)), None) is not None:
                found.append(number)
                break
    return min(found, default=None)


def _having(needle: str, whole: str, starts: list[int]) -> Iterator[int]:
    """The numbers of the texts that have a word, each once."""
    place = whole.find(needle)
    while place >= 0:
        number = bisect_right(starts, place) - 1
        yield number
        place = whole.find(needle, starts[number + 1])


def _is_simple(text: str) -> bool:
    """Whether its small letters are all that normalising would change."""
    return text.isascii() and "&" not in text and EMPHASIS.search(text) is None


@cache
def _all_shapes() -> tuple[Shape, ...]:
    from agentlearn.guard import order_commands, order_languages, order_words

    return (*order_commands.SHAPES, *order_words.SHAPES, *order_languages.SHAPES)


def injected_orders(text: str) -> list[Order]:
    """Every planted order, by where it begins, one for each kind and place."""
    found: list[Order] = []
    for order in sorted(_orders(text), key=lambda order: order.start):
        if (order.kind, order.start) not in [(known.kind, known.start) for known in found]:
            found.append(order)
    return found


def _orders(text: str) -> Iterator[Order]:
    from agentlearn.guard import order_commands, order_languages, order_words

    entity = ENTITY.search(text)
    for view in (_normalised(text), *([_unescaped(text, entity.start())] if entity else [])):
        yield from _matches(order_commands.SHAPES, view)
        words = _without_emphasis(view)
        yield from _matches(order_words.SHAPES, words)
        yield from _matches(order_languages.SHAPES, words)


def _matches(shapes: Sequence[Shape], view: View) -> Iterator[Order]:
    for shape in shapes:
        for needle in shape.needles:  # a loop takes half the time of any()
            if needle in view.text:
                break
        else:
            continue
        for match in shape.pattern.finditer(view.text):
            if not (shape.may_be_denied and _is_denied(view.text, *match.span())):
                excerpt = " ".join(match[0].split())[:EXCERPT_CHARS]
                start = view.places[match.start()] if view.places else match.start()
                yield Order(shape.kind, excerpt, start)


def _is_denied(text: str, start: int, end: int) -> bool:
    """Whether the sentence around it forbids it. Denied twice is not denied."""
    near = text[max(0, start - 160) : start]
    before = SENTENCE_END.split(near)[-1]
    if len(DENIAL.findall(before)) % 2:
        return True
    after = SENTENCE_END.split(text[end : end + 120], maxsplit=1)[0]
    return DENIED_AFTER.search(after) is not None


def _normalised(text: str) -> View:
    """The text as a model may read it: one case, one form, nothing unseen."""
    if text.isascii():
        return View(text.lower(), None)
    hidden = {found.start: found.kind for found in hidden_characters(text)}
    pieces: list[str] = []
    places: list[int] = []
    done = 0
    for match in FOREIGN.finditer(text):
        place, char = match.start(), match[0]
        if hidden.get(place) == "lookalike":
            char = LIKE_LATIN.get(char, char)
        seen = unicodedata.normalize("NFKC", char).translate(SIGNS).lower()
        seen = "" if hidden.get(place) == "hidden" else seen
        pieces += [text[done:place].lower(), seen]
        places += [*range(done, place), *([place] * len(seen))]
        done = match.end()
    return View("".join([*pieces, text[done:].lower()]), [*places, *range(done, len(text))])


def _unescaped(text: str, start: int) -> View:
    """What a browser would show; places are lost, so everything is where the first entity is."""
    shown = _normalised(unescape(text)).text
    return View(shown, [start] * len(shown))


def _without_emphasis(view: View) -> View:
    """Without the signs that make words bold or code, which may stand inside of words too."""
    pieces: list[str] = []
    kept: list[int] = []
    done = 0
    for match in EMPHASIS.finditer(view.text):
        pieces.append(view.text[done : match.start()])
        kept += range(done, match.start())
        done = match.end()
    if not done:
        return view
    kept += range(done, len(view.text))
    places = [view.places[place] for place in kept] if view.places else kept
    return View("".join([*pieces, view.text[done:]]), places)
