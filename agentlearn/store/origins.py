"""Which changes stand behind a skill or a note, and whether their evidence still stands."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from agentlearn.errors import AgentlearnError
from agentlearn.sessions.evidence import gather_evidence
from agentlearn.sessions.values import Session
from agentlearn.store.journal import State
from agentlearn.store.memory import Target, memory_path, notes_of
from agentlearn.store.values import Change, Cited

Standing = Literal["unchanged", "changed", "gone", "unknown"]
"""The cited lines are as they were; other; their file is not there; nobody can tell."""


def changes_of(state: State, name: str) -> list[Change]:
    """All changes to a skill or a memory, in order."""
    return [change for change in state.seen.values() if change.name == name]


def writers_of(state: State, target: Target) -> dict[str, str]:
    """For every note that ever stood in a memory, the change that wrote it last."""
    path = memory_path(target)
    found = {}
    for change in state.changes.values():
        for edit in change.edits:
            if edit.path == path:
                before = {note.text for note in notes_of(edit.before)}
                came = [note.text for note in notes_of(edit.after) if note.text not in before]
                found.update(dict.fromkeys(came, change.id))
    return found


def standing_of(evidence: Iterable[Cited]) -> dict[Cited, Standing]:
    """Whether the lines that changes rest on are still there; every file is read once."""
    groups: dict[tuple[str, str], list[Cited]] = {}
    found: dict[Cited, Standing] = {}
    for cited in evidence:
        if cited.sha256 is None or cited.path in (None, "-"):
            found[cited] = "unknown"
        else:
            groups.setdefault((cited.path or "", cited.unit), []).append(cited)
    for (path, unit), group in groups.items():
        found.update(_standing_in(Path(path), unit, group))
    return found


def _standing_in(path: Path, unit: str, group: list[Cited]) -> dict[Cited, Standing]:
    try:
        if not path.exists():
            return dict.fromkeys(group, "gone")
        # A pipe would be waited for, and so would some files that are none.
        if not path.is_file() or str(path).startswith(("/proc/", "/sys/", "/dev/")):
            return dict.fromkeys(group, "unknown")
        hashes = _hash_lines(path, group) if unit == "line" else _hash_entries(path, group)
    except (OSError, ValueError, AgentlearnError):
        return dict.fromkeys(group, "unknown")
    return {
        cited: "unchanged" if hashes.get(cited) == cited.sha256 else "changed" for cited in group
    }


def _hash_lines(path: Path, group: list[Cited]) -> dict[Cited, str | None]:
    """Lines are those of the file, whatever its dialect."""
    return _hashes(Session(id="", dialect="", entries=[], path=str(path)), group)


def _hash_entries(path: Path, group: list[Cited]) -> dict[Cited, str | None]:
    """Which bytes a numbered entry has, only its reader knows."""
    from agentlearn.sessions.read import read_sessions
    from agentlearn.sessions.source import Source

    found: dict[Cited, str | None] = {}
    with Source(path) as source:
        for session in read_sessions(source):
            found.update(_hashes(session, [one for one in group if one.session == session.id]))
    return found


def _hashes(session: Session, group: list[Cited]) -> dict[Cited, str | None]:
    found = gather_evidence(session, [(cited.start, cited.end) for cited in group])
    return {cited: evidence.sha256 for cited, evidence in zip(group, found, strict=True)}
