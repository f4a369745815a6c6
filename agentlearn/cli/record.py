"""Write a session from a shell script, a line per call; safe from several processes at once.

\b
id=$(agentlearn record run.jsonl --goal "Fix the bug")
agentlearn record run.jsonl --session $id --action "run tests" --observation "1 failed"
agentlearn record run.jsonl --session $id --outcome success
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from agentlearn.errors import BadInput


def main(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file that is written, or added to.")
    ],
    goal: Annotated[
        str | None,
        typer.Option(
            "--goal", metavar="TEXT", help="Start a session; its id is printed.",
            show_default=False,
        ),
    ] = None,
    action: Annotated[
        str | None,
        typer.Option(
            "--action", metavar="TEXT", help="Add a turn: what was done.", show_default=False
        ),
    ] = None,
    observation: Annotated[
        str | None,
        typer.Option(
            "--observation", metavar="TEXT", help="What came back from the action.",
            show_default=False,
        ),
    ] = None,
    reward: Annotated[
        str | None,
        typer.Option(
            "--reward", metavar="+0.1|-0.2|0|terminal:1", help="What it was worth.",
            show_default=False,
        ),
    ] = None,
    outcome: Annotated[
        str | None,
        typer.Option(
            "--outcome", metavar="success|failure|aborted:REASON", help="End the session.",
            show_default=False,
        ),
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session", metavar="ID", help="Which session; with --goal, its id.",
            show_default=False,
        ),
    ] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent", metavar="NAME", help="With --goal: who works.", show_default=False
        ),
    ] = None,
    task: Annotated[
        str | None,
        typer.Option(
            "--task", metavar="NAME", help="With --goal: the task, for comparing sessions.",
            show_default=False,
        ),
    ] = None,
) -> None:  # fmt: skip
    from agentlearn.sessions import record

    asked = [name for name, value in (("--goal", goal), ("--action", action)) if value is not None]
    asked += ["--outcome"] if outcome is not None else []
    if len(asked) != 1:
        what = "nothing to record" if not asked else f"{' and '.join(asked)} at once"
        raise BadInput(f"{what}: give one of --goal, --action or --outcome")
    if action is None and (observation is not None or reward is not None):
        raise BadInput("--observation and --reward belong to --action")
    if goal is not None:
        fields: dict[str, Any] = {"agent": agent, "metadata": {"task": task} if task else None}
        print(record.start_session(file, goal, fields, session))
    elif action is not None:
        record.add_turn(file, session, action, observation, reward)
    elif outcome is not None:
        record.end_session(file, session, outcome)
