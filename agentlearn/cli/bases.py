"""Which bases of knowledge a command means: the project's and the person's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentlearn.cli.stores import open_store
from agentlearn.config import find_project, resolve
from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.guard import one_sentence
from agentlearn.knowledge.base import Base
from agentlearn.knowledge.context import context_for
from agentlearn.knowledge.tools import KnowledgeTools, asked
from agentlearn.knowledge.values import Item
from agentlearn.store.memory import TARGETS, memory_path, notes_of
from agentlearn.store.places import OWN, user_places
from agentlearn.store.store import Store

FILE = "knowledge.db"
Tell = Callable[[AgentlearnError], None]


def project_base() -> Base:
    return Base(find_project() / OWN / FILE)


def user_base() -> Base:
    return Base(user_places().own / FILE)


def base_to_write(user: bool) -> Base:
    """The base, in a folder that git is kept out of."""
    if user:
        return user_base()
    with open_store().writing():
        pass
    return project_base()


def both_bases() -> list[Base]:
    return [project_base(), user_base()]


def knowledge_to_ask() -> KnowledgeTools | None:
    """The tools of somebody who may ask and store nothing; None where nothing is known."""
    bases = both_bases()
    known = any(base.exists() for base in bases)
    return KnowledgeTools(bases, None, scope_of) if known else None


def warn(error: AgentlearnError) -> None:
    """What is wrong with a base, where the rest is told all the same."""
    print(f"warning: {one_sentence(error.message)}", file=sys.stderr)
    if error.hint:
        print(f"hint: {one_sentence(error.hint)}", file=sys.stderr)


def known_context(words: list[str], tell: Tell = warn) -> str:
    """What is known that has to do with these words, as a block for a prompt."""
    settings = resolve()
    floor, most = settings.relevance_threshold, settings.max_context_items
    notes = memory_notes()
    return asked(both_bases(), lambda bases: context_for(words, bases, notes, floor, most), tell)


def memory_notes() -> list[str]:
    """The notes of the project's memory and of the person's own, each once."""
    return list(dict.fromkeys([*notes_in(open_store()), *notes_in(open_store(user=True))]))


def notes_in(store: Store) -> list[str]:
    """The notes of a memory, as they stand in it."""
    return [note.text for target in TARGETS for note in notes_of(store.read(memory_path(target)))]


def scope_of(directory: str | None) -> str:
    """A folder from the project's root; what climbs out of the project is the root itself."""
    if directory is None:
        return ""
    project = Path(os.path.realpath(find_project()))
    try:
        path = Path(os.path.realpath(Path.cwd() / Path(directory).expanduser()))
        directory.encode()
    except (RuntimeError, ValueError, OSError):
        raise BadInput(f"{directory[:80]!r} is no folder") from None
    if path == project or not path.is_relative_to(project):
        return ""
    return path.relative_to(project).as_posix()


def is_outside(directory: str) -> bool:
    """Whether a folder is no part of the project."""
    project = Path(os.path.realpath(find_project()))
    path = Path(os.path.realpath(Path.cwd() / Path(directory).expanduser()))
    return not path.is_relative_to(project)


def as_dict(item: Item) -> dict[str, Any]:
    import msgspec

    return {**msgspec.to_builtins(item), "text": item.text}
