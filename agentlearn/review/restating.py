"""Whether a note says what another says, says it anew, or says something else.

"The staging server listens on port 8081" and "the production server listens on port 8082" share
most of their words and are two facts; "we use pnpm here" after "we use npm here" is a new word on
the same thing. Nothing is dropped because it sounds like something known.
"""

from __future__ import annotations

import re
from typing import Literal

from agentlearn.store.similar import WORD, roots

NEGATED = re.compile(
    r"\b(?:not|n't|no|never|don'?t|avoid|without|instead of|stop)\b", re.IGNORECASE
)
FILLER = roots("now actually please always just really again still also from")
Answer = Literal["same", "anew", "other"]


def alike(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether they speak of the same matter."""
    shared = len(first & second)
    return shared >= 2 and shared / min(len(first), len(second)) >= 0.6


def restates(new: str, old: str) -> Answer:
    """What a new note is to an old one."""
    news, olds = roots(new) - FILLER, roots(old) - FILLER
    if not alike(news, olds):
        return "anew" if _swaps_one_word(new, old) else "other"
    if bool(NEGATED.search(new)) != bool(NEGATED.search(old)):
        return "anew"
    if news <= olds:
        return "same"
    return "anew" if olds <= news or _swaps_one_word(new, old) else "other"


def _swaps_one_word(new: str, old: str) -> bool:
    """The same words in the same order but for one, and that in the later half: what is used, not
    what it is said of."""
    one, other = (_words(text) for text in (new, old))
    if len(one) != len(other) or len(one) < 3:
        return False
    pairs = enumerate(zip(one, other, strict=True))
    places = [place for place, (word, instead) in pairs if word != instead]
    return len(places) == 1 and places[0] >= (len(one) - 1) / 2


def _words(text: str) -> list[str]:
    return [word for word in WORD.findall(text.lower()) if word not in FILLER]
