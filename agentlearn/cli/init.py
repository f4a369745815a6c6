"""Make this project ready for agentlearn: folders for skills and memory.

With --agent, what that agent needs to read them: a link where it looks for skills, and one line
in its CLAUDE.md, AGENTS.md or GEMINI.md that makes it read the memory. A second run changes
nothing.
"""

from __future__ import annotations

import difflib
import sys
from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.output import choose_format, write_json
from agentlearn.cli.stores import User, open_store
from agentlearn.errors import BadInput
from agentlearn.guard import one_line
from agentlearn.store.agents import AGENTS
from agentlearn.store.hooks import HOOKS, calls_left, plan_hooks, program
from agentlearn.store.setup import Step, plan_setup, set_up

FORMATS = ("text", "json")
DONE = {
    **{"make": "made", "write": "wrote", "link": "linked", "add": "added a line to"},
    **{"hook": "put hooks into", "unhook": "took the hooks out of"},
}
WOULD = {
    **{"make": "make", "write": "write", "link": "link", "add": "add a line to"},
    **{"hook": "put hooks into", "unhook": "take the hooks out of"},
}


def main(
    agent: Annotated[
        list[str] | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help=f"One of {', '.join(AGENTS)}; several: --agent codex --agent claude.",
            show_default=False,
        ),
    ] = None,
    hooks: Annotated[
        bool,
        typer.Option(
            "--hooks",
            help="Put agentlearn hook into the agent's settings (claude, codex, gemini): a session "
            "begins with what is known, and is reviewed when it ends.",
        ),
    ] = False,
    remove: Annotated[
        bool, typer.Option("--remove", help="With --hooks: take them out again.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done, and do nothing.")
    ] = False,
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    agents = _checked(agent or [], user)
    if remove and not hooks:
        raise BadInput("--remove goes with --hooks")
    if hooks and not agents:
        raise BadInput("--hooks needs an agent", "agentlearn init --agent claude --hooks")
    store = open_store(user)

    def plan() -> list[Step]:
        steps = [] if remove else plan_setup(store, agents)
        return steps + (plan_hooks(store.places, agents, remove) if hooks else [])

    steps = plan() if dry_run else set_up(store, plan)
    _hint(agents, hooks and not remove)
    _tell_of_calls(steps)
    if chosen == "json":
        write_json([_as_dict(step, dry_run) for step in steps])
        return
    words = WOULD if dry_run else DONE
    for step in steps:
        if not step.is_done:
            print(one_line(f"{words[step.action]} {_told(step)}", 500))
    if user:
        print(one_line(f"your skills: {store.places.skills}", 500))
        print(one_line(f"your memory: {store.places.memory}", 500))
    if all(step.is_done for step in steps):
        state = "none of it is there" if remove else "all of it is there"
        print(f"note: nothing to do, {state}", file=sys.stderr)


def _hint(agents: list[str], hooks: bool) -> None:
    if hooks and program() != "agentlearn":
        said = "agentlearn is not on your path: the hooks name this machine's Python"
        print(f"note: {said}, so do not share the file", file=sys.stderr)
    for name in agents if hooks else []:
        if hint := HOOKS[name].hint:
            print(f"hint: {hint}", file=sys.stderr)


def _tell_of_calls(steps: list[Step]) -> None:
    """What calls agentlearn after its hooks were taken out."""
    for step in steps:
        for command in calls_left(step.text) if step.action == "unhook" else []:
            said = f"{step.path} still has {command}: that is not ours as it stands, and stays"
            print(one_line(f"note: {said}", 500), file=sys.stderr)


def _checked(names: list[str], user: bool) -> list[str]:
    for name in names:
        if name not in AGENTS:
            near = difflib.get_close_matches(name, AGENTS, 1)
            hint = f"did you mean {near[0]}?" if near else f"agents are: {', '.join(AGENTS)}"
            raise BadInput(f"--agent {name[:80]} is not known", hint)
    if names and user:
        raise BadInput(
            "--agent is for a project, not for your own store",
            "name its folders in the agent's own settings: agentlearn init --user shows them",
        )
    return list(dict.fromkeys(names))


def _told(step: Step) -> str:
    if step.action == "link":
        return f"{step.path} -> {step.text}"
    if step.removes_file:
        return f"{step.path}: the file has nothing else in it and goes with them"
    return f"{step.path}: {step.line}" if step.action == "add" else step.path


def _as_dict(step: Step, dry_run: bool) -> dict[str, str | None]:
    status = "there" if step.is_done else "planned" if dry_run else "done"
    target = step.text if step.action == "link" and not step.is_done else None
    return {
        "action": step.action,
        "path": step.path,
        "status": status,
        "target": target,
        "line": step.line or None,
    }
