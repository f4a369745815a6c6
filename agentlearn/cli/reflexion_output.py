"""What `agentlearn reflexion` shows: a line a step as it runs, a table and a curve at the end."""

from __future__ import annotations

import sys
import time
from typing import Any

from agentlearn.cli.output import terminal_width, write_table
from agentlearn.events import EpisodeJudged, Event, Progress, ReflectionGenerated
from agentlearn.guard import one_line, plain
from agentlearn.reflexion.folder import RunFolder
from agentlearn.reflexion.run import Finished
from agentlearn.reflexion.suite import Curve
from agentlearn.reflexion.values import Episode
from agentlearn.store.places import shown_path

DOING = {"attempting": "running", "evaluating": "judging", "reflecting": "reflecting"}
BAR = 24


class Teller:
    """Steps on stderr: a live line on a terminal, a plain line an event elsewhere."""

    def __init__(self, task: str) -> None:
        self.task = task
        self.status: Any = None
        self.episodes = 0
        self.line = ""
        self.since = time.monotonic()
        if sys.stderr.isatty():
            from rich.console import Console

            self.status = Console(stderr=True).status("")

    def __rich__(self) -> Any:
        """The live line: what is being done, and for how long."""
        from rich.text import Text

        return Text(f"{self.line} ({time.monotonic() - self.since:.0f} s)")

    def __call__(self, event: Event) -> None:
        if isinstance(event, Progress):
            self.episodes = event.max_iterations
            self.say(f"{self.at(event.iteration)}: {DOING.get(event.status, event.status)}", True)
        elif isinstance(event, EpisodeJudged):
            verdict = "passed" if event.passed else "not passed"
            score = f", score {event.score:g}" if event.score is not None else ""
            touched = ", changed protected files (put back)" if event.tampered else ""
            took = f"{event.elapsed_ms / 1000:.1f} s"
            took += f", {event.tokens:,} tokens" if event.tokens else ""
            self.say(f"{self.at(event.episode + 1)}: {verdict}{score}{touched}, {took}")
        elif isinstance(event, ReflectionGenerated) and self.status is None:
            self.say(f"{self.at(event.episode + 1)}: reflected")

    def at(self, number: int) -> str:
        return f"{self.task}, attempt {number} of {self.episodes or '?'}"

    def say(self, line: str, live: bool = False) -> None:
        if self.status is not None and live:
            self.line, self.since = line, time.monotonic()
            self.status.update(self)
            self.status.start()
            return
        self.stop()
        print(line, file=sys.stderr, flush=True)

    def stop(self) -> None:
        if self.status is not None:
            self.status.stop()


def as_dict(finished: Finished) -> dict[str, Any]:
    folder = RunFolder(finished.folder)
    usage = finished.usage
    return {
        "run": finished.run.id,
        "task": finished.run.task,
        "passed": finished.passed,
        "ending": finished.ending,
        "episodes": [_episode(folder, episode) for episode in finished.episodes],
        "usage": {"input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens},
    }


def _episode(folder: RunFolder, episode: Episode) -> dict[str, Any]:
    attempt, evaluation = episode.attempt, episode.attempt.evaluation
    place = folder.at(episode.index)
    return {
        "index": episode.index,
        "passed": episode.passed,
        "score": episode.score,
        "evaluation": {
            "exit_code": evaluation.exit_code,
            "score": evaluation.score,
            "timed_out": evaluation.timed_out,
            "reason": evaluation.reason,
            "stdout": evaluation.stdout,
            "stderr": evaluation.stderr,
            "elapsed_ms": evaluation.elapsed_ms,
        },
        "reflection": episode.reflection,
        "prior_reflections": list(episode.prior_reflections),
        "transcript": shown_path(place.session) if place.session.is_file() else None,
        "patch": shown_path(place.patch) if place.patch.is_file() else None,
        "duration_ms": attempt.duration_ms,
        "tampered": bool(attempt.tampered),
        "tampered_files": list(attempt.tampered),
        "timed_out": attempt.timed_out,
        "problem": attempt.problem or episode.reflector_problem,
        "usage": {
            "input_tokens": episode.usage.input_tokens,
            "output_tokens": episode.usage.output_tokens,
        },
    }


def print_result(finished: Finished) -> None:
    rows = [_row(episode) for episode in finished.episodes]
    columns = ["attempt", "verdict", "score", "time", "tokens", "files changed", "note"]
    if not any(row[4] != "–" for row in rows):
        columns.pop(4)
        rows = [row[:4] + row[5:] for row in rows]
    write_table(columns, rows, stretch=len(columns) - 1)
    for episode in finished.episodes:
        if episode.reflection:
            print(f"\nlearned from attempt {episode.index + 1}:")
            print(wrapped(plain(episode.reflection)))
    print()
    print(_closing(finished))
    if finished.passed:
        print(f"hint: agentlearn reflexion apply {finished.run.id}", file=sys.stderr)


def wrapped(text: str) -> str:
    import textwrap

    width = max(40, min(terminal_width(), 100))
    return textwrap.fill(
        text, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )


def _row(episode: Episode) -> list[str]:
    attempt = episode.attempt
    verdict = "passed" if episode.passed else "timed out" if attempt.timed_out else "not passed"
    tokens = episode.usage.input_tokens + episode.usage.output_tokens
    note = attempt.problem or attempt.evaluation.reason or episode.reflector_problem or ""
    if attempt.tampered:
        note = f"protected files were changed, and put back; {note}".rstrip("; ")
    return [
        str(episode.index + 1),
        verdict,
        "–" if episode.score is None else f"{episode.score:g}",
        f"{attempt.duration_ms / 1000:.1f} s",
        f"{tokens:,}" if tokens else "–",
        str(len(attempt.changed)),
        plain(note),
    ]


def _closing(finished: Finished) -> str:
    count = len(finished.episodes)
    attempts = f"{count} attempt{'s' * (count != 1)}"
    told = {
        "passed": f"passed after {attempts}",
        "max_episodes": f"not passed in {attempts}",
        "no_new_idea": f"not passed: no new idea after {attempts}",
    }[finished.ending]
    return f"{finished.run.task}: {told} (run {finished.run.id})"


def print_suite(results: list[dict[str, Any]]) -> None:
    rows = []
    for result in results:
        episodes = result["episodes"]
        scores = [each["score"] for each in episodes if each["score"] is not None]
        seconds = sum(each["duration_ms"] for each in episodes) / 1000
        rows.append(
            [
                result["task"],
                "passed" if result["passed"] else "not passed" if result["run"] else "failed",
                str(len(episodes)),
                f"{max(scores):g}" if scores else "–",
                f"{seconds:.1f} s",
                one_line(result["run"] or f"exit code {result['exit_code']}", 60),
            ]
        )
    write_table(["task", "verdict", "attempts", "best score", "time", "run"], rows, stretch=5)


def print_curves(curves: list[Curve]) -> None:
    """How many tasks were solved after each attempt, as numbers and as bars."""
    for curve in curves:
        print()
        print(f"{'with' if curve.reflects else 'without'} reflections, of {curve.tasks} tasks:")
        for number, solved in enumerate(curve.solved, 1):
            bar = "█" * round(BAR * solved / curve.tasks)
            print(f"  solved after attempt {number}: {solved:3}  {bar}".rstrip())
