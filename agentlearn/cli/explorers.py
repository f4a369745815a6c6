"""The explorer of long sessions as the settings want it: two models, limits and a cache."""

from __future__ import annotations

from agentlearn.config import Settings
from agentlearn.events import Emit
from agentlearn.models.choose import choose_model
from agentlearn.models.model import Model
from agentlearn.review.reading import Explore
from agentlearn.rlm.asking import Limits
from agentlearn.rlm.cache import Cache
from agentlearn.rlm.explore import Distilled, Exploring
from agentlearn.rlm.pages import Pages
from agentlearn.store.store import Store


def root_of(settings: Settings, otherwise: Model | None = None) -> Model | None:
    """The model that explores; None if none is named."""
    if settings.root_model is None and otherwise is not None:
        return otherwise
    name = settings.root_model or settings.model
    return choose_model(name, settings.model_timeout_seconds) if name else None


def explorer(store: Store, settings: Settings, root: Model, emit: Emit, cached: bool) -> Explore:
    root = root_of(settings, root) or root
    sub = settings.subcall_model
    seconds = settings.model_timeout_seconds
    cheaper = choose_model(sub, seconds) if sub else None
    limits = Limits(
        settings.distill_max_iterations,
        settings.distill_max_subcalls,
        settings.distill_max_tokens,
        settings.distill_timeout,
    )
    cache = Cache(store.own) if cached else None

    def explore(books: list[Pages], question: str) -> Distilled:
        return Exploring(books, root, cheaper, limits, emit, cache).go(question)

    return explore
