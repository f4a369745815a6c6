"""Whether a note says what another says, says it anew, or says something else.

"The staging server listens on port 8081" and "the production server listens on port 8082" share
most of their words and are two facts; "we use pnpm here" after "we use npm here" is a new word on
the same thing. What says less than a note says nothing new; all else is kept.
"""

from __future__ import annotations

import re
from typing import Literal

from agentlearn.store.similar import WORD, roots

NEGATED = re.compile(
    r"\b(?:not|n't|no|never|don'?t|avoid|without|instead of|stop)\b", re.IGNORECASE
)
NEGATIONS = roots("not no never dont don avoid without instead stop")
FILLER = roots(
    "now actually please always just really again still also from longer should must need them"
)
CHOOSES = ("use", "uses", "prefer", "prefers")
"""What is used is chosen anew; what is forbidden, or for what it is used, comes on top."""
Answer = Literal["same", "anew", "other"]


def alike(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether they speak of the same matter."""
    shared = len(first & second)
    return shared >= 2 and shared / min(len(first), len(second)) >= 0.6


def restates(new: str, old: str) -> Answer:
    """What a new note is to an old one."""
    news, olds = roots(new) - FILLER, roots(old) - FILLER
    if _gives_another_value(new, old):
        return "anew"
    if not alike(news, olds):
        return "other"
    if bool(NEGATED.search(new)) != bool(NEGATED.search(old)):
        # With more words, or fewer, it is of something narrower or wider.
        return "anew" if news - NEGATIONS == olds - NEGATIONS else "other"
    if news <= olds:  # what forbids in fewer words forbids more
        return "anew" if NEGATED.search(new) and news != olds else "same"
    one, other = _words(new), _words(old)
    return "anew" if one[: len(other)] == other else "other"


def _gives_another_value(new: str, old: str) -> bool:
    """The same words in the same order but for one: a number, or what is used."""
    one, other = _words(new), _words(old)
    if len(one) != len(other) or len(one) < 3 or NEGATED.search(new) or NEGATED.search(old):
        return False
    pairs = list(zip(one, other, strict=True))
    places = [place for place, (word, instead) in enumerate(pairs) if word != instead]
    if len(places) != 1:
        return False
    word, instead = pairs[places[0]]
    if _has_digit(word) and _has_digit(instead):
        is_said_of_it = places[0] >= (len(one) - 1) / 2  # and not what it is said of
        return is_said_of_it and not any(map(_has_digit, one[places[0] + 1 :]))
    return places[0] > 0 and one[places[0] - 1] in CHOOSES


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _words(text: str) -> list[str]:
    return [word for word in WORD.findall(text.lower()) if word not in FILLER]
