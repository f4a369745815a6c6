"""Run an agent on a task again and again, until a shell command says that it is done.

Each attempt starts from a fresh copy of the task's folder; the original is never touched. After a
failure something is learned in words and told to the next attempt. `new` writes a task file to
start from, `apply RUN` applies the best attempt's patch to the original. Exit 0 passed, 1 not
passed, 2 bad task, 4 the model failed, 130 interrupted: `--resume RUN` goes on.
"""

from __future__ import annotations

from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.output import choose_format
from agentlearn.errors import BadInput

FORMATS = ("text", "json", "jsonl")
ACTIONS = ("new", "apply")


def main(
    action: Annotated[
        str | None,
        typer.Argument(metavar="[new|apply]", show_default=False, help="None: run tasks."),
    ] = None,
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE|RUN]",
            show_default=False,
            help="The file that new writes (task.yaml); the run whose patch apply takes.",
        ),
    ] = None,
    task: Annotated[
        list[str] | None,
        typer.Option(
            "--task",
            metavar="FILE|FOLDER",
            help="A task file; several, or a folder of them, make a suite.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        str | None,
        typer.Option(
            "--resume",
            metavar="RUN",
            help="Go on with a run that was stopped, at the attempt that was not finished.",
            show_default=False,
        ),
    ] = None,
    max_episodes: Annotated[
        int | None,
        typer.Option(
            "--max-episodes",
            metavar="N",
            min=1,
            max=1000,
            help="Attempts at most, instead of what the task says; with --resume, more of them.",
            show_default=False,
        ),
    ] = None,
    no_reflect: Annotated[
        bool,
        typer.Option("--no-reflect", help="The control: the same attempts, without reflections."),
    ] = False,
    no_early_stop: Annotated[
        bool,
        typer.Option("--no-early-stop", help="Go on also when a reflection says nothing new."),
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            metavar="NAME",
            help="The model that reflects, where the task leaves it open (default: rules).",
            show_default=False,
        ),
    ] = None,
    jobs: Annotated[
        int,
        typer.Option(
            "--jobs",
            metavar="N",
            min=1,
            max=64,
            help="Tasks of a suite that run side by side (default 1).",
            show_default=False,
        ),
    ] = 1,
    episode: Annotated[
        int | None,
        typer.Option(
            "--episode",
            metavar="N",
            min=0,
            help="Apply this episode's patch, counted from 0, also if it did not pass.",
            show_default=False,
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="new: write over a file that is there.")
    ] = False,
    events: options.Events = None,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    from agentlearn.cli import reflexion_run as run

    chosen = choose_format(format, json, FORMATS)
    if action == "new":
        run.write_new(name or "task.yaml", force)
    elif action == "apply":
        run.apply(name, episode, chosen)
    elif action is not None:
        raise BadInput(f"{action[:80]!r} is none of {', '.join(ACTIONS)}", _near(action))
    elif bool(task) == bool(resume):
        raise BadInput(
            "name a task or a run: --task FILE, or --resume RUN",
            "agentlearn reflexion new writes a task file to start from",
        )
    else:
        wanted = run.wanted(max_episodes, no_reflect, no_early_stop, model)
        code = run.run(task or [], resume, wanted, jobs, events, chosen, model)
        if code:
            raise typer.Exit(code)


def _near(action: str) -> str:
    if action.endswith((".yaml", ".yml")):
        return f"agentlearn reflexion --task {action}"
    return "agentlearn reflexion --help shows what it takes"
