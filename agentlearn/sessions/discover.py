"""Where the agents keep their sessions, and which of them belong to a project."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

HEAD = 256 * 1024
WORKING_FOLDER = re.compile(rb'"(?:cwd|directory|gitRoot)":\s*"((?:[^"\\]|\\.)*)"')
NOT_ALNUM = re.compile(r"[^A-Za-z0-9]")


class Found(Struct, frozen=True):
    """A file that an agent left."""

    path: Path
    agent: str
    modified: float


def discover(project: Path | None, agent: str | None = None) -> list[Found]:
    """The session files of a project (None: of all), newest last."""
    found: dict[Path, Found] = {}
    for name, paths in _places(project).items():
        if agent in (None, name):
            for path in paths:
                found[path] = Found(path, name, changed_at(path))
    return sorted(found.values(), key=lambda item: (item.modified, str(item.path)))


def changed_at(path: Path) -> float:
    """When a file was last written; what a database writes goes to its log first."""
    times = [0.0]
    for each in (path, path.with_name(path.name + "-wal")):
        try:
            times.append(each.stat().st_mtime)
        except OSError:
            continue
    return max(times)


def agents() -> list[str]:
    return list(_places(None))


def _places(project: Path | None) -> dict[str, Iterator[Path]]:
    home = Path.home()
    codex = Path(os.environ.get("CODEX_HOME") or home / ".codex")
    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local/share")
    return {
        "claude-code": _claude(claude / "projects", project),
        "codex": _by_head(_codex(codex), project),
        "gemini-cli": _gemini(home / ".gemini/tmp", project),
        "copilot-cli": _by_head(_copilot(home / ".copilot/session-state"), project),
        "pi": _by_head(_glob(home / ".pi/agent/sessions", "**/*.jsonl"), project),
        "opencode": _glob(data / "opencode", "opencode.db"),
    }


def _glob(folder: Path, pattern: str) -> Iterator[Path]:
    if folder.is_dir():
        yield from sorted(path for path in folder.glob(pattern) if path.is_file())


def _claude(projects: Path, project: Path | None) -> Iterator[Path]:
    """One folder a working folder, named after it; sub-folders of the project count too."""
    own = NOT_ALNUM.sub("-", str(project)) if project is not None else ""
    for folder in sorted(projects.iterdir()) if projects.is_dir() else []:
        if not folder.is_dir() or not folder.name.startswith(own):
            continue
        files = _glob(folder, "**/*.jsonl")
        if project is None or folder.name == own:
            yield from files
        else:  # `-w-app-2` may be /w/app/2 or another project, /w/app-2
            yield from _by_head(files, project)


def _codex(root: Path) -> Iterator[Path]:
    for folder in ("sessions", "archived_sessions"):
        yield from _glob(root / folder, "**/rollout-*.jsonl")
        yield from _glob(root / folder, "**/rollout-*.jsonl.zst")


def _copilot(root: Path) -> Iterator[Path]:
    yield from _glob(root, "*/events.jsonl")
    yield from _glob(root, "*.jsonl")


def _gemini(root: Path, project: Path | None) -> Iterator[Path]:
    """A folder a project: named by the hash of its path, or by a name that a file explains."""
    wanted = None if project is None else _gemini_names(root, project)
    for folder in sorted(root.iterdir()) if root.is_dir() else []:
        if wanted is None or folder.name in wanted or _root_of(folder) == str(project):
            yield from _glob(folder / "chats", "session-*.json*")
            yield from _glob(folder / "chats", "*/*.json*")  # sub-agents, below their parent's id


def _gemini_names(root: Path, project: Path) -> set[str]:
    import hashlib

    names = {hashlib.sha256(str(project).encode()).hexdigest()}
    try:
        known = json.loads((root.parent / "projects.json").read_text(encoding="utf-8"))
        name = known["projects"][str(project)]
    except (OSError, ValueError, KeyError, TypeError):
        return names
    return names | {name} if isinstance(name, str) else names


def _root_of(folder: Path) -> str | None:
    try:
        return (folder / ".project_root").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None


def _by_head(paths: Iterator[Path], project: Path | None) -> Iterator[Path]:
    for path in paths:
        if project is None or _works_in(path, project):
            yield path


def _works_in(path: Path, project: Path) -> bool:
    """Whether the first working folder that a file names is the project or lies in it."""
    from agentlearn.errors import AgentlearnError
    from agentlearn.sessions.source import Source

    try:
        with Source(path) as source:
            found = WORKING_FOLDER.search(source.stream.peek(HEAD))
    except (OSError, AgentlearnError, ValueError):
        return False
    if not found:
        return False
    try:
        folder = Path(json.loads(b'"' + found[1] + b'"'))
    except ValueError:
        return False
    return folder == project or project in folder.parents
