"""Copies of folders that share nothing with the original: no link, no git folder, no lock."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentlearn.errors import AgentlearnError
from agentlearn.reflexion.git import GitFailed, git

FICLONE = 0x40049409
"""The ioctl of linux/fs.h by which two files share their blocks until one is written."""
LEFT_OUT = ".agentlearn"
"""It holds earlier solutions."""


def copy_folder(source: Path, target: Path, passed: Path | None = None) -> None:
    """All of a folder but `.agentlearn` and what is `passed` over; pipes and sockets stay behind.

    Links that lead into the original lead into the copy: whoever follows them stays in it.
    """
    try:
        _copy(source, target, source, target, passed and passed.resolve())
    except OSError as error:
        raise AgentlearnError(
            f"{source} cannot be copied: {error.filename or target}: {error.strerror}"
        ) from None


def _copy(source: Path, target: Path, root: Path, new_root: Path, passed: Path | None) -> None:
    target.mkdir(parents=True)
    with os.scandir(source) as entries:
        for entry in entries:
            path, copy = Path(entry.path), target / entry.name
            if entry.name == LEFT_OUT or (entry.is_dir() and path.resolve() == passed):
                continue
            if entry.is_symlink():
                copy.symlink_to(_led_into_copy(path.readlink(), root, new_root))
            elif entry.is_dir():
                _copy(path, copy, root, new_root, passed)
            elif entry.is_file():
                copy_file(path, copy)
    shutil.copystat(source, target)
    if not os.access(target, os.W_OK | os.X_OK):
        target.chmod(stat.S_IMODE(target.stat().st_mode) | 0o700)


def _led_into_copy(link: Path, root: Path, new_root: Path) -> Path:
    if link.is_absolute():
        named = Path(os.path.normpath(link))
        for base in (root, root.resolve()):
            if named.is_relative_to(base):
                return new_root / named.relative_to(base)
    return link


def copy_file(source: Path, target: Path) -> None:
    """By reference where the disk can, else byte by byte."""
    if not _cloned(source, target):
        shutil.copyfile(source, target, follow_symlinks=False)
    shutil.copystat(source, target, follow_symlinks=False)


def _cloned(source: Path, target: Path) -> bool:
    if sys.platform != "linux":
        return False
    import fcntl

    with source.open("rb") as read, target.open("wb") as write:
        try:
            fcntl.ioctl(write.fileno(), FICLONE, read.fileno())
        except OSError:
            return False
    return True


def own_git(copy: Path, original: Path) -> None:
    """Give a copy a git folder of its own, whatever the original has.

    A copied `.git` folder is its own already, unless its settings name another work tree. Where the
    original is a work tree of another repository, its history is fetched; where it is in none, or
    in a part of one, the first commit is what was copied.
    """
    inner = copy / ".git"
    for link in [path for path in copy.rglob(".git") if path.is_file() or path.is_symlink()]:
        if link == inner or _leads_out(link, copy):
            link.unlink()
    if inner.is_dir():
        _forget_other_folders(inner)
        return
    git("init", "--quiet", copy)
    try:
        git("-C", copy, "fetch", "--quiet", "--no-tags", original, "HEAD")
        top = git("-C", original, "rev-parse", "--show-toplevel").strip()
        if Path(top) == original:
            git("-C", copy, "reset", "--quiet", "--mixed", "FETCH_HEAD")
            return
    except GitFailed:
        pass  # no repository, or one without a commit
    git("-C", copy, "add", "--all")
    git("-C", copy, "commit", "--quiet", "--allow-empty", "--message", "The task as it was given")


def _leads_out(link: Path, copy: Path) -> bool:
    """Whether a `.git` file (of a submodule, say) names a folder outside of the copy."""
    if link.is_symlink():
        return not link.resolve().is_relative_to(copy.resolve())
    try:
        text = link.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return True
    named = link.parent / text.removeprefix("gitdir:").strip()
    return not Path(os.path.normpath(named)).is_relative_to(copy)


def _forget_other_folders(folder: Path) -> None:
    """Settings that would lead git in the copy back to the original."""
    worktrees = folder / "worktrees"
    if worktrees.is_dir():
        remove(worktrees)
    configs = [folder / "config", folder / "config.worktree"]
    configs += [path for path in (folder / "modules").rglob("config") if path.is_file()]
    for config in configs:
        if config.is_symlink() or not config.is_file():
            continue
        for name in ("core.worktree", "core.fsmonitor"):
            try:
                value = git("config", "--file", config, "--get", name).strip()
                if name != "core.worktree" or Path(value).is_absolute() or config in configs[:2]:
                    git("config", "--file", config, "--unset-all", name)
            except GitFailed:
                pass  # it was not set


def remove(path: Path) -> None:
    """A file, a link or a folder with all that is in it, also where an agent took our rights."""
    if path.is_symlink() or not path.is_dir():
        try:
            path.unlink(missing_ok=True)
        except PermissionError:
            path.parent.chmod(0o700)
            path.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(path, onerror=_with_rights)
    except RecursionError:  # folders in folders, thousands of them
        subprocess.run(["rm", "-rf", "--", str(path)], check=False)


def _with_rights(function: Callable[..., Any], path: str, error: Any) -> None:
    """Take the rights back and try once more; links are never followed."""
    if isinstance(error[1], FileNotFoundError):
        return
    for each in (Path(path).parent, Path(path)):
        if not each.is_symlink() and each.exists():
            each.chmod(0o700)
    if function in (os.open, os.scandir, os.lstat):
        shutil.rmtree(path)
    else:
        function(path)
