"""What each session was worth: rewards, and their discounted sum from each turn to the end.

returns[t] = reward[t] + gamma * returns[t+1], and a session's return is that of its first turn.
Rewards come from verdicts, from what the person did and said, and from what the tools said;
the table and the JSON say how much is which. --explain shows the lines behind each.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.load import Loader
from agentlearn.cli.output import choose_format
from agentlearn.config import resolve

FORMATS = ("text", "json", "jsonl", "csv")


def main(
    sessions: options.Sessions = None,
    gamma: options.Gamma = None,
    per_turn: Annotated[bool, typer.Option("--per-turn", help="Turn by turn.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the lines behind each reward.")
    ] = False,
    advantage: Annotated[
        str | None,
        typer.Option(
            "--advantage",
            metavar="grpo|rloo",
            help="Compare each session with the others of its task.",
            show_default=False,
        ),
    ] = None,
    group_by: Annotated[
        str | None,
        typer.Option(
            "--group-by",
            metavar="KEY",
            help="What makes sessions the same task: goal, agent, model, dialect, cwd or "
            "metadata.KEY (default: metadata.task, else the goal).",
            show_default=False,
        ),
    ] = None,
    rewards: options.RewardRules = None,
    labels: options.Labels = None,
    evaluator: options.Evaluator = None,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            metavar="N",
            help="Processes that read large native files (default 1).",
            show_default=False,
        ),
    ] = None,
    latest: options.Latest = False,
    strict: options.Strict = None,
) -> None:
    from agentlearn.cli import returns_output as output
    from agentlearn.cli.score import Scorer

    chosen = choose_format(format, json, FORMATS)
    settings = resolve(gamma=gamma, rewards=rewards, jobs=jobs, strict=strict)
    scorer = Scorer(settings, labels, evaluator, group_by)
    if group_by is not None and advantage is None:
        scorer.group_by = None
        print("note: --group-by has no effect without --advantage", file=sys.stderr)
    printer = output.printer(
        chosen, settings.gamma, per_turn=per_turn, explain=explain, advantage=advantage
    )
    loader = Loader(sessions, latest, settings.strict, keep_bytes=printer.needs_hashes)
    for scored in scorer.score(loader, texts=printer.needs_texts):
        printer.add(scored)
    printer.finish()
    scorer.finish()
    loader.finish()
