"""Why a skill, a note or a change is there: who wrote it, and which lines of which session speak
for it.

The excerpt of those lines was kept when the change was made, so it is here when the transcript is
gone; if that is still there, it says whether the lines are as they were.
"""

from __future__ import annotations

import difflib
from typing import Annotated, Any

import typer

from agentlearn.cli import options
from agentlearn.cli.changes import as_dict, by, cited_as_dict, source, told_status, what, when
from agentlearn.cli.output import choose_format, write_json
from agentlearn.cli.stores import User, open_store
from agentlearn.errors import BadInput
from agentlearn.guard import one_line, plain
from agentlearn.store.differences import find_change
from agentlearn.store.journal import State
from agentlearn.store.memory import TARGETS, memory_path, notes_of
from agentlearn.store.origins import Standing, changes_of, standing_of, writers_of
from agentlearn.store.store import Store
from agentlearn.store.values import Change, Cited

FORMATS = ("text", "json")
LEAST_OF_AN_ID = 4
TOLD: dict[Standing, str] = {
    "unchanged": "the transcript is there, and says the same",
    "changed": "the transcript is there, but those lines are others now",
    "gone": "the transcript is gone",
    "unknown": "whether the transcript still says so cannot be told",
}


def main(
    about: Annotated[
        str,
        typer.Argument(metavar="SKILL|CHANGE|TEXT", help="A skill, a change, or words of a note."),
    ],
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    store = open_store(user)
    state = store.state()
    found = find_behind(store, state, about)
    standing = standing_of(cited for change in found for cited in change.evidence)
    if chosen == "json":
        write_json([_as_dict(store, state, change, standing) for change in found])
        return
    for number, change in enumerate(found):
        if number:
            print()
        _print(state, change, standing)


def find_behind(store: Store, state: State, about: str) -> list[Change]:
    """The changes behind what was named, in order."""
    if found := changes_of(state, about):
        return found
    if len(about) >= LEAST_OF_AN_ID and any(key.startswith(about) for key in state.seen):
        return [find_change(state.seen, about)]
    if found := _behind_notes(store, state, about):
        return found
    if about in store.folders():
        raise BadInput(f"{about} was not written by agentlearn: nothing is known about it")
    known = [*dict.fromkeys(change.name for change in state.seen.values()), *state.seen]
    near = difflib.get_close_matches(about, known, 1)
    hint = f"did you mean {near[0]}?" if near else "agentlearn log lists the changes"
    raise BadInput(f"no skill, change or note is {about[:80]!r}", hint)


def _behind_notes(store: Store, state: State, words: str) -> list[Change]:
    """The changes that wrote the notes with those words; else those that ever said them."""
    wanted = " ".join(words.split()).casefold()
    written = set()
    by_hand = False
    for target in TARGETS:
        writers = writers_of(state, target)
        for note in notes_of(store.read(memory_path(target))):
            if wanted and wanted in note.text.casefold():
                by_hand = by_hand or note.text not in writers
                written.add(writers.get(note.text))
    if by_hand and written == {None}:
        raise BadInput("that note was not written by agentlearn: nothing is known about it")
    found = [change for key, change in state.changes.items() if key in written]
    return found or [
        change
        for change in state.seen.values()
        if change.kind == "memory" and wanted and wanted in change.text.casefold()
    ]


def _as_dict(
    store: Store, state: State, change: Change, standing: dict[Cited, Standing]
) -> dict[str, Any]:
    evidence = [{**cited_as_dict(cited), "standing": standing[cited]} for cited in change.evidence]
    return {**as_dict(store, state, change), "evidence": evidence}


def _print(state: State, change: Change, standing: dict[Cited, Standing]) -> None:
    became = told_status(state, change)
    print(one_line(f"{change.id}  {what(change)}", 300) + (f"  ({became})" if became else ""))
    print(f"  by {one_line(by(change), 100)}, {when(change)}")
    if change.id in state.undone:
        print(f"  undone: {one_line(state.reasons[change.id], 300)}")
    if change.undoes:
        print(f"  takes back {change.undoes}")
    if change.absorbed_by:
        print(f"  its lesson is in {one_line(change.absorbed_by, 80)} now")
    for line in plain(change.text).strip().splitlines():
        print(f"  > {line}".rstrip())
    for cited in change.evidence:
        print(f"  from {one_line(source(cited), 200)}: {TOLD[standing[cited]]}")
        if cited.path:
            print(f"    {one_line(cited.path, 500)}")
        for line in plain(cited.excerpt).strip().splitlines():
            print(f"    | {line}".rstrip())
    if not change.evidence and change.id not in state.foreign:
        print("  from no session: made by hand")
