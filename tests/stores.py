"""Stores for the tests: made, changed, and looked at from outside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentlearn.store import drafting
from agentlearn.store.drafting import Maker
from agentlearn.store.places import project_places
from agentlearn.store.shelf import Desk, Mode
from agentlearn.store.store import Store
from agentlearn.store.values import Change, Cited

DESCRIPTION = "Runs the tests of this project. Use when code was changed."
BODY = "1. Run `make test`.\n2. Read the first failure.\n3. Mend it.\n"
RULES = Maker(reviewer="rules", session="s1")


def new_store(project: Path) -> Store:
    project.mkdir(parents=True, exist_ok=True)
    return Store(project_places(project))


def make(
    store: Store,
    draft: Callable[..., Change | None],
    *args: Any,
    mode: Mode = "apply",
    maker: Maker = RULES,
) -> Change:
    """Draft a change as a reviewer would, and put it where the mode says."""
    with Desk(store, mode).at_work() as (shelf, put):
        change = draft(shelf, maker, *args)
        assert change is not None
        put(change)
    return change


def make_skill(store: Store, name: str = "run-tests", **more: Any) -> Change:
    description = more.pop("description", DESCRIPTION)
    return make(store, drafting.create_skill, name, description, more.pop("body", BODY), **more)


def make_note(store: Store, text: str, target: str = "MEMORY", **more: Any) -> Change:
    return make(store, drafting.add_note, target, text, 2200, **more)


def cited(path: Path, start: int = 1, end: int | None = None) -> Maker:
    """A maker that rests on lines of a file."""
    import hashlib

    lines = path.read_bytes().splitlines(keepends=True)[start - 1 : end or start]
    found = hashlib.sha256(b"".join(lines)).hexdigest()
    evidence = Cited("s1", str(path), start, end or start, "line", found, "the person said so")
    return Maker("rules", None, "s1", (evidence,))


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with what is in it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def expected_files(store: Store) -> dict[str, str]:
    """The files of the store as the journal has them."""
    found: dict[str, str] = {}
    for change in store.journal.state().changes.values():
        for edit in change.edits:
            if edit.after is None:
                found.pop(edit.path, None)
            else:
                found[edit.path] = edit.after
    return found


def expected_archive(store: Store) -> dict[str, str]:
    """What the journal says was moved away, and has not come back."""
    found: dict[str, str] = {}
    for change in store.journal.state().changes.values():
        old, new = change.moved or ("", "")
        if new.startswith("archive/"):
            for edit in change.edits:
                found[edit.path.replace(old, new, 1)] = edit.before or ""
        elif old.startswith("archive/"):
            found = {path: text for path, text in found.items() if not path.startswith(f"{old}/")}
    return found


def assert_whole(store: Store) -> None:
    """Journal and files agree, nothing is left over, nothing is unfinished."""
    state = store.journal.state()
    assert state.unfinished is None
    assert state.unread == []
    data = store.places.journal.read_bytes() if store.places.journal.exists() else b""
    assert data == b"" or data.endswith(b"\n")
    found = {}
    for root, folder in (("skills", store.places.skills), ("memory", store.places.memory)):
        for path in folder.rglob("*"):
            assert path.is_dir() or path.is_file(), path
            if path.is_file():
                found[f"{root}/{path.relative_to(folder).as_posix()}"] = path.read_text()
            else:
                assert any(path.iterdir()), f"{path} is empty"
    assert found == expected_files(store)
    for path, text in expected_archive(store).items():
        assert (store.places.own / path).read_text() == text, path
    left = [path for path in store.places.own.rglob("*") if path.name.endswith(".tmp")]
    assert left == []
