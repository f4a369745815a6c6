"""What `agentlearn reflexion` does: run a task, go on with a run, write a task, apply a patch."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import orjson

from agentlearn.cli.app import INTERRUPTED, complain
from agentlearn.cli.bases import base_to_write, both_bases, known_context, scope_of
from agentlearn.cli.output import write_json
from agentlearn.cli.reflexion_output import Teller, as_dict, print_result
from agentlearn.cli.reflexion_suite import flags_for, run_suite
from agentlearn.cli.stores import open_store
from agentlearn.config import find_project, resolve
from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.events import Emit, EventLog, tee
from agentlearn.guard import plain
from agentlearn.knowledge.context import search_words
from agentlearn.knowledge.tools import KnowledgeTools
from agentlearn.knowledge.values import fact
from agentlearn.models.choose import choose_model
from agentlearn.models.model import Model, ModelFailed
from agentlearn.reflexion.apply import apply_patch
from agentlearn.reflexion.built_in import Known
from agentlearn.reflexion.folder import RunFolder, find_run, runs_folder
from agentlearn.reflexion.run import Finished, Running, Wanted, begin_run, check_reflector
from agentlearn.reflexion.suite import task_files
from agentlearn.reflexion.task_file import load_task, new_task
from agentlearn.sessions.values import Entry

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
    named_model: str | None = None,
) -> int:
    """Run what was asked for, print it, and give the exit code that fits."""
    project = find_project()
    if resume is not None:
        if not wanted.reflects or not wanted.stops_early or named_model:
            raise BadInput("--no-reflect, --no-early-stop and --model belong to a new run: --task")
        return _one(find_run(project, resume), events, chosen, wanted.max_episodes)
    files = task_files(tasks)
    for file in files:
        check_reflector(load_task(file), wanted.model)  # all of them before any agent runs
    with open_store().writing():  # `.agentlearn/`, kept out of git
        pass
    runs = runs_folder(project)
    if len(files) == 1:
        return _one(begin_run(runs, files[0], wanted), events, chosen)
    return run_suite(project, files, flags_for(wanted, events), jobs, chosen)


def _one(
    folder: RunFolder, events: str | None, chosen: str, max_episodes: int | None = None
) -> int:
    with folder.locked():
        teller = Teller(folder.run().task)
        emit = _sink(folder, events, teller)
        try:
            finished = Running(folder, _choose, emit, max_episodes, _known()).go()
        except ModelFailed as error:
            teller.stop()
            complain(error)
            _how_to_go_on(folder)
            return error.exit_code
        except AgentlearnError:
            teller.stop()
            _how_to_go_on(folder)
            raise
        except (KeyboardInterrupt, SystemExit) as stopped:
            teller.stop()
            print("interrupted", file=sys.stderr)
            _how_to_go_on(folder)
            if isinstance(stopped, SystemExit):
                raise
            return INTERRUPTED
        finally:
            teller.stop()
    _persist(finished)
    _print(finished, chosen)
    return 0 if finished.passed else NOT_PASSED


def _persist(finished: Finished) -> None:
    """Keep what the attempt that passed had been told: it helped. The rest proved nothing."""
    if not finished.passed or not resolve().auto_persist:
        return
    last = finished.episodes[-1]
    told = set(last.prior_reflections)
    for episode in finished.episodes[:-1]:
        if episode.reflection in told:
            evidence = f"{finished.run.id}-{episode.index}"
            try:
                item = fact(
                    finished.run.task,
                    "learned",
                    episode.reflection or "",
                    0.6,
                    evidence=(evidence,),
                )
                with base_to_write(user=False) as base:
                    if not base.get(item.id):  # a run that is shown again has taught nothing new
                        base.store(item)
                        print(
                            f"note: kept as knowledge (agentlearn forget {item.id})",
                            file=sys.stderr,
                        )
            except AgentlearnError as error:
                print(f"note: a reflection is not kept: {plain(error.message)}", file=sys.stderr)


def _known() -> Known | None:
    """What the built-in agent may ask, where there is a base of knowledge."""
    bases = both_bases()
    if not any(base.exists() for base in bases):
        return None
    tools = KnowledgeTools(bases, lambda: base_to_write(user=False), scope_of)

    def context(entries: Sequence[Entry]) -> str:
        try:
            return known_context(search_words(entries))
        except AgentlearnError as error:  # what is known must not cost an attempt
            print(f"warning: {plain(error.message)}", file=sys.stderr)
            return ""

    return Known(tools, context)


def _choose(name: str) -> Model:
    return choose_model(name, resolve().model_timeout_seconds)


def _print(finished: Finished, chosen: str) -> None:
    if not finished.passed and finished.feedback_is_bounded:
        said = "hint: the judge's own words are held back; feedback: raw lets them through"
        print(said, file=sys.stderr)
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
