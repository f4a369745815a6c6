"""Where an attempt happens: a fresh copy of the task's folder, outside of the project.

The first copy, `base`, is made once a run: every attempt starts from it, and the judge's files come
from it, whatever the person does to the original meanwhile. What an attempt changed is seen with a
git folder that lies outside of the workspace, so it takes nothing from the agent's own.
"""

from __future__ import annotations

import os
from pathlib import Path

from agentlearn.errors import AgentlearnError
from agentlearn.reflexion.copying import copy_folder, own_git, remove
from agentlearn.reflexion.git import GitFailed, git
from agentlearn.reflexion.protect import digest_of, put_back

NOT_IN_PATCHES = "__pycache__/\n*.pyc\n.pytest_cache/\n.mypy_cache/\n.ruff_cache/\n.DS_Store\n"


def workspaces_folder() -> Path:
    """Outside of every project: tools look upward for settings, and agents look around."""
    if home := os.environ.get("AGENTLEARN_HOME"):
        return Path(home).absolute() / "workspaces"
    import platformdirs

    return platformdirs.user_cache_path("agentlearn") / "workspaces"


class Workspaces:
    """The copies of one run."""

    def __init__(self, run: str, original: Path, protect: tuple[str, ...]) -> None:
        self.original = original
        self.protect = protect
        self.folder = workspaces_folder() / run
        self.base = self.folder / "base" / (original.name or "workspace")

    def make_base(self) -> str:
        """Copy the original, once; the hash of what is protected in it."""
        remove(self.folder)
        self.folder.mkdir(parents=True, mode=0o700)
        copy_folder(self.original, self.base, workspaces_folder())
        own_git(self.base, self.original)
        return digest_of(self.base, self.protect)

    def check_base(self, digest: str) -> None:
        """Nobody has changed the originals that the judge will use."""
        if digest_of(self.base, self.protect) != digest:
            raise AgentlearnError("the protected originals were changed during the run")

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


class Workspace:
    def __init__(self, path: Path, shadow: Path, among: Workspaces) -> None:
        self.path = path
        self.shadow = shadow
        self.among = among

    def begin(self) -> None:
        """Note what stands there before the attempt."""
        git("init", "--quiet", "--bare", self.shadow)
        (self.shadow / "info").mkdir(exist_ok=True)
        (self.shadow / "info" / "exclude").write_text(NOT_IN_PATCHES)
        self._git("add", "--all", "--ignore-errors")
        self._git("update-ref", "refs/start", self._git("write-tree").strip())

    def put_back(self) -> list[str]:
        """Protected files as they were; those that the agent had changed."""
        self.path.mkdir(parents=True, exist_ok=True)  # it may have removed all of it
        return put_back(self.among.base, self.path, self.among.protect)

    def write_patch(self, patch: Path) -> list[str]:
        """What the attempt changed, to a file; the names of the files that it touched."""
        try:
            self._git("add", "--all", "--ignore-errors")
        except GitFailed:
            pass  # a file that cannot be read: the others are there
        what = ("diff", "--cached", "--no-color", "--no-ext-diff", "--no-textconv", "refs/start")
        with patch.open("wb") as file:
            self._git(*what, "--binary", stdout=file)
        names = self._git(*what, "--name-only", "-z")
        return [name for name in names.split("\0") if name]

    def remove(self) -> None:
        remove(self.path.parent)
        remove(self.shadow)

    def _git(self, *args: str, stdout: object = None) -> str:
        where = (f"--git-dir={self.shadow}", f"--work-tree={self.path}")
        return git(*where, *args, stdout=stdout, cwd=self.path)  # type: ignore[arg-type]
