"""The skills of this project, or with --user your own.

show NAME prints a skill and lists its files; pin NAME keeps every review from touching it,
unpin NAME lets them again.
"""

from __future__ import annotations

import difflib
import sys
from typing import Annotated, Any

import typer

from agentlearn.cli import options
from agentlearn.cli.changes import print_changes, what
from agentlearn.cli.output import choose_format, write_json, write_table
from agentlearn.cli.stores import User, open_store
from agentlearn.errors import BadInput
from agentlearn.guard import plain
from agentlearn.store.drafting import Maker, pin_skill
from agentlearn.store.journal import State
from agentlearn.store.shelf import Desk, Shelf
from agentlearn.store.store import Store
from agentlearn.store.values import Change, Skill

FORMATS = ("text", "json")
ACTIONS = ("show", "pin", "unpin")


def main(
    action: Annotated[
        str | None,
        typer.Argument(
            metavar="[show|pin|unpin]", show_default=False, help="None: list the skills."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", show_default=False, help="Which skill.")
    ] = None,
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    store = open_store(user)
    shelf = Desk(store).look()
    if action is None:
        _list(shelf, chosen)
        return
    skill = _wanted(shelf, action, name)
    if action == "show":
        _show(shelf, skill, chosen)
    else:
        _pin(store, skill, action == "pin", chosen)


def _wanted(shelf: Shelf, action: str, name: str | None) -> Skill:
    if action not in ACTIONS:
        hint = f"agentlearn skills show {action}" if shelf_has(shelf, action) else None
        raise BadInput(f"{action[:80]!r} is none of {', '.join(ACTIONS)}", hint)
    if name is None:
        raise BadInput(f"agentlearn skills {action} needs the name of a skill", "agentlearn skills")
    names = [skill.folder for skill in shelf.skills()]
    if name not in names:
        near = difflib.get_close_matches(name, names, 1)
        hint = f"did you mean {near[0]}?" if near else "agentlearn skills lists them"
        raise BadInput(f"there is no skill {name[:80]!r}", hint)
    return next(skill for skill in shelf.skills() if skill.folder == name)


def shelf_has(shelf: Shelf, name: str) -> bool:
    return name in {skill.folder for skill in shelf.skills()}


def _list(shelf: Shelf, chosen: str) -> None:
    found = [as_dict(shelf.state, skill) for skill in shelf.skills()]
    if chosen == "json":
        write_json(found)
        return
    rows = [
        [
            skill["name"],
            str(len(skill["changes"])),
            (skill["last_change"] or "–")[:16].replace("T", " "),
            "agentlearn" if skill["ours"] else "others",
            _marks(skill),
            skill["description"],
        ]
        for skill in found
    ]
    write_table(
        ["skill", "changes", "last change", "by", "state", "description"],
        rows,
        stretch=5,
        droppable=("last change", "changes"),
    )
    if not found:
        print("note: there are no skills yet", file=sys.stderr)


def _marks(skill: dict[str, Any]) -> str:
    marks = ["pinned"] if skill["pinned"] else []
    return ", ".join([*marks, "not valid"] if skill["problem"] else marks)


def as_dict(state: State, skill: Skill) -> dict[str, Any]:
    known = [state.changes[key] for key in skill.changes if key in state.changes]
    return {
        "name": skill.folder,
        "description": skill.description,
        "ours": skill.is_ours,
        "pinned": skill.pinned,
        "problem": skill.problem,
        "changes": list(skill.changes),
        "last_change": known[-1].at if known else None,
    }


def _show(shelf: Shelf, skill: Skill, chosen: str) -> None:
    others = [file for file in shelf.files_of(skill.folder) if file != "SKILL.md"]
    if chosen == "json":
        write_json({**as_dict(shelf.state, skill), "text": skill.text, "files": others})
        return
    print(plain(skill.text).rstrip("\n"))
    if others:
        print()
        for file in others:
            print(plain(shelf.store.places.shown(f"skills/{skill.folder}/{file}")))


def _pin(store: Store, skill: Skill, pinned: bool, chosen: str) -> None:
    change: Change | None
    with Desk(store).at_work() as (shelf, put):
        change = pin_skill(shelf, Maker(), skill.folder, pinned)
        if change is not None:
            put(change)
    after = Desk(store).look()
    if chosen == "json":
        now = after.skill(skill.folder)
        write_json(as_dict(after.state, now or skill))
    elif change is None:
        print(f"{skill.folder} is {'pinned' if pinned else 'not pinned'} already")
    else:
        print_changes(store, [(f"applied {change.id}: {what(change)}", change)])
