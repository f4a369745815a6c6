"""Changes of a store as the commands print them: in one line, in full, as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agentlearn.cli.output import short_id, write_json
from agentlearn.guard import one_line, plain
from agentlearn.sessions.evidence import cite
from agentlearn.store.differences import Conflict, show_change
from agentlearn.store.journal import State
from agentlearn.store.store import Store
from agentlearn.store.values import Change, Cited


def as_dict(store: Store, state: State, change: Change, full: bool = False) -> dict[str, Any]:
    """A change for programs; `full` adds what its files held before and after."""
    found: dict[str, Any] = {
        "id": change.id,
        "at": change.at,
        "kind": change.kind,
        "action": change.action,
        "name": change.name,
        "text": change.text,
        "status": state.status(change.id),
        "taken_back_by": state.taken_back.get(change.id),
        "reason": state.reasons.get(change.id) if change.id in state.undone else None,
        "undoes": change.undoes,
        "absorbed_by": change.absorbed_by,
        "reviewer": change.reviewer,
        "model": change.model,
        "session": change.session,
        "evidence": [cited_as_dict(cited) for cited in change.evidence],
        "paths": [store.places.shown(edit.path) for edit in change.edits],
    }
    if full:
        found["edits"] = [
            {"path": store.places.shown(edit.path), "before": edit.before, "after": edit.after}
            for edit in change.edits
        ]
    return found


def cited_as_dict(cited: Cited) -> dict[str, Any]:
    return {
        "session": cited.session,
        "path": cited.path,
        "start": cited.start,
        "end": cited.end,
        "unit": cited.unit,
        "sha256": cited.sha256,
        "excerpt": cited.excerpt,
    }


def diff_as_dict(store: Store, state: State, change: Change) -> dict[str, Any]:
    return {**as_dict(store, state, change), "diff": show_change(store, change)}


def what(change: Change) -> str:
    """`skill create run-tests`."""
    return f"{change.kind} {change.action} {change.name}"


def by(change: Change) -> str:
    return f"{change.reviewer} {change.model}" if change.model else change.reviewer


def when(change: Change) -> str:
    return change.at[:16].replace("T", " ")


def source(cited: Cited) -> str:
    """`7c1d0a52-5f0e#L120-L138`."""
    return cite(short_id(cited.session), cited.start, cited.end, cited.unit)


def sources(change: Change) -> str:
    """The first place that a change rests on, and how many others."""
    if not change.evidence:
        return "–"
    others = len(change.evidence) - 1
    return source(change.evidence[0]) + (f" +{others}" if others else "")


def told_status(state: State, change: Change) -> str:
    """What became of it, in words; nothing for one that stands."""
    status = state.status(change.id)
    if status == "taken back":
        return f"taken back by {state.taken_back[change.id]}"
    if status == "foreign":
        return "came from elsewhere"
    return "" if status == "applied" else status


def print_changes(store: Store, changes: Iterable[tuple[str, Change]]) -> None:
    """For each, a line that says what it is, and the difference that it makes."""
    for number, (head, change) in enumerate(changes):
        if number:
            print()
        print(one_line(head, 300))
        if diff := show_change(store, change):
            print(plain(diff))


def print_conflict(conflict: Conflict, chosen: str) -> None:
    """What stands in the way, on stdout; that it failed is said on stderr as always."""
    if chosen == "json":
        write_json({"error": conflict.message, "hint": conflict.hint, "diff": conflict.diff})
    else:
        print(plain(conflict.diff))
