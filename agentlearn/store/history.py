"""Taking changes back, and adopting or discarding those that wait.

What is asked for happens as a whole or not at all: every change is fitted to the files as they
will be when its turn comes, and only when all of them fit is the first one made.
"""

from __future__ import annotations

from msgspec import structs

from agentlearn.errors import BadInput
from agentlearn.store import files
from agentlearn.store.carrying import Misfit, fitted
from agentlearn.store.changes import Maker, draft_change
from agentlearn.store.differences import LISTS, Conflict, find_change, may_be_written, show_diff
from agentlearn.store.journal import State
from agentlearn.store.memory import Target, memory_path
from agentlearn.store.shelf import Shelf, text_of
from agentlearn.store.skill import without_changes
from agentlearn.store.store import Pen, Refused, Store, now
from agentlearn.store.values import Change, Edit


def revert(store: Store, prefixes: list[str]) -> list[Change]:
    """Take changes back, the newest first, each by a change of its own."""
    if not store.state().seen:  # where there is no store, asking for one makes none
        raise BadInput("there are no changes yet")
    with store.writing() as pen:
        wanted = {_taken_back_by_nobody(pen, prefix).id for prefix in prefixes}
        shelf = Shelf(store, pen.state, {})
        made = []
        for change in reversed(list(pen.state.changes.values())):
            if change.id in wanted:
                made.append(_reverse(shelf, change))
                shelf.lay(made[-1])
        for change in made:
            pen.commit(change)
    return made


def _taken_back_by_nobody(pen: Pen, prefix: str) -> Change:
    known = pen.state.changes
    waiting = [key for key in pen.state.staged if key.startswith(prefix)]
    if waiting and not any(key.startswith(prefix) for key in known):
        raise BadInput(f"{waiting[0]} only waits", f"agentlearn discard {waiting[0]}")
    others = pen.state.foreign
    if prefix and not any(key.startswith(prefix) for key in known):
        for key in others:
            if key.startswith(prefix):
                raise BadInput(
                    f"{key} was not made here: it came with a journal from elsewhere, and nothing "
                    "is done by that",
                    f"look at what it says, and change the files by hand: agentlearn why {key}",
                )
    _not_done_with(pen.state, known, prefix)
    change = find_change(known, prefix)
    if not pen.state.stands(change.id):
        by = pen.state.taken_back[change.id]
        raise BadInput(f"{change.id} was taken back already, by {by}", f"agentlearn revert {by}")
    return change


def _reverse(shelf: Shelf, change: Change) -> Change:
    """The change that takes another back."""
    back = tuple(Edit(edit.path, edit.after, edit.before) for edit in reversed(change.edits))
    came_back = change.moved is not None and change.moved[1].startswith("skills/")
    if came_back:
        back = _archived_again(shelf, change)
    text = f"takes back {change.id}: {change.text}"
    made = structs.replace(
        draft_change(shelf, Maker(), change.kind, "revert", change.name, text, back),
        undoes=change.id,
    )
    if change.moved is not None:
        made = structs.replace(made, moved=(change.moved[1], change.moved[0]))
        _can_move(shelf.store, *change.moved)
    try:
        made = fitted(made, shelf.read)
    except Misfit as misfit:
        raise _not_as_it_was_left(shelf, change, misfit) from None
    if change.moved is None:
        _leaves_nothing_behind(shelf, change, made)
    may_be_written(shelf, made, f"{change.id} cannot be taken back")
    return made


def _archived_again(shelf: Shelf, change: Change) -> tuple[Edit, ...]:
    """A skill that came back from the archive goes there again, unless it has changed since."""
    paths = [f"skills/{change.name}/{file}" for file in shelf.files_of(change.name)]
    if hint := _take_back_first(shelf, change, paths):
        place = shelf.store.places.shown(f"skills/{change.name}")
        raise Refused(f"{change.id} cannot be taken back: {place} was changed since", hint)
    left = {edit.path: edit.after for edit in change.edits}
    found = {path: text for path in paths if (text := text_of(shelf, path)) is not None}
    for path, text in found.items():
        if path in left and without_changes(left[path]) != without_changes(text):
            raise _not_as_it_was_left(shelf, change, Misfit(Edit(path, left[path], None), text))
    return tuple(Edit(path, text, None) for path, text in found.items())


