"""What scanned sessions were worth: the same numbers as for those that were read in full."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from agentlearn.rewards.draw import SOURCES
from agentlearn.rewards.returns import discounted_returns
from agentlearn.rewards.worth import Worth, total
from agentlearn.sessions.native_scan import scan


def scan_worth(path: Path, jobs: int, gamma: float, stated_only: bool) -> Iterator[Worth]:
    for session in scan(path, jobs, stated_only):
        rewards = session.rewards.tolist()
        sources: dict[str, float] = dict.fromkeys(SOURCES, 0.0)
        sources["stated"] = total(rewards)
        yield Worth(
            id=session.id or "",
            path=str(path),
            dialect="native",
            goal=session.goal,
            outcome=session.outcome,
            task=session.task,
            rewards=rewards,
            returns=discounted_returns(rewards, gamma),
            sources=sources,
        )
