"""Where an attempt happens: a fresh copy of the task's folder, outside of the project.

The first copy, `base`, is made once a run: every attempt starts from it, and the judge's files come
from it, whatever the person does to the original meanwhile. Whether anybody changed it is seen by
what no program can set. What an attempt changed is seen with a git folder outside of the workspace,
whose settings are written anew before each use: so nothing that an agent does makes git run
anything, and the agent's own repository is left alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from agentlearn.errors import AgentlearnError
from agentlearn.reflexion.copying import LEFT_OUT, copy_folder, own_git, remove
from agentlearn.reflexion.git import GitFailed, git
from agentlearn.reflexion.protect import CACHES, digest_of, put_back

NOT_IN_PATCHES = "".join(f"{name}\n" for name in sorted({*CACHES, "*.pyc", LEFT_OUT}))
SETTINGS = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tbigFileThreshold = 1m\n"
HIDDEN_GIT = ".git-of-a-repository-inside"
MOST_PATCHED = 50 * 1024 * 1024
"""A larger file that an attempt made is no part of its patch."""
OLD_SECONDS = 14 * 86_400


def workspaces_folder() -> Path:
    """Outside of every project: tools look upward for settings, and agents look around."""
    if home := os.environ.get("AGENTLEARN_HOME"):
        return Path(home).absolute() / "workspaces"
    import platformdirs

    return platformdirs.user_cache_path("agentlearn") / "workspaces"


def remove_old_workspaces() -> None:
    """Those of runs that were stopped two weeks ago and never resumed."""
    folder = workspaces_folder()
    if folder.is_dir():
        for path in folder.iterdir():
            with contextlib.suppress(OSError):
                if time.time() - path.lstat().st_mtime > OLD_SECONDS:
                    remove(path)


class Workspaces:
    """The copies of one run."""

    def __init__(self, run: str, original: Path, protect: tuple[str, ...]) -> None:
        self.original = original
        self.protect = protect
        self.folder = workspaces_folder() / run
        self.base = self.folder / "base" / (original.name or "workspace")
        self.signature: str | None = None

    def make_base(self) -> str:
        """Copy the original, once; the hash of all that is in the copy."""
        remove_old_workspaces()
        remove(self.folder)
        self.folder.mkdir(parents=True, mode=0o700)
        copy_folder(self.original, self.base, workspaces_folder())
        own_git(self.base, self.original)
        return self.find_base()

    def find_base(self) -> str:
        """The hash of all that is in the base now; from here on nobody may change it."""
        if not self.base.is_dir():
            return ""
        self.signature = signature_of(self.base)
        return digest_of(self.base, tuple(path.name for path in _top(self.base)))

    def check_base(self) -> None:
        """Nobody has changed what attempts start from and what the judge will use."""
        if self.signature != signature_of(self.base):
            raise BaseChanged("the copy that attempts start from was changed by the attempt")

    def fresh(self, episode: int) -> Workspace:
        """A new copy for an attempt; what a killed one left is thrown away."""
        made = self.at(episode)
        remove(made.path.parent)
        remove(made.shadow)
        copy_folder(self.base, made.path)
        made.begin()
        return made

    def at(self, episode: int) -> Workspace:
        folder = self.folder / str(episode)
        return Workspace(folder / self.base.name, self.folder / f"{episode}.git", self)

    def remove(self) -> None:
        remove(self.folder)


def _top(folder: Path) -> list[Path]:
    """What is in a folder, but for git's own files: they differ from copy to copy."""
    return sorted(path for path in folder.iterdir() if path.name != ".git")


class BaseChanged(AgentlearnError):
    """An attempt reached out of its workspace."""


