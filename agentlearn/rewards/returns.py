"""Discounted returns and advantages, in float64: `g = r + γ·g`, backwards."""

from __future__ import annotations

import math
from collections.abc import Sequence

EPSILON = 1e-4
"""Keeps a group whose returns are all the same from dividing by zero (as in TRL)."""


def discounted_returns(rewards: Sequence[float], gamma: float) -> list[float]:
    """`returns[t] = rewards[t] + gamma * returns[t + 1]`."""
    returns = [0.0] * len(rewards)
    following = 0.0
    for index in range(len(rewards) - 1, -1, -1):
        following = rewards[index] + gamma * following
        returns[index] = following
    return returns


def grpo_advantages(values: Sequence[float]) -> list[float]:
    """How far each is above its group, in standard deviations (ddof 1); 0 for a group of one."""
    if len(values) < 2:
        return [0.0] * len(values)
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))
    return [(value - mean) / (spread + EPSILON) for value in values]


def rloo_advantages(values: Sequence[float]) -> list[float]:
    """How far each is above the mean of the others; 0 for a group of one."""
    if len(values) < 2:
        return [0.0] * len(values)
    total = math.fsum(values)
    return [value - (total - value) / (len(values) - 1) for value in values]
