"""The runs behind `agentlearn reflexion`: a task in this process, a suite in processes of its own.

A process a task keeps them apart: each is the one that what its agents leave running belongs to.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import orjson

from agentlearn.cli.app import INTERRUPTED, complain
from agentlearn.cli.load import WORST_FIRST
from agentlearn.cli.output import write_json
from agentlearn.cli.reflexion_output import Teller, as_dict, print_curves, print_result, print_suite
from agentlearn.cli.stores import open_store
from agentlearn.config import find_project, resolve
from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.events import Emit, EventLog, tee
from agentlearn.guard import plain
from agentlearn.models.choose import choose_model
from agentlearn.models.model import Model, ModelFailed
from agentlearn.reflexion.apply import apply_patch
from agentlearn.reflexion.folder import RunFolder, find_run, runs_folder
from agentlearn.reflexion.run import Finished, Running, Wanted, begin_run
from agentlearn.reflexion.suite import curves, task_files
from agentlearn.reflexion.task_file import load_task, new_task

NOT_PASSED, BAD_INPUT = 1, 2


def wanted(
    max_episodes: int | None, no_reflect: bool, no_early_stop: bool, model: str | None
) -> Wanted:
    settings = resolve(model=model)
    return Wanted(max_episodes, not no_reflect, not no_early_stop, settings.model)


def write_new(name: str, force: bool) -> None:
    path = Path(name)
    if path.exists() and not force:
        raise BadInput(f"{path} is there already", "--force writes over it")
    try:
        path.write_text(new_task(path), encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}") from None
    print(path)
    print(f"hint: edit it, then agentlearn reflexion --task {path}", file=sys.stderr)


def apply(name: str | None, episode: int | None, chosen: str) -> None:
    if name is None:
        raise BadInput("agentlearn reflexion apply needs a run", "agentlearn reflexion apply RUN")
    folder = find_run(find_project(), name)
    applied, original = apply_patch(folder, episode)
    if chosen != "text":
        files = list(applied.attempt.changed)
        write_json({"run": folder.path.name, "episode": applied.index, "files": files})
        return
    verdict = "passed" if applied.passed else "not passed"
    print(f"applied episode {applied.index} ({verdict}) of {folder.path.name} to {original}")
    for file in applied.attempt.changed:
        print(f"  {plain(file)}")


def run(
    tasks: list[str],
    resume: str | None,
    wanted: Wanted,
    jobs: int,
    events: str | None,
    chosen: str,
) -> int:
    """Run what was asked for, print it, and give the exit code that fits."""
    project = find_project()
    if resume is not None:
        return _one(find_run(project, resume), events, chosen, wanted.max_episodes)
    files = task_files(tasks)
    for file in files:
        load_task(file)  # all of them before any agent runs
    with open_store().writing():  # `.agentlearn/`, kept out of git
        pass
    runs = runs_folder(project)
    if len(files) == 1:
        return _one(begin_run(runs, files[0], wanted), events, chosen)
    return _suite(project, files, wanted, jobs, events, chosen)


def _one(
    folder: RunFolder, events: str | None, chosen: str, max_episodes: int | None = None
) -> int:
    with folder.locked():
        teller = Teller(folder.run().task)
        emit = _sink(folder, events, teller)
        try:
            finished = Running(folder, _choose, emit, max_episodes).go()
        except ModelFailed as error:
            teller.stop()
            complain(error)
            _how_to_go_on(folder)
            return error.exit_code
        except KeyboardInterrupt:
            teller.stop()
            print("interrupted", file=sys.stderr)
            _how_to_go_on(folder)
            return INTERRUPTED
        finally:
            teller.stop()
    _print(finished, chosen)
    return 0 if finished.passed else NOT_PASSED


def _choose(name: str) -> Model:
    return choose_model(name, resolve().model_timeout_seconds)


def _print(finished: Finished, chosen: str) -> None:
    if chosen == "text":
        print_result(finished)
    elif chosen == "json":
        write_json(as_dict(finished))
    else:
        print(orjson.dumps(as_dict(finished)).decode())


def _how_to_go_on(folder: RunFolder) -> None:
    print(f"hint: agentlearn reflexion --resume {folder.path.name}", file=sys.stderr)


def _sink(folder: RunFolder, events: str | None, teller: Teller) -> Emit:
    store = open_store()
    sinks: list[Emit] = [
        EventLog(folder.events, failed=_warn, follow_links=False),
        EventLog(store.places.events, failed=_warn, follow_links=False),
    ]
    if events == "-":
        sinks.append(lambda event: print(event.line(), file=sys.stderr))
    else:
        sinks.append(teller)
        if events is not None:
            sinks.append(EventLog(events))
    return tee(*sinks)


def _warn(error: AgentlearnError) -> None:
    """A log that nobody asked for must not end a run."""
    print(f"warning: {plain(error.message)}", file=sys.stderr)


def _relay(lines: IO[bytes]) -> None:
    for line in lines:
        sys.stderr.write(line.decode("utf-8", "replace"))
        sys.stderr.flush()


def _suite(
    project: Path,
    files: list[Path],
    wanted: Wanted,
    jobs: int,
    events: str | None,
    chosen: str,
) -> int:
    """Each task in a process of its own; what they print is put together."""
    flags = ["--format", "json"]
    if wanted.max_episodes is not None:
        flags += ["--max-episodes", str(wanted.max_episodes)]
    flags += ["--no-reflect"] * (not wanted.reflects)
    flags += ["--no-early-stop"] * (not wanted.stops_early)
    if wanted.model is not None:
        flags += ["--model", wanted.model]
    if events is not None:
        flags += ["--events", events]

    def one(file: Path) -> tuple[int, dict[str, Any] | None]:
        command = [sys.executable, "-m", "agentlearn", "reflexion", "--task", str(file), *flags]
        # Through pipes, so that each says whole lines and none draws on the terminal.
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout is not None and process.stderr is not None
            telling = threading.Thread(target=_relay, args=(process.stderr,))
            telling.start()
            printed = process.stdout.read()
            telling.join()
        code = process.returncode
        try:
            return code, orjson.loads(printed)
        except orjson.JSONDecodeError:
            return code, None

    pool = ThreadPoolExecutor(jobs)
    try:
        done = list(pool.map(one, files))
    except KeyboardInterrupt:
        # They got Ctrl-C as well, end what they started, and say how to go on.
        pool.shutdown(wait=True, cancel_futures=True)
        return INTERRUPTED
    pool.shutdown()
    results = [result for _, result in done if result is not None]
    folders = [RunFolder(runs_folder(project) / result["run"]) for result in results]
    learned = curves(project, folders)
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
    codes = {code for code, _ in done}
    codes = {-number + 128 if number < 0 else number for number in codes}
    return next((each for each in WORST_FIRST if each in codes), max(codes, default=0))
