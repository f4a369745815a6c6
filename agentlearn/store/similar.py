"""Whether two skills are about the same work: the words they share, in their roots."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentlearn.store.values import Skill

WORD = re.compile(r"[^\W_]+")
STOP = frozenset(
    WORD.findall(
        "a an and any are as at be before by can do for from has have how if in into is it its "
        "more not of on or our out so than that the their then there this to up use used using "
        "was we were what when where which while will with without you your skill skills project"
    )
)
NEAR = 0.6


def roots(text: str) -> frozenset[str]:
    """The words that carry meaning, without their endings."""
    return frozenset(_root(word) for word in WORD.findall(text.lower()) if word not in STOP)


def _root(word: str) -> str:
    for ending in ("ings", "ing", "ers", "ies", "ed", "er", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            # "running" and "run" are one word.
            if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "sl":
                stem = stem[:-1]
            return stem
    return word


def likeness(name: str, description: str, other: Skill) -> float:
    """0 to 1: by the names, or by names and descriptions together, whichever is more alike."""
    names = _jaccard(roots(name.replace("-", " ")), roots(other.folder.replace("-", " ")))
    whole = _jaccard(
        roots(f"{name.replace('-', ' ')} {description}"),
        roots(f"{other.folder.replace('-', ' ')} {other.description}"),
    )
    return max(names, whole)


def nearest(name: str, description: str, skills: Iterable[Skill]) -> tuple[float, Skill] | None:
    found = [(likeness(name, description, skill), skill) for skill in skills]
    return max(found, key=lambda pair: (pair[0], pair[1].folder), default=None)


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one and other else 0.0