def signature_of(folder: Path) -> str:
    """Names, sizes and the times of the last change, which no program can set."""
    digest = hashlib.sha256()
    for here, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted([*folders, *files]):
            path = os.path.join(here, name)  # noqa: PTH118
            try:
                found = os.lstat(path)
            except OSError:
                continue
            told = f"{path}\0{found.st_mode}\0{found.st_size}\0{found.st_ctime_ns}\n"
            digest.update(told.encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


class Workspace:
    def __init__(self, path: Path, shadow: Path, among: Workspaces) -> None:
        self.path = path
        self.shadow = shadow
        self.among = among

    def begin(self) -> None:
        """Note what stands there before the attempt."""
        git("init", "--quiet", "--bare", self.shadow)
        self._settle()
        with self._inner_repositories_hidden():
            self._git("add", "--all", "--ignore-errors")
            self._add_ignored()
            self._git("update-ref", "refs/start", self._git("write-tree").strip())

    def _add_ignored(self) -> None:
        """Files that the project's own git knows although they match its `.gitignore`."""
        base = self.among.base
        with contextlib.suppress(GitFailed):
            listed = git(
                "-C", base, "ls-files", "-z", "--cached", "--ignored", "--exclude-standard"
            )
            names = [name for name in listed.split("\0") if name and (self.path / name).is_file()]
            for start in range(0, len(names), 500):
                self._git("add", "--force", "--", *names[start : start + 500])

    def make_real(self) -> None:
        """The workspace is a folder where it was: an agent may have removed it or left a link."""
        for path in (self.path.parent, self.path):
            if path.is_symlink() or not path.is_dir():
                remove(path)
                path.mkdir(parents=True)

    def put_back(self) -> list[str]:
        """Protected files as they were; those that the agent had changed."""
        return put_back(self.among.base, self.path, self.among.protect)

    def write_patch(self, patch: Path) -> tuple[list[str], list[str]]:
        """What the attempt changed, to a file: the files that it touched, and those too large."""
        self._settle()
        too_large = self._too_large()
        with self._inner_repositories_hidden():
            exclude_file = self.shadow / "info" / "exclude"
            with exclude_file.open("a", encoding="utf-8", errors="surrogateescape") as exclude:
                exclude.writelines(f"/{_escaped(name)}\n" for name in too_large)
            with contextlib.suppress(GitFailed):  # a file that cannot be read: the others are there
                self._git("add", "--all", "--ignore-errors")
            what = ("diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv",
                    "--no-renames", "refs/start")  # fmt: skip
            with patch.open("wb") as file:
                self._git(*what, "--binary", stdout=file)
            names = self._git(*what, "--name-only", "-z")
        return [name for name in names.split("\0") if name], too_large

    def remove(self) -> None:
        remove(self.path.parent)
        remove(self.shadow)

    def _settle(self) -> None:
        """The settings of the outer git folder, whatever was done to them."""
        for name in ("hooks", "info", "commondir", "config.worktree", "config"):
            remove(self.shadow / name)
        (self.shadow / "info").mkdir(parents=True)
        (self.shadow / "config").write_text(SETTINGS)
        (self.shadow / "info" / "exclude").write_text(NOT_IN_PATCHES)

    def _too_large(self) -> list[str]:
        """Files over the limit that are not in the base as they are."""
        found = []
        for path in _files(self.path):
            size = path.lstat().st_size
            if size > MOST_PATCHED and not path.is_symlink():
                name = path.relative_to(self.path)
                known = self.among.base / name
                if not known.is_file() or known.stat().st_size != size:
                    found.append(name.as_posix())
        return found

    @contextlib.contextmanager
    def _inner_repositories_hidden(self) -> Iterator[None]:
        """Git takes a folder with a `.git` in it for a thing of its own, and sees none of it."""
        moved = []
        for here, folders, files in os.walk(self.path):
            if ".git" in (*folders, *files) and Path(here) != self.path:
                inner = Path(here) / ".git"
                with contextlib.suppress(OSError):
                    inner.rename(inner.with_name(HIDDEN_GIT))
                    moved.append(inner)
            folders[:] = [name for name in folders if name not in (".git", HIDDEN_GIT)]
        exclude = self.shadow / "info" / "exclude"
        try:
            with exclude.open("a") as file:
                file.write(f"{HIDDEN_GIT}\n")
            yield
        finally:
            for inner in moved:
                with contextlib.suppress(OSError):
                    inner.with_name(HIDDEN_GIT).rename(inner)

    def _git(self, *args: str, stdout: object = None) -> str:
        where = (f"--git-dir={self.shadow}", f"--work-tree={self.path}")
        return git(*where, *args, stdout=stdout, cwd=self.path)  # type: ignore[arg-type]


def _files(folder: Path) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name != ".git"]
        yield from (Path(here) / name for name in files)


def _escaped(name: str) -> str:
    """A name as a pattern that only it matches."""
    return "".join(f"\\{char}" if char in "\\*?[ #!" else char for char in name)


def shown_name(name: str) -> str:
    """The name of a file as text: not every name is UTF-8."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
