"""Files below a folder, written whole or not at all, and never through a link.

A folder begins at a path that the person named, which may lead through links of their own. Every
step from there to a file is opened without following one, so that no name, no `..` and no link
that a repository brought along, or that is put there meanwhile, leads a write elsewhere. A file
is written under a temporary name, flushed to the disk and renamed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from agentlearn.errors import AgentlearnError, BadInput

MOST_BYTES = 1024 * 1024
"""Skills and memory are text that people read: more is no skill."""
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
TEMPORARY = ".tmp"
DEEPEST = 16
"""No skill nests its folders deeper; who does wants to be walked for ever."""
Thing = Literal["file", "folder", "link", "other"]


class Escapes(BadInput):
    """A path that would leave its folder, or goes through a link."""


class Folder(Struct, frozen=True):
    """A folder to keep files in."""

    top: Path
    """Named by the person: it is opened as it stands."""
    below: str = ""
    """The way on from there, without links."""

    @property
    def path(self) -> Path:
        return self.top / self.below


def read_text(folder: Folder, relative: str) -> str | None:
    """The text of a file; None if there is none."""
    data = read_bytes(folder, relative, MOST_BYTES + 1)
    if data is None:
        return None
    if len(data) > MOST_BYTES:
        raise BadInput(f"{folder.path / relative} is over {MOST_BYTES // 1024} kB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise BadInput(f"{folder.path / relative} is not UTF-8 text") from None


def read_bytes(folder: Folder, relative: str, most: int = -1) -> bytes | None:
    try:
        with (
            open_file(folder, relative, os.O_RDONLY) as handle,
            os.fdopen(handle, "rb", closefd=False) as file,
        ):
            return file.read(most)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise told(folder, relative, error) from None


@contextlib.contextmanager
def open_file(folder: Folder, relative: str, flags: int) -> Iterator[int]:
    """A plain file; a pipe, a device or a folder in its place is refused, not waited for."""
    with _folder_of(folder, relative, make=False) as (inside, name):
        handle = os.open(name, flags | NO_LINK | os.O_NONBLOCK, 0o600, dir_fd=inside)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Escapes(f"{folder.path / relative} is no plain file")
        yield handle
    finally:
        os.close(handle)


def write_text(folder: Folder, relative: str, text: str, mark: str) -> None:
    """Put a file in its place, atomically; `mark` names the temporary file that a crash leaves."""
    try:
        with _folder_of(folder, relative, make=True) as (inside, name):
            mode = _mode_of(inside, name)
            temporary = _temporary(name, mark)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=inside)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | NO_LINK
            handle = os.open(temporary, flags, 0o644, dir_fd=inside)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(text.encode("utf-8"))
                    if mode is not None:
                        os.fchmod(handle, mode)
                    file.flush()
                    os.fsync(handle)
                os.rename(temporary, name, src_dir_fd=inside, dst_dir_fd=inside)
            except BaseException:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=inside)
                raise
            os.fsync(inside)
    except OSError as error:
        raise told(folder, relative, error) from None


def make_folder(folder: Folder) -> None:
    try:
        with _opened(folder, make=True):
            pass
    except OSError as error:
        raise told(folder, "", error) from None


def flush_folder(folder: Folder) -> None:
    """What came into a folder, or left it, is on the disk when this returns."""
    with _opened(folder, make=False) as handle:
        os.fsync(handle)


def make_link(folder: Folder, relative: str, target: str) -> None:
    """A link that is there when this returns; what stands in its place is not replaced."""
    try:
        with _folder_of(folder, relative, make=True) as (inside, name):
            os.symlink(target, name, dir_fd=inside)
            os.fsync(inside)
    except OSError as error:
        raise told(folder, relative, error) from None


def remove_file(folder: Folder, relative: str) -> None:
    """Remove a file, and the folders on the way to it that it leaves empty."""
    try:
        with _folder_of(folder, relative, make=False) as (inside, name):
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=inside)
            os.fsync(inside)
    except FileNotFoundError:
        pass
    except NotADirectoryError:
        return
    except OSError as error:
        raise told(folder, relative, error) from None
    for parent in Path(relative).parents:
        if parent == Path():
            return
        try:
            with _folder_of(folder, str(parent), make=False) as (inside, name):
                os.rmdir(name, dir_fd=inside)
        except FileNotFoundError:
            continue
        except OSError:
            return


def remove_tree(folder: Folder, relative: str) -> None:
    """Remove a file, or a folder with all that is in it; links in it go, not what they lead to."""
    import shutil

    try:
        with _folder_of(folder, relative, make=False) as (inside, name):
            if stat.S_ISDIR(os.stat(name, dir_fd=inside, follow_symlinks=False).st_mode):
                shutil.rmtree(name, dir_fd=inside)
            else:
                os.unlink(name, dir_fd=inside)
    except OSError as error:
        raise told(folder, relative, error) from None


def remove_leftover(folder: Folder, relative: str, mark: str) -> None:
    """What a writer that was killed left beside a file."""
    path = Path(relative)
    remove_file(folder, str(path.with_name(_temporary(path.name, mark))))


def list_folders(folder: Folder) -> list[str]:
    """The names of the folders right inside; links are none."""
    return sorted(name for name, kind in things_in(folder) if kind == "folder")


def list_files(folder: Folder, within: str) -> list[str]:
    """The plain files below a folder in it, relative to that; links and hidden files are none."""
    found = walk(Folder(folder.top, f"{folder.below}/{within}".lstrip("/")))
    return [
        path
        for path, kind in found
        if kind == "file" and not any(part.startswith(".") for part in path.split("/"))
    ]


def walk(folder: Folder, depth: int = DEEPEST) -> Iterator[tuple[str, Thing]]:
    """Everything below a folder, with what it is; what a link leads to is not looked at."""
    for name, kind in things_in(folder):
        yield name, kind
        if kind == "folder" and depth > 1:
            inner = Folder(folder.top, f"{folder.below}/{name}".lstrip("/"))
            yield from ((f"{name}/{path}", thing) for path, thing in walk(inner, depth - 1))


def things_in(folder: Folder) -> list[tuple[str, Thing]]:
    """What is right inside a folder; nothing if it cannot be looked into."""
    try:
        with _opened(folder, make=False) as handle, os.scandir(handle) as entries:
            return sorted((item.name, _kind(item)) for item in entries)
    except OSError:
        return []


def _kind(item: os.DirEntry[str]) -> Thing:
    if item.is_symlink():
        return "link"
    if item.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if item.is_file(follow_symlinks=False) else "other"


def exists(folder: Folder, relative: str) -> bool:
    """Whether anything is there, be it a link that leads nowhere."""
    try:
        with _folder_of(folder, relative, make=False) as (inside, name):
            return _exists(inside, name)
    except OSError:
        return False


def move_folder(source: tuple[Folder, str], target: tuple[Folder, str]) -> None:
    """Move a folder as a whole. Where it is moved already, nothing is left to do."""
    if not exists(*source):
        return
    try:
        with (
            _folder_of(*source, make=False) as (old, old_name),
            _folder_of(*target, make=True) as (new, new_name),
        ):
            try:
                os.rename(old_name, new_name, src_dir_fd=old, dst_dir_fd=new)
            except OSError as error:
                if error.errno != errno.EXDEV:  # the archive lies on another disk
                    raise
                _copy_over(source[0].path / source[1], target[0].path / target[1])
            os.fsync(old)
            os.fsync(new)
    except OSError as error:
        raise told(*source, error) from None


def _copy_over(source: Path, target: Path) -> None:
    import shutil

    half = target.with_name(f".{target.name}{TEMPORARY}")
    shutil.rmtree(half, ignore_errors=True)
    shutil.copytree(source, half, symlinks=True)
    half.rename(target)
    gone = source.with_name(f".{source.name}{TEMPORARY}")
    source.rename(gone)  # it goes at once, not file by file
    shutil.rmtree(gone, ignore_errors=True)


def parts_of(relative: str) -> list[str]:
    """The steps of a path that stays below its folder."""
    parts = relative.split("/")
    if len(parts) > DEEPEST or any(
        part in ("", ".", "..") or "\0" in part or "\\" in part for part in parts
    ):
        raise Escapes(f"{relative[:200]!r} does not stay in its folder")
    return parts


@contextlib.contextmanager
def _folder_of(folder: Folder, relative: str, make: bool) -> Iterator[tuple[int, str]]:
    """The open folder that a file is in, and the file's name in it."""
    *steps, name = parts_of(relative)
    with _opened(folder, make, steps) as handle:
        yield handle, name


