"""What `agentlearn check` may mend by itself: nothing that a person could have meant.

Leftovers of a crash go. Hidden characters and notes that stand there twice, word by word, go by a
change like any other, which is in the journal. Skills of others, and pinned ones, stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from agentlearn.store import files
from agentlearn.store.changes import Maker
from agentlearn.store.check import Finding, is_leftover
from agentlearn.store.drafting import replace_text
from agentlearn.store.memory import TARGETS, memory_path, notes_of, replaced
from agentlearn.store.noting import change_memory
from agentlearn.store.shelf import Desk, Shelf
from agentlearn.store.store import Refused, Store
from agentlearn.store.values import Change


def fix_store(store: Store, findings: Iterable[Finding]) -> list[str]:
    """Mend what is safe to mend; what was done, in words."""
    done = []
    with Desk(store).at_work() as (shelf, put):  # no other command is writing meanwhile
        wanted = {(finding.code, finding.path) for finding in findings}
        for code, path in sorted(wanted):
            if code == "AL020" and is_leftover(path):
                files.remove_tree(*store.root(path))
                done.append(f"removed {store.places.shown(path)}")
            elif code in FIXES:
                done += _changed(store, shelf, put, code, path)
    return done


def _changed(
    store: Store, shelf: Shelf, put: Callable[[Change], None], code: str, path: str
) -> Iterator[str]:
    said, fix = FIXES[code]
    before = shelf.read(path)
    after = fix(before) if before is not None else before
    if before is None or after is None or after == before:
        return
    try:
        change = _drafted(shelf, path, said, before, after)
        put(change)
    except Refused:  # a secret in it, a skill of others: it stays a finding
        return
    yield f"{said} in {store.places.shown(path)} (change {change.id})"


def _drafted(shelf: Shelf, path: str, said: str, before: str, after: str) -> Change:
    for target in TARGETS:
        if path == memory_path(target):
            return change_memory(shelf, Maker(), "fix", target, said, before, after)
    _, name, file = path.split("/", 2)
    return replace_text(shelf, Maker(), name, file, said, before, after)


def _without_hidden(text: str) -> str:
    from agentlearn.guard.hidden import hidden_characters

    while unseen := {each.start for each in hidden_characters(text) if each.kind == "hidden"}:
        text = "".join(char for index, char in enumerate(text) if index not in unseen)
    return text


def _without_doubles(text: str) -> str:
    """Only what is the same to the letter: of two that differ in a word, who knows which stays."""
    known: set[str] = set()
    doubles = []
    for note in notes_of(text):
        if note.text in known:
            doubles.append(note)
        known.add(note.text)
    for note in reversed(doubles):
        text = replaced(text, note, None)
    return text


FIXES: dict[str, tuple[str, Callable[[str], str]]] = {
    "AL008": ("removed hidden characters", _without_hidden),
    "AL011": ("removed notes that were there twice", _without_doubles),
}
