"""Rewards and outcomes as native files write them: strict, because a sign must never flip."""

from __future__ import annotations

import math
from typing import Any

from agentlearn.sessions.values import OUTCOMES, Reward, RewardKind

KINDS: dict[str, RewardKind] = {
    "positive": "positive",
    "negative": "negative",
    "neutral": "neutral",
    "terminal": "terminal",
}


def parse_reward(value: Any) -> Reward | None:
    """A reward from a number, `{"kind", "value"}` or `{"Positive": 0.1}`; None if none is stated.

    Raises ValueError with the reason for anything else.
    """
    if value is None:
        return None
    if isinstance(value, str):
        return _checked(value.lower(), None)
    if isinstance(value, dict):
        if "kind" in value:
            return _checked(value["kind"], value.get("value"))
        if len(value) == 1:
            ((kind, amount),) = value.items()
            return _checked(str(kind).lower(), amount)
        raise ValueError("a reward needs a kind and a value")
    amount = _number(value)
    if amount == 0:
        return Reward("neutral", 0.0)
    return Reward("positive", amount) if amount > 0 else Reward("negative", -amount)


def _checked(kind: Any, value: Any) -> Reward:
    known = KINDS.get(kind) if isinstance(kind, str) else None
    if known is None:
        raise ValueError(f"reward kind {str(kind)[:40]!r} is none of {', '.join(KINDS)}")
    if known == "neutral":
        if value is not None and _number(value) != 0:
            raise ValueError("a neutral reward is 0")
        return Reward("neutral", 0.0)
    if value is None:
        raise ValueError(f"a {known} reward needs a value")
    amount = _number(value)
    if known != "terminal" and amount < 0:
        raise ValueError(f"a {known} reward has a value of 0 or more, not {amount:g}")
    return Reward(known, amount)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"a reward is a number, not {str(value)[:40]!r}")
    try:
        amount = float(value)
    except OverflowError:
        amount = math.inf
    if not math.isfinite(amount):
        raise ValueError("a reward is a finite number")
    return amount


def parse_outcome(value: Any, reason: Any = None) -> tuple[str, str | None]:
    """Outcome and reason from `success`, `Success`, `InProgress` or `{"Aborted": "why"}`."""
    if isinstance(value, dict) and len(value) == 1:
        ((value, reason),) = value.items()
    if isinstance(value, str):
        name = "in_progress" if value == "InProgress" else value.lower()
        if name in OUTCOMES:
            return name, reason if isinstance(reason, str) else None
    raise ValueError(f"outcome {str(value)[:40]!r} is none of {', '.join(OUTCOMES)}")