@contextlib.contextmanager
def _opened(folder: Folder, make: bool, steps: list[str] | None = None) -> Iterator[int]:
    """The folder, or one some steps below it, open; links on the way are not followed."""
    if make:
        folder.top.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder.top, FOLDER)
    try:
        for step in [*(parts_of(folder.below) if folder.below else []), *(steps or [])]:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(step, dir_fd=handle)
                    os.fsync(handle)
            inner = os.open(step, FOLDER | NO_LINK, dir_fd=handle)
            os.close(handle)
            handle = inner
        yield handle
    finally:
        os.close(handle)


def _mode_of(inside: int, name: str) -> int | None:
    """The permissions of the file that is there; a link or a folder there is not replaced."""
    try:
        found = os.stat(name, dir_fd=inside, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise Escapes(f"{name} is a link or no plain file: it is not touched")
    return stat.S_IMODE(found.st_mode)


def _exists(inside: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=inside, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _temporary(name: str, mark: str) -> str:
    return f".{name[:100]}.{mark}{TEMPORARY}"


def told(folder: Folder, relative: str, error: OSError) -> AgentlearnError:
    """What went wrong with a file, for a person."""
    path = folder.path / relative
    if error.errno in (errno.ENOTDIR, errno.ELOOP):
        return Escapes(f"{path} goes through a link or a file: it is not touched")
    return AgentlearnError(f"cannot use {path}: {error.strerror or error}")
