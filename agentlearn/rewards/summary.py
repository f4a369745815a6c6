"""Many sessions in a few numbers, and each against the others of its task."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agentlearn.errors import BadInput
from agentlearn.rewards.returns import grpo_advantages, rloo_advantages
from agentlearn.rewards.worth import Worth

METHODS = {"grpo": grpo_advantages, "rloo": rloo_advantages}
MOST_SQUARED = 1e150
SHRINK = 2.0**-600
"""A power of two changes no digit; what is shrunk stays far above the epsilon of GRPO."""


class Summary:
    """Running totals: sessions are told one by one and not kept."""

    def __init__(self) -> None:
        self.turns = 0
        self.returns: list[float] = []
        self.outcomes: dict[str, int] = {}

    def add(self, worth: Worth) -> None:
        self.turns += len(worth.rewards)
        self.returns.append(worth.return_)
        self.outcomes[worth.outcome] = self.outcomes.get(worth.outcome, 0) + 1

    def as_dict(self) -> dict[str, Any]:
        returns = self.returns
        success = self.outcomes.get("success", 0)
        judged = success + self.outcomes.get("failure", 0)
        return {
            "sessions": len(returns),
            "turns": self.turns,
            "mean_return": _mean(returns),
            "std_return": _spread(returns),
            "min_return": min(returns, default=None),
            "max_return": max(returns, default=None),
            "success_rate": success / judged if judged else None,
        }


def _mean(values: Sequence[float]) -> float | None:
    if not values:
        return None
    shrunk, factor = _in_range(values)
    return math.fsum(shrunk) / len(values) / factor


def _spread(values: Sequence[float]) -> float | None:
    """The standard deviation of the sessions at hand (ddof 0)."""
    if not values:
        return None
    shrunk, factor = _in_range(values)
    mean = math.fsum(shrunk) / len(values)
    squares = math.fsum((value - mean) ** 2 for value in shrunk)
    return math.sqrt(squares / len(values)) / factor


def _in_range(values: Sequence[float]) -> tuple[Sequence[float], float]:
    """Values whose squares and sums fit a float, and what they were multiplied with.

    Where one of them is infinite, nothing can be said of all: they are no numbers.
    """
    largest = max(map(abs, values))
    if largest <= MOST_SQUARED:
        return values, 1.0
    if not math.isfinite(largest):
        return [math.nan] * len(values), 1.0
    return [value * SHRINK for value in values], SHRINK


def advantages(worths: Sequence[Worth], method: str) -> tuple[list[float], int]:
    """Each session's advantage within its group, and how many groups have one member only."""
    if method not in METHODS:
        raise BadInput(f"--advantage {method} is none of {', '.join(METHODS)}")
    groups: dict[str, list[int]] = {}
    for index, worth in enumerate(worths):
        groups.setdefault(worth.group, []).append(index)
    found = [0.0] * len(worths)
    for members in groups.values():
        shrunk, factor = _in_range([worths[index].return_ for index in members])
        values = METHODS[method](shrunk)
        for index, value in zip(members, values, strict=True):
            found[index] = value if method == "grpo" else value / factor
    return found, sum(1 for members in groups.values() if len(members) == 1)
