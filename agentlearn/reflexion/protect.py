"""What the agent must not have changed: put back before judging, and told if it was touched."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from agentlearn.reflexion.copying import copy_file, remove

GLOB = frozenset("*?[")


def touched(original: Path, workspace: Path, protect: tuple[str, ...]) -> list[str]:
    """The protected paths that are not as they were: changed, removed or added."""
    found: dict[str, None] = {}
    for path in _protected(original, workspace, protect):
        found.update(dict.fromkeys(_differences(original, workspace, path)))
    return list(found)


def put_back(original: Path, workspace: Path, protect: tuple[str, ...]) -> list[str]:
    """Make the protected paths what they were; those that were not."""
    found = touched(original, workspace, protect)
    for path in found:
        _clear_the_way(workspace, path)
        remove(workspace / path)
        _copy(original / path, workspace / path)
    return found


def digest_of(original: Path, protect: tuple[str, ...]) -> str:
    """A hash of all that is protected, by which one sees that the originals are still that."""
    digest = hashlib.sha256()
    for path in sorted(_protected(original, original, protect)):
        for each in _below(original, path):
            kind, content = _state(original / each)
            digest.update(f"{each}\0{kind}\0".encode("utf-8", "surrogateescape") + content + b"\0")
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
    before, after = _state(original / path), _state(workspace / path)
    if before != after:
        yield path
    elif before[0] == "folder":
        names = {*os.listdir(original / path), *os.listdir(workspace / path)}  # noqa: PTH208
        for name in sorted(names):
            yield from _differences(original, workspace, f"{path}/{name}")


def _beyond_a_link(root: Path, path: str) -> bool:
    parts = Path(path).parts
    return any((root / Path(*parts[:count])).is_symlink() for count in range(1, len(parts)))


def _state(path: Path) -> tuple[str, bytes]:
    """What stands there; of a folder only that it is one."""
    try:
        mode = path.lstat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return "nothing", b""
    if stat.S_ISLNK(mode):
        return "link", os.fsencode(path.readlink())
    if stat.S_ISDIR(mode):
        return ("folder", b"") if os.access(path, os.R_OK | os.X_OK) else ("closed folder", b"")
    if not stat.S_ISREG(mode):
        return "other", b""
    kind = "program" if mode & stat.S_IXUSR else "file"
    try:
        return kind, hashlib.sha256(path.read_bytes()).digest()
    except PermissionError:
        return "closed file", b""


def _below(root: Path, path: str) -> Iterator[str]:
    yield path
    if _state(root / path)[0] == "folder":
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


def _copy(source: Path, target: Path) -> None:
    if source.is_symlink():
        target.symlink_to(source.readlink())
    elif source.is_dir():
        target.mkdir()
        for name in os.listdir(source):  # noqa: PTH208
            _copy(source / name, target / name)
        target.chmod(stat.S_IMODE(source.stat().st_mode) | 0o700)
    elif source.is_file():
        copy_file(source, target)
