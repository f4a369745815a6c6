"""Whether a run is over, and why."""

from __future__ import annotations

from typing import Literal

from agentlearn.reflexion.reflect import same_idea
from agentlearn.reflexion.values import Episode, Run

Ending = Literal["passed", "max_episodes", "no_new_idea"]


def ending_of(run: Run, episodes: list[Episode]) -> Ending | None:
    if episodes and episodes[-1].passed:
        return "passed"
    if len(episodes) >= run.max_episodes:
        return "max_episodes"
    if run.stops_early and len(episodes) > 1:
        last, before = episodes[-1].reflection, episodes[-2].reflection
        if same_idea(last, before):
            return "no_new_idea"
    return None
