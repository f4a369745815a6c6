"""What is known of a run and of its attempts: frozen values, as they are kept in its folder."""

from __future__ import annotations

from msgspec import Struct

from agentlearn.reflexion.evaluate import Evaluation


class Spent(Struct, frozen=True):
    """Tokens that models counted."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.input_tokens + other.input_tokens, self.output_tokens + other.output_tokens
        )


class Attempt(Struct, frozen=True):
    """What an agent did in one episode, and what the judge said: kept before anyone reflects."""

    evaluation: Evaluation
    changed: tuple[str, ...]
    """The files that it changed."""
    tampered: tuple[str, ...]
    """The protected ones among them, which were put back."""
    duration_ms: int
    timed_out: bool = False
    exit_code: int | None = None
    problem: str | None = None
    """What went wrong around it: the disk, the log, the workspace."""
    usage: Spent = Spent()


class Episode(Struct, frozen=True):
    index: int
    attempt: Attempt
    reflection: str | None
    prior_reflections: tuple[str, ...]
    usage: Spent = Spent()
    """Of the attempt and of the reflection."""
    reflector_problem: str | None = None

    @property
    def passed(self) -> bool:
        return self.attempt.evaluation.passed

    @property
    def score(self) -> float | None:
        return self.attempt.evaluation.score


class Run(Struct, frozen=True):
    """What a run was begun with."""

    id: str
    task: str
    task_file: str
    original: str
    started_at: str
    max_episodes: int
    reflects: bool
    stops_early: bool
    mark: str
    base_digest: str
    """Of all that is in the copy that attempts start from."""
    model: str | None = None
    """The model that was named when it began."""
