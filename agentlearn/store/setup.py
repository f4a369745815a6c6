"""Make a project ready: the folders of the store, and what each agent needs to read it.

Everything is looked at before anything is done. A second run finds nothing to do. What a person
has there is never replaced: a folder of skills where a link would go is told, and left.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.store import files
from agentlearn.store.agents import AGENTS, MEMORY, Agent, line_for
from agentlearn.store.files import Folder
from agentlearn.store.memory import HEADS
from agentlearn.store.places import IGNORED, Places
from agentlearn.store.skill import like
from agentlearn.store.store import GITIGNORE, Store

MARK = "init"


class Step(Struct, frozen=True):
    action: Literal["make", "write", "link", "add", "hook", "unhook"]
    path: str
    """Relative to the home of the store."""
    text: str = ""
    """What is written, what the link leads to, or the file with the line added."""
    line: str = ""
    """The line that is added."""
    is_done: bool = False

    @property
    def removes_file(self) -> bool:
        """Of a file that held nothing but our hooks nothing is left."""
        return self.action == "unhook" and not self.text


def set_up(store: Store, plan: Callable[[], list[Step]]) -> list[Step]:
    """Do what has to be done; nothing at all if a part of it cannot be."""
    steps = plan()
    places = store.places
    home = Folder(places.home)
    with store.writing():  # no two of these at once, and none on a file that changed meanwhile
        for step in plan():
            if step.is_done:
                continue
            if step.action == "make":
                files.make_folder(places.folder(places.skills))
            elif step.action == "link":
                files.make_link(home, step.path, step.text)
            elif step.removes_file:
                files.remove_file(home, step.path)
            else:
                files.write_text(home, step.path, step.text, MARK)
    return steps


def plan_setup(store: Store, names: list[str]) -> list[Step]:
    """What has to be done, and what is done already."""
    places = store.places
    skills = os.path.relpath(places.skills, places.home)
    steps = [Step("make", skills, is_done=places.skills.is_dir())]
    if places.own != places.home:
        steps.append(_write(places, places.own / GITIGNORE, IGNORED))
        steps.append(_write(places, places.memory / "MEMORY.md", HEADS["MEMORY"]))
    told: set[str] = set()
    for name in sorted(names, key=lambda name: AGENTS[name].prefers is not None):
        agent = AGENTS[name]
        steps += [*_link(places, agent), *_instruct(places, agent, told)]
    return list({(step.action, step.path): step for step in steps}.values())


def _write(places: Places, path: Path, text: str) -> Step:
    relative = path.relative_to(places.home).as_posix()
    return Step("write", relative, text, is_done=files.exists(Folder(places.home), relative))


def _link(places: Places, agent: Agent) -> list[Step]:
    """A link to the skills where the agent looks for them, unless it finds them as they lie."""
    reads = [places.home / folder for folder in agent.skills]
    if any(_is_same(folder, places.skills) for folder in reads):
        own = agent.skills[0]
        is_linked = (places.home / own).is_symlink()
        return [Step("link", own, is_done=True)] if is_linked else []
    wanted = agent.skills[0]
    path = places.home / wanted
    is_outside = not places.skills.is_relative_to(places.home)
    target = str(places.skills if is_outside else os.path.relpath(places.skills, path.parent))
    if path.is_symlink():
        raise BadInput(
            f"{path} is a link to {path.readlink()}, not to {places.skills}",
            f"remove it, or keep the skills there: skills_dir = {wanted!r} in agentlearn.toml",
        )
    if path.exists():
        count = len(files.list_folders(places.folder(path)))
        raise BadInput(
            f"{path} is a folder of its own, with {count} skill{'s' * (count != 1)}",
            f'keep all skills there: skills_dir = "{wanted}" in agentlearn.toml; '
            f"or move them to {places.skills} and run this again",
        )
    return [Step("link", wanted, target)]


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.resolve() == other.resolve()
    except (OSError, RuntimeError):
        return False


def _instruct(places: Places, agent: Agent, told: set[str]) -> list[Step]:
    """The line that makes an agent read the memory, in the file that it reads.

    `told` are the files that have it, or get it, already.
    """
    known = [name for name in agent.instructions if _is_there(places.home / name)]
    name = known[0] if known else agent.instructions[0]
    line = line_for(name)
    path = inside_project(places, name, line)
    before = files.read_text(Folder(places.home), path)
    other = agent.prefers if agent.prefers and (places.home / agent.prefers).is_file() else None
    takes_in_other = other is not None and (before is None or f"@{other}" in before)
    is_told = takes_in_other and (other in told or _names_memory(places, other or ""))
    told.add(path)
    if before is not None and (MEMORY in before or is_told):
        return [Step("add", path, line=line, is_done=True)]
    lines = [] if is_told else [line]
    if before is None and other:
        # Without a file of its own, the agent reads the other one: it must not lose that.
        lines = [f"@{other}", "", *lines] if lines else [f"@{other}"]
    return [Step("add", path, with_lines(before, lines), lines[-1])]


def reads_memory(places: Places, name: str) -> bool:
    """Whether an agent reads the memory by itself, through the line that stands there for it."""
    try:
        return all(step.is_done for step in _instruct(places, AGENTS[name], set()))
    except AgentlearnError:  # what cannot be read or leads elsewhere is no line of ours
        return False


def _names_memory(places: Places, name: str) -> bool:
    path = inside_project(places, name, line_for(name))
    return MEMORY in (files.read_text(Folder(places.home), path) or "")


def _is_there(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def inside_project(places: Places, name: str, line: str) -> str:
    """The file itself where CLAUDE.md is a link to AGENTS.md; no link leads out of the project."""
    try:
        real = (places.home / name).resolve()
        return real.relative_to(places.home.resolve()).as_posix()
    except (OSError, RuntimeError, ValueError):
        raise BadInput(
            f"{places.home / name} leads out of the project: it is not touched",
            f"add this line to it yourself: {line}",
        ) from None


def with_lines(before: str | None, lines: list[str]) -> str:
    """A text with lines at its end, after a blank one; its line ends are kept."""
    text = before or ""
    gap = "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"
    if text.endswith(("\n\n", "\r\n\r\n")):
        gap = ""
    return text + like(text, gap + "\n".join(lines) + "\n")
