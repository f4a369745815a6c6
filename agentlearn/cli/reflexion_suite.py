"""A suite of `agentlearn reflexion`: every task in a process of its own, some of them side by side.

That keeps them apart: each process is the one that what its agents leave running belongs to.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import orjson

from agentlearn.cli.app import INTERRUPTED
from agentlearn.cli.load import WORST_FIRST
from agentlearn.cli.output import write_json
from agentlearn.cli.reflexion_output import print_curves, print_suite
from agentlearn.reflexion.folder import RunFolder, runs_folder
from agentlearn.reflexion.run import Wanted
from agentlearn.reflexion.suite import Curve, curves
from agentlearn.reflexion.task_file import load_task


def flags_for(wanted: Wanted, events: str | None) -> list[str]:
    """What was asked of the suite, as options for each of its tasks."""
    flags = ["--format", "json"]
    if wanted.max_episodes is not None:
        flags += ["--max-episodes", str(wanted.max_episodes)]
    flags += ["--no-reflect"] * (not wanted.reflects)
    flags += ["--no-early-stop"] * (not wanted.stops_early)
    if wanted.model is not None:
        flags += ["--model", wanted.model]
    if events is not None:
        flags += ["--events", events]
    return flags


def run_suite(project: Path, files: list[Path], flags: list[str], jobs: int, chosen: str) -> int:
    """Run them all, print what came of them, and give the exit code that fits."""
    tasks = [_Task(file, flags) for file in files]
    pool = ThreadPoolExecutor(jobs)
    try:
        list(pool.map(_Task.run, tasks))
    except (KeyboardInterrupt, SystemExit) as stopped:
        _stop(tasks)
        pool.shutdown(wait=True, cancel_futures=True)
        if isinstance(stopped, SystemExit):
            raise
        return INTERRUPTED
    pool.shutdown()
    results = [task.told() for task in tasks]
    runs = [result["run"] for result in results if result["run"] is not None]
    learned = curves(project, [RunFolder(runs_folder(project) / run) for run in runs])
    _print(results, learned, chosen)
    codes = {task.code for task in tasks}
    return next((each for each in WORST_FIRST if each in codes), max(codes))


class _Task:
    def __init__(self, file: Path, flags: list[str]) -> None:
        self.file = file
        self.name = load_task(file).name
        self.command = [
            *(sys.executable, "-P", "-m", "agentlearn", "reflexion", "--task", str(file)),
            *flags,
        ]
        self.process: subprocess.Popen[bytes] | None = None
        self.code = 0
        self.result: dict[str, Any] | None = None

    def run(self) -> None:
        # Through pipes, so that each says whole lines and none draws on the terminal; and in a
        # group of its own, so that Ctrl-C comes once, from us.
        with subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        ) as self.process:
            assert self.process.stdout is not None and self.process.stderr is not None
            telling = threading.Thread(target=_relay, args=(self.process.stderr,))
            telling.start()
            printed = self.process.stdout.read()
            telling.join()
        code = self.process.returncode
        self.code = 128 - code if code < 0 else code
        try:
            self.result = orjson.loads(printed)
        except orjson.JSONDecodeError:
            pass  # it failed, and said why

    def told(self) -> dict[str, Any]:
        """What it printed, or that it failed."""
        if self.result is not None:
            return self.result
        told: dict[str, Any] = {"run": None, "task": self.name, "passed": False, "episodes": []}
        return {**told, "exit_code": self.code}


def _stop(tasks: list[_Task]) -> None:
    """Each ends what it started, and says how to go on."""
    for task in tasks:
        if task.process is not None:
            task.process.send_signal(signal.SIGINT)
    if waiting := [str(task.file) for task in tasks if task.process is None]:
        print(f"not begun: {', '.join(waiting)}", file=sys.stderr)


def _relay(lines: IO[bytes]) -> None:
    for line in lines:
        sys.stderr.write(line.decode("utf-8", "replace"))
        sys.stderr.flush()


def _print(results: list[dict[str, Any]], learned: list[Curve], chosen: str) -> None:
    if chosen == "text":
        print_suite(results)
        print_curves(learned)
    elif chosen == "json":
        curve = [
            {"reflections": each.reflects, "tasks": each.tasks, "solved": list(each.solved)}
            for each in learned
        ]
        write_json({"runs": results, "curves": curve})
    else:
        for result in results:
            print(orjson.dumps(result).decode())
