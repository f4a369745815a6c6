"""Which store a command works on: this project's, or with --user the person's own."""

from __future__ import annotations

from typing import Annotated

import typer

from agentlearn.config import find_project, load_settings, resolve
from agentlearn.store.memory import Target
from agentlearn.store.places import project_places, user_places
from agentlearn.store.store import Store

User = Annotated[bool, typer.Option("--user", help="Your own store instead of the project's.")]


def open_store(user: bool = False) -> Store:
    if user:
        return Store(user_places())
    setting = load_settings()["skills_dir"]
    return Store(project_places(find_project(), setting.value, setting.origin))


def budgets() -> dict[Target, int]:
    """How many characters each memory may have."""
    settings = resolve()
    return {"MEMORY": settings.memory_chars, "USER": settings.user_chars}
