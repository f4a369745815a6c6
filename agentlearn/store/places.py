"""Where a store lies: a project's, or the person's own.

A project's skills are in `.agents/skills`, which nearly every agent reads; its memory and journal
in `.agentlearn/`. What a repository brings along (its settings, its links) may move the skills
within the project only: who clones it has named no other folder.
"""

from __future__ import annotations

import os
from pathlib import Path

from msgspec import Struct

from agentlearn.errors import BadInput
from agentlearn.store.files import Escapes, Folder

OWN = ".agentlearn"
DEFAULT_SKILLS = ".agents/skills"
IGNORED = """\
# All of this is yours alone, but the project's memory.
*
!memory/
memory/*
!memory/MEMORY.md
"""


class Places(Struct, frozen=True):
    home: Path
    """The folder that all of it is in: the project, or the person's data folder."""
    own: Path
    """Journal, lock, memory, archive."""
    skills: Path

    @property
    def memory(self) -> Path:
        return self.own / "memory"

    @property
    def archive(self) -> Path:
        return self.own / "archive"

    @property
    def journal(self) -> Path:
        return self.own / "journal.jsonl"

    @property
    def lock(self) -> Path:
        return self.own / "lock"

    @property
    def events(self) -> Path:
        return self.own / "events.jsonl"

    def folder(self, path: Path) -> Folder:
        """A folder of the store: below its home no link is followed."""
        if path.is_relative_to(self.home):
            below = path.relative_to(self.home).as_posix()
            return Folder(self.home, "" if below == "." else below)
        return Folder(path)

    def root(self, logical: str) -> tuple[Folder, str]:
        """The folder, and the path in it, that a logical path stands for."""
        root, _, rest = logical.partition("/")
        known = {"skills": self.skills, "memory": self.memory, "archive": self.archive}
        if root not in known:
            raise Escapes(f"{logical[:200]!r} is in no folder of the store")
        return self.folder(known[root]), rest

    def shown(self, logical: str) -> str:
        """A logical path as a person finds it, from the folder they are in if that is shorter."""
        folder, rest = self.root(logical)
        return shown_path(folder.path / rest)


def shown_path(path: Path) -> str:
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def project_places(project: Path, skills_dir: str | None = None, origin: str = "default") -> Places:
    """The store of a project. `skills_dir` may lie outside only if the person said so."""
    own = project / OWN
    if own.is_symlink():
        raise BadInput(f"{own} is a link: the store of a project is a folder of its own")
    named = project / Path(skills_dir or DEFAULT_SKILLS).expanduser()
    real, real_project = _real(named), _real(project)
    if real == real_project or ".git" in real.parts or OWN in real.parts:
        raise BadInput(f"{named} is no place for skills: name a folder of their own")
    if real.is_relative_to(real_project):  # also through a link that stays inside
        return Places(project, own, project / real.relative_to(real_project))
    is_the_persons = (
        origin.startswith("--")
        or origin.startswith("AGENTLEARN_")
        or (origin != "default" and Path(origin).parent != project)
    )
    if not is_the_persons:
        raise BadInput(
            f"{named} leads out of the project, to {real}",
            "to keep skills there, name it yourself: AGENTLEARN_SKILLS_DIR or --user",
        )
    return Places(project, own, real)


def user_places() -> Places:
    """The person's own store, where the platform keeps data."""
    if home := os.environ.get("AGENTLEARN_HOME"):
        own = Path(home).absolute()
    else:
        import platformdirs

        own = platformdirs.user_data_path("agentlearn")
    return Places(own, own, _real(own / "skills"))


def _real(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError) as error:  # links that go round in circles; NUL
        raise BadInput(f"{str(path)!r} is no folder: {error}") from None
