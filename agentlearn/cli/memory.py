"""What the memory says: each note with the change that wrote it, and how full each file is.

MEMORY.md is about the project and may be shared, USER.md is about you. `agentlearn why` tells
where a note comes from, `agentlearn revert` takes it back.
"""

from __future__ import annotations

from typing import Annotated, Any

from agentlearn.cli import options
from agentlearn.cli.output import choose_format, write_json
from agentlearn.cli.stores import User, budgets, open_store
from agentlearn.guard import one_line, plain
from agentlearn.store.journal import State
from agentlearn.store.memory import SEEN, TARGETS, Target, memory_path, notes_of
from agentlearn.store.origins import writers_of
from agentlearn.store.store import Store

FORMATS = ("text", "json")


def main(
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    store = open_store(user)
    state = store.state()
    limits = budgets()
    found = {target: as_dict(store, state, target, limits[target]) for target in TARGETS}
    if chosen == "json":
        write_json(found)
        return
    for number, (target, memory) in enumerate(found.items()):
        if number:
            print()
        fill = f"{memory['chars']:,} of {memory['budget']:,} characters"
        print(f"{target}.md  {fill}  {plain(memory['path'])}")
        for note in memory["notes"]:
            print(f"  {note['change'] or '–':8}  {one_line(note['text'], 2000)}")


def as_dict(store: Store, state: State, target: Target, budget: int) -> dict[str, Any]:
    text = store.read(memory_path(target)) or ""
    writers = writers_of(state, target)
    return {
        "path": store.places.shown(memory_path(target)),
        "chars": len(text),
        "budget": budget,
        "notes": [
            {
                "text": note.text,
                "change": writers.get(note.text),
                "seen": note.text.startswith(SEEN),
            }
            for note in notes_of(text)
        ],
    }
