"""What a session was worth: its rewards, returns and totals by source, in one value."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from agentlearn.rewards.draw import SOURCES, Drawn, Verdict, draw_rewards, verdict_inside
from agentlearn.rewards.returns import discounted_returns
from agentlearn.rewards.rules import Rules
from agentlearn.sessions.turns import Turn
from agentlearn.sessions.values import Session


class Worth(Struct, frozen=True):
    id: str
    path: str | None
    dialect: str
    goal: str | None
    outcome: str
    task: str | None
    rewards: list[float]
    returns: list[float]
    sources: dict[str, float]

    @property
    def total_reward(self) -> float:
        return total(self.rewards)

    @property
    def return_(self) -> float:
        return self.returns[0] if self.returns else 0.0

    @property
    def group(self) -> str:
        """What is compared with what: sessions of the same task, else with the same goal."""
        return self.task if self.task is not None else self.goal or self.id


class Scored(Struct, frozen=True):
    """A session with its turns and the rewards drawn for them."""

    session: Session
    turns: list[Turn]
    drawn: list[list[Drawn]]
    worth: Worth


def score_session(
    session: Session, rules: Rules, gamma: float, verdict: Verdict | None = None,
    withhold: bool = False,
) -> Scored:  # fmt: skip
    """Score a session. A verdict that is given goes before the one that lies in the files."""
    turns = session.turns()
    inside = None if withhold or rules.stated_only else verdict_inside(session)
    drawn = draw_rewards(session, turns, rules, verdict or inside)
    rewards = [total([reward.value for reward in each]) for each in drawn]
    outcome = "unknown" if withhold else outcome_of(session, verdict or inside, rules)
    worth = make_worth(session, outcome, rewards, sums_by_source(drawn), gamma)
    return Scored(session, turns, drawn, worth)


def make_worth(
    session: Session,
    outcome: str,
    rewards: list[float],
    sources: dict[str, float],
    gamma: float,
) -> Worth:
    task = session.metadata.get("task")
    return Worth(
        id=session.id,
        path=session.path,
        dialect=session.dialect,
        goal=session.goal,
        outcome=outcome,
        task=None if task is None else str(task),
        rewards=rewards,
        returns=discounted_returns(rewards, gamma),
        sources=sources,
    )


def outcome_of(session: Session, verdict: Verdict | None, rules: Rules) -> str:
    if verdict is None:
        return session.outcome
    if verdict.outcome is not None:
        return verdict.outcome
    assert verdict.score is not None
    return "success" if verdict.score >= rules.verdict.pass_at else "failure"


def sums_by_source(drawn: list[list[Drawn]]) -> dict[str, float]:
    parts: dict[str, list[float]] = {name: [] for name in SOURCES}
    for rewards in drawn:
        for reward in rewards:
            parts[reward.source].append(reward.value)
    return {name: total(values) for name, values in parts.items()}


def total(values: Sequence[float]) -> float:
    """The exact sum, rounded once; infinite where it is too large for a float."""
    if len(values) == 1:
        return values[0]
    try:
        return math.fsum(values)
    except ValueError:  # inf and -inf
        return math.nan
    except OverflowError:
        return _total_of_huge(values)


def _total_of_huge(values: Sequence[float]) -> float:
    """The sum where a part of it does not fit a float; the whole may."""
    from fractions import Fraction

    if not all(map(math.isfinite, values)):
        return sum(values)
    exact = sum(map(Fraction, values), Fraction(0))
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