def _can_move(store: Store, old: str, new: str) -> None:
    if not files.exists(*store.root(new)):
        raise Refused(f"{store.places.shown(new)} is gone: it holds what was archived")
    if files.exists(*store.root(old)):
        raise Refused(f"{store.places.shown(old)} exists again: move it away first")


def _leaves_nothing_behind(shelf: Shelf, change: Change, made: Change) -> None:
    """A skill goes as a whole: without its SKILL.md, what else is in its folder is lost there."""
    main = f"skills/{change.name}/SKILL.md"
    going = {edit.path for edit in made.edits if edit.after is None}
    if main not in going:
        return
    known = [f"skills/{change.name}/{file}" for file in shelf.files_of(change.name)]
    left = [path for path in known if path not in going]
    if left:
        place = shelf.store.places.shown(f"skills/{change.name}")
        others = ", ".join(path.removeprefix(f"skills/{change.name}/") for path in left[:5])
        raise Refused(
            f"{change.id} cannot be taken back: {place} has other files: {others}",
            _take_back_first(shelf, change, left) or "move them away first",
        )


def _not_as_it_was_left(shelf: Shelf, change: Change, misfit: Misfit) -> Conflict:
    path = misfit.edit.path
    place = shelf.store.places.shown(path)
    left, found = without_changes(misfit.edit.before), without_changes(misfit.current)
    return Conflict(
        f"{change.id} cannot be taken back: those lines of {place} were changed since",
        show_diff(left, found, place, "as the change left it", "as it is now"),
        _take_back_first(shelf, change, [path]) or f"edit {place} by hand",
    )


def _take_back_first(shelf: Shelf, change: Change, paths: list[str]) -> str | None:
    """What to take back before a change: the last that came after it to the same files."""
    state = shelf.state
    order = list(state.changes)
    for key in reversed(order[order.index(change.id) + 1 :]):
        later = state.changes[key]
        says_something = any(
            edit.path in paths and without_changes(edit.before) != without_changes(edit.after)
            for edit in later.edits
        )
        if state.stands(key) and later.undoes is None and says_something:
            return f"take back {key} first: agentlearn revert {key}"
    return None


def adopt(
    store: Store, prefixes: list[str], budgets: dict[Target, int] | None = None
) -> list[Change]:
    """Make the changes that wait, all or the named ones, in the order they were staged."""
    if not _waiting(store.state(), prefixes):  # where nothing waits, nothing is made either
        return []
    with store.writing() as pen:
        waiting = _waiting(pen.state, prefixes)
        shelf = Shelf(store, pen.state, {})
        made = []
        for change in waiting:
            made.append(_fit_to_adopt(shelf, change))
            shelf.lay(made[-1])
        for target, budget in (budgets or {}).items():
            _within(shelf, target, budget)
        for change in made:
            pen.commit(change)
            pen.adopted(change.id)
    return made


def discard(store: Store, prefixes: list[str]) -> list[Change]:
    """Drop changes that wait. What builds on one of them has to go with it."""
    if not _waiting(store.state(), prefixes):
        return []
    with store.writing() as pen:
        gone = _waiting(pen.state, prefixes)
        shelf = Shelf(store, pen.state, {})
        for change in pen.state.staged.values():
            if change.id in {one.id for one in gone}:
                continue
            try:
                shelf.lay(fitted(change, shelf.read))
            except Misfit as misfit:
                first = _builds_on(shelf, change, misfit.edit.path)
                if first is not None and any(one.id == first for one in gone):
                    together = _waiting_for(shelf, misfit.edit.path)
                    together = together[together.index(first) :]
                    raise Refused(
                        f"{change.id} builds on {first}, and waits as well",
                        f"discard them together: agentlearn discard {' '.join(together)}",
                    ) from None
        for change in gone:
            pen.discard(change.id)
    return gone


