"""Does a reward predict the truth? How well it ranks successes above failures, with doubt.

AUC is the chance that a random success scores higher than a random failure; 0.5 is a coin.
Intervals are percentile bootstraps over sessions, and two rankings are compared on the same
resamples: a difference counts when its interval leaves out zero.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

RESAMPLES = 1000
SEED = 20261115


class Case(Struct, frozen=True):
    """One labelled session. Every score is such that more should mean success."""

    success: bool
    task: str
    scores: dict[str, float]


class Interval(Struct, frozen=True):
    value: float
    low: float
    high: float


def auc(cases: Sequence[Case], name: str, weights: Sequence[int] | None = None) -> float | None:
    """The share of (success, failure) pairs that are ranked rightly; a tie is half right."""
    order = sorted(range(len(cases)), key=lambda index: cases[index].scores[name])
    return _auc_sorted(cases, order, name, weights or [1] * len(cases))


def _auc_sorted(
    cases: Sequence[Case], order: Sequence[int], name: str, weights: Sequence[int]
) -> float | None:
    right = 0.0
    failures_below = failures_tied = successes_tied = successes = 0
    level: float | None = None
    for index in order:
        weight = weights[index]
        if not weight:
            continue
        case = cases[index]
        if case.scores[name] != level:
            right += successes_tied * (failures_below + failures_tied / 2)
            failures_below += failures_tied
            failures_tied = successes_tied = 0
            level = case.scores[name]
        if case.success:
            successes_tied += weight
            successes += weight
        else:
            failures_tied += weight
    right += successes_tied * (failures_below + failures_tied / 2)
    pairs = successes * (failures_below + failures_tied)
    return right / pairs if pairs else None


class Ranking:
    """The cases, sorted once by each score, overall or task by task."""

    def __init__(self, cases: Sequence[Case], within_task: bool) -> None:
        self.cases = cases
        groups: dict[str, list[int]] = {}
        for index, case in enumerate(cases):
            groups.setdefault(case.task if within_task else "", []).append(index)
        self.orders = {
            name: [
                sorted(members, key=lambda index, name=name: cases[index].scores[name])  # type: ignore[misc]
                for members in groups.values()
            ]
            for name in cases[0].scores
        }

    def auc(self, name: str, weights: Sequence[int]) -> float | None:
        """Over all pairs within a group; groups with more pairs count for more."""
        right = pairs = 0.0
        for order in self.orders[name]:
            successes = sum(weights[i] for i in order if self.cases[i].success)
            failures = sum(weights[i] for i in order) - successes
            found = _auc_sorted(self.cases, order, name, weights)
            if found is not None:
                right += found * successes * failures
                pairs += successes * failures
        return right / pairs if pairs else None


def audit(cases: Sequence[Case], within_task: bool = False) -> dict[str, Any] | None:
    """AUC of every score, and what the first is ahead of each other; None if nothing compares."""
    if not cases:
        return None
    ranking = Ranking(cases, within_task)
    names = list(cases[0].scores)
    ones = [1] * len(cases)
    values = {name: ranking.auc(name, ones) for name in names}
    if any(value is None for value in values.values()):
        return None
    samples: dict[str, list[float]] = {name: [] for name in names}
    chance = random.Random(SEED)
    for _ in range(RESAMPLES):
        weights = [0] * len(cases)
        for index in chance.choices(range(len(cases)), k=len(cases)):
            weights[index] += 1
        drawn = {name: ranking.auc(name, weights) for name in names}
        if all(value is not None for value in drawn.values()):
            for name in names:
                samples[name].append(drawn[name] or 0.0)
    first, *others = names
    return {
        "auc": {name: _interval(values[name] or 0.0, samples[name]) for name in names},
        "ahead_of": {
            name: _interval(
                (values[first] or 0.0) - (values[name] or 0.0),
                [a - b for a, b in zip(samples[first], samples[name], strict=True)],
            )
            for name in others
        },
    }


def _interval(value: float, samples: Sequence[float]) -> Interval:
    ordered = sorted(samples)
    if not ordered:
        return Interval(value, value, value)
    last = len(ordered) - 1
    return Interval(value, ordered[round(0.025 * last)], ordered[round(0.975 * last)])
