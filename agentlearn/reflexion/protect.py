"""What the agent must not have changed: put back before judging, and told if it was touched.

Caches that every test run leaves beside the tests go, too, but nobody is blamed for them.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from agentlearn.reflexion.copying import copy_file, remove

GLOB = frozenset("*?[")
CACHES = {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".DS_Store"}
BLOCK = 1 << 20


def put_back(original: Path, workspace: Path, protect: tuple[str, ...]) -> list[str]:
    """Make the protected paths what they were; those that were not, but for caches."""
    found: dict[str, None] = {}
    for path in _protected(original, workspace, protect):
        found.update(dict.fromkeys(_differences(original, workspace, path)))
    for path in found:
        _clear_the_way(workspace, path)
        remove(workspace / path)
        _copy(original / path, workspace / path, original, workspace)
    return [path for path in found if not is_cache(path)]


def is_cache(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name in CACHES or name.endswith(".pyc")


def digest_of(original: Path, protect: tuple[str, ...]) -> str:
    """A hash of all that is protected, by which one sees that the originals are still that."""
    digest = hashlib.sha256()
    for path in sorted(_protected(original, original, protect)):
        for each in _below(original, path):
            told = f"{each}\0{_kind(original, each)}\0"
            digest.update(told.encode("utf-8", "surrogateescape"))
            if _kind(original, each).startswith("file"):
                for block in _blocks(original / each):
                    digest.update(block)
    return digest.hexdigest()


def _protected(original: Path, workspace: Path, protect: tuple[str, ...]) -> list[str]:
    """The paths that the entries name, in the original or in the workspace."""
    found: dict[str, None] = {}
    for entry in protect:
        if GLOB & set(entry):
            for root in (original, workspace):
                matches = (path.relative_to(root).as_posix() for path in root.glob(entry))
                found.update(dict.fromkeys(sorted(matches)))
        else:
            found[Path(entry).as_posix()] = None
    return list(found)


def _differences(original: Path, workspace: Path, path: str) -> Iterator[str]:
    """The smallest parts of a path that differ: files, or folders that are there only once."""
    if _beyond_a_link(workspace, path):
        yield path
        return
    kind = _kind(original, path)
    if kind != _kind(workspace, path):
        yield path
    elif kind.startswith("folder"):
        names = {*os.listdir(original / path), *os.listdir(workspace / path)}  # noqa: PTH208
        for name in sorted(names):
            yield from _differences(original, workspace, f"{path}/{name}")
    elif kind.startswith("file") and not _same(original / path, workspace / path):
        yield path


def _beyond_a_link(root: Path, path: str) -> bool:
    parts = Path(path).parts
    return any((root / Path(*parts[:count])).is_symlink() for count in range(1, len(parts)))


def _kind(root: Path, path: str) -> str:
    """What stands there, with its rights; of a link also where in the root it leads."""
    full = root / path
    try:
        found = full.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return "nothing"
    mode = f"{stat.S_IMODE(found.st_mode):o}"
    if stat.S_ISLNK(found.st_mode):
        return f"link {_target(full, root)}"
    if stat.S_ISDIR(found.st_mode):
        return f"folder {mode}"
    return f"file {mode} {found.st_size}" if stat.S_ISREG(found.st_mode) else "other"


def _target(link: Path, root: Path) -> str:
    """Where a link leads: a place inside the root is the same in every copy of it."""
    leads = link.readlink()
    if leads.is_absolute() and leads.is_relative_to(root):
        return f"(here)/{leads.relative_to(root)}"
    return str(leads)


def _same(one: Path, other: Path) -> bool:
    try:
        return all(a == b for a, b in zip(_blocks(one), _blocks(other), strict=True))
    except (ValueError, PermissionError):
        return False


def _blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            yield block


def _below(root: Path, path: str) -> Iterator[str]:
    yield path
    if _kind(root, path).startswith("folder"):
        for name in sorted(os.listdir(root / path)):  # noqa: PTH208
            yield from _below(root, f"{path}/{name}")


def _clear_the_way(workspace: Path, path: str) -> None:
    """Every step to a path is a folder: a link that an agent put there is not followed."""
    step = workspace
    for part in Path(path).parts[:-1]:
        step /= part
        if step.is_symlink() or not step.is_dir():
            remove(step)
            step.mkdir()
        elif not os.access(step, os.W_OK | os.X_OK):
            step.chmod(0o700)


def _copy(source: Path, target: Path, root: Path, new_root: Path) -> None:
    if source.is_symlink():
        leads = source.readlink()
        if leads.is_absolute() and leads.is_relative_to(root):
            leads = new_root / leads.relative_to(root)
        target.symlink_to(leads)
    elif source.is_dir():
        target.mkdir()
        for name in os.listdir(source):  # noqa: PTH208
            _copy(source / name, target / name, root, new_root)
        target.chmod(stat.S_IMODE(source.stat().st_mode))
    elif source.is_file():
        copy_file(source, target)