BECAME = {
    "applied": "made already",
    "taken back": "made and taken back",
    "discarded": "discarded",
    "undone": "never made",
}


def _not_done_with(state: State, open_ones: dict[str, Change], prefix: str) -> None:
    """Say of a change that is no longer open what became of it, not that there is none."""
    if not prefix or any(key.startswith(prefix) for key in open_ones):
        return
    for key in state.seen:
        became = BECAME.get(state.status(key)) if key.startswith(prefix) else None
        if became is not None:
            reason = state.reasons.get(key)
            why = f": {reason}" if reason else ""
            raise BadInput(f"{key} was {became}{why}", f"agentlearn why {key}")


def _waiting(state: State, prefixes: list[str]) -> list[Change]:
    staged = state.staged
    for prefix in prefixes:
        _not_done_with(state, staged, prefix)
    wanted = {find_change(staged, prefix, LISTS).id for prefix in prefixes}
    return [change for change in staged.values() if not prefixes or change.id in wanted]


def _may_be_adopted(shelf: Shelf, change: Change) -> None:
    """Whether its skill is still one that may be touched."""
    for edit in change.edits:
        root, name, *_ = edit.path.split("/")
        skill = shelf.skill(name) if root == "skills" else None
        if skill is not None and skill.pinned:
            hint = f"agentlearn skills unpin {name}"
            raise Refused(f"{change.id} cannot be adopted: {name} is pinned", hint)
        if skill is not None and not skill.is_ours:
            raise Refused(f"{change.id} cannot be adopted: {name} was not written by agentlearn")


def _fit_to_adopt(shelf: Shelf, change: Change) -> Change:
    _may_be_adopted(shelf, change)
    try:
        made = fitted(structs.replace(change, at=now()), shelf.read)
        may_be_written(shelf, made, f"{change.id} cannot be adopted")
        return made
    except Misfit as misfit:
        path = misfit.edit.path
        first = _builds_on(shelf, change, path)
        place = shelf.store.places.shown(path)
        wanted, found = without_changes(misfit.edit.before), without_changes(misfit.current)
        shown = show_diff(wanted, found, place, "as the change expects it", "as it is now")
    if first is not None and first in shelf.state.staged:
        together = " ".join(_waiting_for(shelf, path, until=change.id))
        raise Conflict(
            f"{change.id} builds on {first}, which waits as well",
            shown,
            f"adopt them together: agentlearn adopt {together}",
        )
    raise Conflict(
        f"{change.id} cannot be adopted: those lines of {place} were changed since",
        shown,
        f"agentlearn discard {change.id}",
    )


def _waiting_for(shelf: Shelf, path: str, until: str | None = None) -> list[str]:
    """The staged changes to a file in their order, up to one of them."""
    found = []
    for key, known in shelf.state.staged.items():
        if any(edit.path == path for edit in known.edits):
            found.append(key)
        if key == until:
            break
    return found


def _builds_on(shelf: Shelf, change: Change, path: str) -> str | None:
    """The change to the same file that was staged last before another, whatever became of it."""
    before = None
    for key, known in shelf.state.seen.items():
        if key == change.id:
            return before
        if key in shelf.state.staged and any(edit.path == path for edit in known.edits):
            before = key
    return None


def _within(shelf: Shelf, target: Target, budget: int) -> None:
    """Each change kept to the budget when it was staged; others have come in between."""
    text = shelf.memory(target) or ""
    before = shelf.store.read(memory_path(target)) or ""
    if len(text) > max(budget, len(before)):
        raise Refused(
            f"{target}.md would have {len(text)} of {budget} characters",
            "adopt fewer: agentlearn adopt CHANGE…, or discard or revert a note first",
        )
