"""A sign: words that speak for or against a sentence being a lesson, and how much they weigh."""

from __future__ import annotations

import re
from typing import NamedTuple


class Sign(NamedTuple):
    name: str
    points: int
    words: re.Pattern[str]


def sign(name: str, points: int, *words: str) -> Sign:
    return Sign(name, points, re.compile("|".join(words), re.IGNORECASE))
