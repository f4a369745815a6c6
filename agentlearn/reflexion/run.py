"""The loop: attempt, judge, reflect, again, until one passes, ideas end, or the episodes do.

All that is needed to go on after a kill lies in the run's folder. An attempt that was judged is
never made twice; one that was not is thrown away, and what it left running is ended first.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct, structs

from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.events import (
    Completion,
    Emit,
    EpisodeJudged,
    EpisodeStarted,
    Progress,
    ReflectionGenerated,
    Usage,
    new_trace_id,
)
from agentlearn.models.model import Model, ModelFailed
from agentlearn.reflexion.attempt import Attempting, Stage
from agentlearn.reflexion.built_in import Known
from agentlearn.reflexion.by_rules import ByRules
from agentlearn.reflexion.copying import remove
from agentlearn.reflexion.ending import Ending, ending_of
from agentlearn.reflexion.environment import environment
from agentlearn.reflexion.evaluate import Evaluation
from agentlearn.reflexion.feedback import feedback_of
from agentlearn.reflexion.folder import EpisodeFolder, RunFolder, new_run_id, write_whole
from agentlearn.reflexion.process import MARK, end_leftovers
from agentlearn.reflexion.reflect import (
    ByCommand,
    ByModel,
    Failure,
    Reflected,
    Reflector,
)
from agentlearn.reflexion.task import CommandReflector, Task
from agentlearn.reflexion.task_file import load_task, workspace_of
from agentlearn.reflexion.values import Attempt, Episode, Run, Spent
from agentlearn.reflexion.workspace import BaseChanged, Workspaces
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.read import read_sessions
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Session

Choose = Callable[[str], Model]
JUDGE_BYTES = 64 * 1024
UNLUCKY = (AgentlearnError, OSError, ValueError, RuntimeError, OverflowError)
"""What agents leave behind breaks things in many ways: each is the result of its attempt."""


class Wanted(Struct, frozen=True):
    """What the person asked for beside the task."""

    max_episodes: int | None = None
    reflects: bool = True
    stops_early: bool = True
    model: str | None = None


class Finished(Struct, frozen=True):
    run: Run
    folder: Path
    episodes: tuple[Episode, ...]
    ending: Ending
    feedback_is_bounded: bool = False

    @property
    def passed(self) -> bool:
        return bool(self.episodes) and self.episodes[-1].passed

    @property
    def usage(self) -> Spent:
        return sum((episode.usage for episode in self.episodes), Spent())


def begin_run(runs: Path, task_file: Path, wanted: Wanted) -> RunFolder:
    """A folder for a new run, and the copy of the workspace that its attempts start from."""
    task = load_task(task_file)
    check_reflector(task, wanted.model)
    original = workspace_of(task, task_file)
    id = new_run_id(task.name)
    folder = RunFolder(runs / id)
    folder.path.mkdir(parents=True)
    workspaces = Workspaces(id, original, task.evaluator.protect)
    try:
        digest = workspaces.make_base()
        write_whole(folder.path / "task.yaml", task_file.read_bytes())
        folder.keep_run(_new_run(id, task, task_file, original, wanted, digest))
    except BaseException:
        workspaces.remove()
        remove(folder.path)
        raise
    return folder


def _new_run(
    id: str, task: Task, task_file: Path, original: Path, wanted: Wanted, digest: str
) -> Run:
    return Run(
        id=id,
        task=task.name,
        task_file=str(task_file.absolute()),
        original=str(original),
        started_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        max_episodes=wanted.max_episodes or task.max_episodes,
        reflects=wanted.reflects and task.reflector != "none",
        stops_early=wanted.stops_early,
        mark=secrets.token_hex(12),
        base_digest=digest,
        model=wanted.model,
    )


def check_reflector(task: Task, model: str | None) -> None:
    if task.reflector == "model" and not (model or task.agent.model):
        raise BadInput(
            "reflector: model needs the name of one", "--model NAME, or AGENTLEARN_MODEL=NAME"
        )


class Running:
    """A run that goes on from wherever it stands."""

    def __init__(
        self,
        folder: RunFolder,
        choose: Choose,
        emit: Emit,
        max_episodes: int | None = None,
        known: Known | None = None,
    ) -> None:
        self.folder = folder
        self.run = folder.run()
        if max_episodes is not None and max_episodes != self.run.max_episodes:
            self.run = structs.replace(self.run, max_episodes=max_episodes)
            folder.keep_run(self.run)
        self.task = load_task(folder.path / "task.yaml", needs_workspace=False)
        self.emit = emit
        self.trace_id = new_trace_id()
        self.models: dict[str, Model] = {}
        self.choose = choose
        self.workspaces = Workspaces(
            self.run.id, Path(self.run.original), self.task.evaluator.protect
        )
        agent_model = self.task.agent.model
        model = self.model(agent_model) if agent_model else None
        self.attempting = Attempting(self.run, self.task, self.workspaces, model, known)
        self.reflector = self.choose_reflector()

    def model(self, name: str) -> Model:
        """One of a name: a scripted one goes on where it was."""
        if name not in self.models:
            self.models[name] = self.choose(name)
        return self.models[name]

    def choose_reflector(self) -> Reflector | None:
        wanted, named = self.task.reflector, self.run.model or self.task.agent.model
        if not self.run.reflects or wanted == "none":
            return None
        if isinstance(wanted, CommandReflector):
            env = environment({MARK: self.run.mark})
            task_folder = Path(self.run.task_file).parent
            return ByCommand(wanted, task_folder, env, self.folder.path / "reflector-input.json")
        if wanted == "model" and not named:
            raise AgentlearnError(
                "reflector: model needs the name of one",
                "--model NAME, or AGENTLEARN_MODEL=NAME",
                2,
            )
        if wanted == "rules" or not named:
            return ByRules()
        return ByModel(self.model(named))

    def go(self) -> Finished:
        """To the end, or until the model fails or the person stops it: then it can be resumed."""
        started = time.monotonic()
        done = len(self.folder.episodes())  # a run that was resumed told of these already
        outcome, reason = "failed", "errors"
        try:
            end_leftovers(self.run.mark, self.workspaces.folder)
            self._find_base()
            finished = self._loop()
            outcome = "converged" if finished.passed else "exhausted"
            reason = "no_new_idea" if finished.ending == "no_new_idea" else "max_iterations"
            with contextlib.suppress(OSError, RuntimeError):
                self.workspaces.remove()
            return finished
        except ModelFailed:
            reason = "model"
            raise
        except (KeyboardInterrupt, SystemExit):
            outcome, reason = "aborted", "interrupted"
            raise
        finally:
            episodes = self.folder.episodes()[done:]
            usage = sum((episode.usage for episode in episodes), Spent())
            self.emit(
                Completion(
                    self.trace_id,
                    outcome,
                    iterations=len(episodes),
                    subcalls=0,
                    input_tokens=usage.input_tokens,
                    output_tokens=usage.output_tokens,
                    elapsed_ms=int((time.monotonic() - started) * 1000),
                    reason=reason,
                    root_model=self.task.agent.model or self.run.model,
                    usage=Usage(usage.input_tokens, usage.output_tokens),
                    command="reflexion",
                )
            )

    def _find_base(self) -> None:
        """The copy that attempts start from, as the run began with it."""
        is_over = self._ending(self.folder.episodes()) is not None
        if not is_over and self.workspaces.find_base() != self.run.base_digest:
            self._make_base()

    def _make_base(self) -> None:
        if self.workspaces.make_base() != self.run.base_digest:
            raise AgentlearnError(
                f"{self.run.original} is no longer what the run began with", "begin a new run"
            )

    def _loop(self) -> Finished:
        episodes = self.folder.episodes()
        while (ending := self._ending(episodes)) is None:
            episodes.append(self._episode(self.folder.at(len(episodes)), episodes))
        bounded = self.task.feedback != "raw"
        return Finished(self.run, self.folder.path, tuple(episodes), ending, bounded)

    def _ending(self, episodes: list[Episode]) -> Ending | None:
        return ending_of(self.run, episodes)

    def _episode(self, folder: EpisodeFolder, before: list[Episode]) -> Episode:
        prior = self._prior(before)
        self.emit(EpisodeStarted(self.trace_id, self.run.id, folder.index, self.run.max_episodes))
        attempt = folder.attempt() or self._attempt(folder, prior)
        evaluation = attempt.evaluation
        self.emit(
            EpisodeJudged(
                self.trace_id,
                self.run.id,
                folder.index,
                evaluation.passed,
                evaluation.score,
                bool(attempt.tampered),
                attempt.duration_ms,
                attempt.usage.input_tokens + attempt.usage.output_tokens,
            )
        )
        reflected = Reflected(None)
        if self.reflector is not None and not evaluation.passed:
            self._tell(folder.index, "reflecting")
            reflected = self._reflect(self.reflector, folder, attempt, before)
        episode = Episode(
            index=folder.index,
            attempt=attempt,
            reflection=reflected.text,
            prior_reflections=prior,
            usage=attempt.usage + reflected.usage,
            reflector_problem=reflected.problem,
        )
        folder.keep(episode)
        with contextlib.suppress(OSError, RuntimeError):  # what cannot be removed costs no result
            self.workspaces.at(folder.index).remove()
        return episode

    def _prior(self, before: list[Episode]) -> tuple[str, ...]:
        texts = [episode.reflection for episode in before if episode.reflection is not None]
        keep = self.task.keep_reflections
        return tuple(texts[-keep:]) if keep else ()

    def _tell(self, index: int, stage: Stage) -> None:
        self.emit(Progress(self.trace_id, index + 1, self.run.max_episodes, stage))

    def _attempt(self, folder: EpisodeFolder, prior: tuple[str, ...]) -> Attempt:
        """What goes wrong around an attempt, such as a full disk, is told as its result."""
        try:
            return self.attempting.attempt(
                folder, prior, lambda stage: self._tell(folder.index, stage)
            )
        except ModelFailed:
            raise
        except UNLUCKY as error:
            if isinstance(error, BaseChanged):
                self._make_base()  # the next attempt starts from what this one had
            told = error.message if isinstance(error, AgentlearnError) else repr(error)[:300]
            failed = Attempt(
                evaluation=Evaluation(False, None, None, reason="it was not judged"),
                changed=(),
                tampered=(),
                duration_ms=0,
                problem=told,
            )
            with contextlib.suppress(AgentlearnError, OSError):  # a full disk may stay full
                folder.path.mkdir(parents=True, exist_ok=True)
                folder.keep(failed)
            return failed

    def _reflect(
        self, reflector: Reflector, folder: EpisodeFolder, attempt: Attempt, before: list[Episode]
    ) -> Reflected:
        failure = Failure(
            prompt=self.task.prompt,
            session=_session_in(folder),
            attempt=attempt,
            told=feedback_of(_judge_output(folder), self.task.feedback),
            reflections=tuple(each.reflection for each in before if each.reflection is not None),
            earlier=tuple(each.attempt for each in before),
        )
        reflected = reflector.reflect(failure)
        if reflected.text is not None:
            write_whole(folder.reflection, f"{reflected.text}\n".encode())
            file = f"episodes/{folder.index}/{folder.reflection.name}"
            self.emit(ReflectionGenerated(self.trace_id, self.run.id, folder.index, file))
        return reflected


def _session_in(folder: EpisodeFolder) -> Session:
    try:
        with Source(folder.session) as source:
            return next(iter(read_sessions(source)))
    except (AgentlearnError, OSError, StopIteration):
        return Draft("native", None).finish("nothing")


def _judge_output(folder: EpisodeFolder) -> str:
    """The end of what the judge printed."""
    try:
        data = (folder.path / "judge.log").read_bytes()
    except OSError:
        return ""
    return data[-JUDGE_BYTES:].decode("utf-8", "replace")
