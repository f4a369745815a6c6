"""The ways to name a SESSION: a path, a folder, a glob, an id or its beginning, `-`, the latest."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from agentlearn.errors import BadInput
from agentlearn.sessions.discover import HEAD, Found, changed_at, discover
from agentlearn.sessions.source import Source, is_events_folder

PASSED_BY = {"node_modules", "__pycache__"}
BEFORE_ID = re.compile(
    r"\A(?:agent-|(?:[a-z]+-)?\d{4}-\d\d-\d\dT\d\d-\d\d(?:-\d\d)?(?:-\d{3})?Z?[-_])"
)
"""`agent-ID`, `rollout-2026-11-01T09-00-00-ID`, `2026-11-01T09-00-00-000Z_ID`."""


class Candidate(Struct, frozen=True):
    """A file that may hold sessions. `path` None is stdin."""

    path: Path | None
    named: bool = True
    """False for a file met while walking a folder: it need not be a transcript."""
    only: str | None = None
    """Take only sessions whose id begins like this."""
    problem: BadInput | None = None
    """Why nothing stands behind this name; the other names are read all the same."""
    only_in: Path | None = None
    """Take only sessions that worked in this folder: one database holds every project's."""
    newest: bool = False
    """Take only the session that ended last: of a database, `--latest` means one."""


def select(names: list[str], project: Path, latest: bool = False) -> list[Candidate]:
    """The files that the names stand for, in order, each once. No name: the project's own."""
    if not names:
        chosen = [_candidate(found, project) for found in discover(project)]
        if not chosen:
            raise BadInput(
                f"no sessions of {project} were found where agents keep them",
                "name a transcript, or see every project's: agentlearn sessions --all",
            )
    else:
        chosen = []
        for name in names:
            try:
                chosen += _named(name, project)
            except BadInput as error:
                if len(names) == 1:
                    raise
                chosen.append(Candidate(Path(name), problem=error))
    unique: dict[tuple[str | None, str | None], Candidate] = {}
    for item in sorted(chosen, key=lambda item: not item.named):
        place = None if item.path is None else os.path.abspath(item.path)  # noqa: PTH100
        unique.setdefault((place, item.only), item)
    kept = {id(item) for item in unique.values()}
    chosen = [item for item in chosen if id(item) in kept]
    if not latest:
        return chosen
    wrong = [item for item in chosen if item.problem is not None]
    return [*wrong, _latest([item for item in chosen if item.problem is None])]


def _candidate(found: Found, project: Path | None) -> Candidate:
    only_in = project if found.agent == "opencode" else None
    return Candidate(found.path, named=False, only_in=only_in)


def _latest(candidates: list[Candidate]) -> Candidate:
    files = [item for item in candidates if item.path is not None]
    if not files:
        raise BadInput("--latest needs files to choose from, not stdin")
    # A helper of the agent may write last; what was asked for is the session that started it.
    files = [item for item in files if item.path and item.path.parent.name != "subagents"] or files
    newest = max(files, key=lambda item: changed_at(item.path) if item.path else 0.0)
    is_database = newest.path is not None and newest.path.suffix == ".db"
    return Candidate(
        newest.path, named=True, only=newest.only, only_in=newest.only_in, newest=is_database
    )


def _named(name: str, project: Path) -> Iterator[Candidate]:
    if name == "-":
        yield Candidate(None)
        return
    if not name:
        raise BadInput("a SESSION is an empty word", "was a variable not set?")
    path = Path(name)
    try:
        path.lstat()
    except FileNotFoundError:
        pass
    except OSError as error:  # too long, or below a file or a folder that is locked
        raise BadInput(f"{name[:200]} cannot be read: {error.strerror}") from None
    if path.is_dir():
        found = [Candidate(each, named=False) for each in walk(path)]
        if not found:
            raise BadInput(f"{name} is a folder without files")
        yield from found
    elif os.path.lexists(path):
        yield Candidate(path)
    elif glob.has_magic(name):
        matches = sorted(glob.glob(name, recursive=True))
        if not matches:
            raise BadInput(f"nothing matches {name}")
        for match in matches:
            if Path(match).is_dir():
                yield from (Candidate(each, named=False) for each in walk(Path(match)))
            else:
                yield Candidate(Path(match))
    else:
        yield from _by_id(name, project)


def walk(folder: Path) -> Iterator[Path]:
    """The files of a folder and those below it, in the order of their names.

    Links to folders are not followed and hidden folders are passed by; a conversation that an
    agent keeps as a folder of events is one file.
    """
    for here, folders, files in os.walk(folder):
        if is_events_folder(Path(here)):
            yield Path(here)
            folders.clear()
            continue
        if {"run.json", "episodes"} <= {*files, *folders}:
            folders.clear()
            yield from _attempts_of(Path(here))
            continue
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in PASSED_BY
        )
        for name in sorted(files):
            path = Path(here) / name
            # A link to nothing is named, too: that it cannot be read must be said.
            if not name.startswith(".") and (path.is_file() or path.is_symlink()):
                yield path


def _attempts_of(run: Path) -> Iterator[Path]:
    """The sessions of a run of reflexion, and not the logs, which may hold the same once more."""
    found = (run / "episodes").glob("*/session.jsonl")
    yield from sorted(found, key=lambda path: (len(path.parent.name), path.parent.name))


def _by_id(name: str, project: Path) -> Iterator[Candidate]:
    """An id, or its beginning: in the names of the files that agents keep, the project's first."""
    if os.sep in name or name.endswith((".jsonl", ".json")):
        raise BadInput(f"{name} does not exist")
    everything = discover(None)
    matches = [found for found in everything if _has_id(found.path, name)]
    only = None
    if not matches:
        # Gemini CLI puts no more than the beginning of an id into the name of the file.
        matches = [found for found in everything if _begins_with_id(found.path, name)]
        only = name
    if len(matches) > 1:
        own = {found.path for found in discover(project)}
        matches = [found for found in matches if found.path in own] or matches
    if len(matches) > 1:
        listed = ", ".join(sorted(found.path.stem for found in matches)[:4])
        raise BadInput(f"{name} fits {len(matches)} sessions: {listed}", "give more of the id")
    if matches:
        yield Candidate(matches[0].path, only=only)
        return
    inside = [found for found in everything if _names_id(found, name)]
    if not inside:
        raise _unknown(name, everything)
    for found in inside:
        yield Candidate(found.path, only=name)


def _names_id(found: Found, prefix: str) -> bool:
    """Whether a file may hold a session with this id under another name: a resumed one does."""
    if found.agent == "opencode":
        return True
    try:
        with Source(found.path) as source:
            return b'"' + os.fsencode(prefix) in source.stream.peek(HEAD)
    except (OSError, BadInput):
        return False


def _has_id(path: Path, prefix: str) -> bool:
    """Ids stand at the start of a file's name, after a word or a date in it, or name the folder."""
    stem = path.name.split(".")[0]
    holder = path.parent.name if path.name == "events.jsonl" else stem
    return holder.startswith(prefix) or BEFORE_ID.sub("", holder).startswith(prefix)


def _begins_with_id(path: Path, name: str) -> bool:
    end = path.name.split(".")[0].rpartition("-")[2]
    return len(end) >= 8 and name.startswith(end)


def _unknown(name: str, known: list[Found]) -> BadInput:
    import difflib

    stems = [found.path.stem for found in known]
    near = difflib.get_close_matches(name, stems, 1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else "agentlearn sessions --all lists what is known"
    return BadInput(f"{name} is no file, and no session has this id", hint)
