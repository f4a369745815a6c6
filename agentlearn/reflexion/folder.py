"""The folder of a run: what is written there, once and whole, is what a killed run resumes from.

    run.json  task.yaml  events.jsonl
    episodes/0/  prompt.md  session.jsonl  attempt.json  reflection.md  episode.json
                 patch.diff  agent.log  judge.log

`attempt.json` is there when an attempt was judged, `episode.json` when it was also reflected on.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.reflexion.values import Attempt, Episode, Run

RUNS = "runs"
T = TypeVar("T")


def write_whole(path: Path, data: bytes) -> None:
    """All of it or nothing, also after a kill or a power cut."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise AgentlearnError(f"cannot write {path}: {error.strerror or error}") from None
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


class EpisodeFolder:
    def __init__(self, run: RunFolder, index: int) -> None:
        self.index = index
        self.path = run.path / "episodes" / str(index)

    @property
    def session(self) -> Path:
        return self.path / "session.jsonl"

    @property
    def patch(self) -> Path:
        return self.path / "patch.diff"

    @property
    def reflection(self) -> Path:
        return self.path / "reflection.md"

    def attempt(self) -> Attempt | None:
        return _read(self.path / "attempt.json", Attempt)

    def episode(self) -> Episode | None:
        return _read(self.path / "episode.json", Episode)

    def keep(self, value: Attempt | Episode) -> None:
        name = "attempt.json" if isinstance(value, Attempt) else "episode.json"
        write_whole(self.path / name, msgspec.json.encode(value))


class RunFolder:
    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def events(self) -> Path:
        return self.path / "events.jsonl"

    def run(self) -> Run:
        found = _read(self.path / "run.json", Run)
        if found is None or found.id != self.path.name:
            raise BadInput(f"{self.path} is no run that can be gone on with")
        return found

    def keep_run(self, run: Run) -> None:
        write_whole(self.path / "run.json", msgspec.json.encode(run))

    def at(self, index: int) -> EpisodeFolder:
        return EpisodeFolder(self, index)

    def episodes(self) -> list[Episode]:
        """Those that are finished, in order."""
        found: list[Episode] = []
        while (episode := self.at(len(found)).episode()) is not None:
            found.append(episode)
        return found

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """One process at a time goes on with a run."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.path / "lock", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            raise AgentlearnError(f"the run {self.path.name} is being worked on already") from None
        try:
            yield
        finally:
            lock.release()


def _read(path: Path, kind: type[T]) -> T | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.MsgspecError, UnicodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from None


def runs_folder(project: Path) -> Path:
    """Where a project's runs lie: folders of its own, never behind a link."""
    own = project / ".agentlearn"
    for each in (own, own / RUNS):
        if each.is_symlink():
            raise BadInput(f"{each} is a link: the runs of a project lie in a folder of its own")
    return own / RUNS


def new_run_id(task: str) -> str:
    at = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    return f"{task}-{at}-{secrets.token_hex(2)}"


def find_run(project: Path, name: str) -> RunFolder:
    """A run by its id or the beginning of it, or by its folder."""
    if "/" in name and (Path(name) / "run.json").is_file():
        return RunFolder(Path(name).absolute())
    if not name:
        raise BadInput("a run has a name", "agentlearn reflexion --help")
    known = known_runs(project)
    found = [each for each in known if each.path.name == name] or [
        each for each in known if each.path.name.startswith(name)
    ]
    if len(found) == 1:
        return found[0]
    ids = [each.path.name for each in found or known]
    if found:
        raise BadInput(f"{name} is the beginning of several runs: {', '.join(ids[:5])}")
    import difflib

    near = difflib.get_close_matches(name, ids, 1)
    hint = f"did you mean {near[0]}?" if near else f"runs are: {', '.join(ids[-5:]) or 'none yet'}"
    raise BadInput(f"there is no run {name[:80]!r}", hint)


def known_runs(project: Path) -> list[RunFolder]:
    folder = runs_folder(project)
    if not folder.is_dir():
        return []
    return [RunFolder(path) for path in sorted(folder.iterdir()) if (path / "run.json").is_file()]
