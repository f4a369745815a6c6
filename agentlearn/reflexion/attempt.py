"""One attempt: a fresh workspace, the agent in it, the judge's files put back, the judge."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from msgspec import Struct

from agentlearn.errors import AgentlearnError
from agentlearn.guard import plain
from agentlearn.guard.secrets import redact
from agentlearn.models.model import Model
from agentlearn.reflexion.built_in import BuiltIn, Known
from agentlearn.reflexion.environment import environment
from agentlearn.reflexion.evaluate import NOT_RUN, Evaluation, evaluate, not_run
from agentlearn.reflexion.folder import EpisodeFolder, write_whole
from agentlearn.reflexion.git import GitFailed
from agentlearn.reflexion.process import MARK, run_command
from agentlearn.reflexion.session import from_output, judged, own_transcript, session_bytes
from agentlearn.reflexion.shell import fill
from agentlearn.reflexion.task import Task
from agentlearn.reflexion.values import Attempt, Run, Spent
from agentlearn.reflexion.workspace import Workspace, Workspaces, shown_name
from agentlearn.sessions.values import Session

HEADING = "## Reflections from prior attempts"
Stage = Literal["attempting", "evaluating", "reflecting"]


class Worked(Struct, frozen=True):
    """What an agent left."""

    session: Session
    timed_out: bool
    exit_code: int | None = None
    problem: str | None = None
    usage: Spent = Spent()


def prompt_with(prompt: str, reflections: tuple[str, ...]) -> str:
    """The task, and what was learned as a numbered list."""
    if not reflections:
        return plain(prompt)
    return f"{plain(prompt).rstrip()}\n\n{HEADING}\n\n{numbered(reflections)}"


def numbered(reflections: tuple[str, ...]) -> str:
    return "".join(f"{number}. {text}\n" for number, text in enumerate(reflections, 1))


class Attempting:
    """All that attempts at one task share."""

    def __init__(
        self,
        run: Run,
        task: Task,
        workspaces: Workspaces,
        model: Model | None,
        known: Known | None = None,
    ) -> None:
        self.known = known
        self.run = run
        self.task = task
        self.workspaces = workspaces
        self.model = model
        self.task_dir = str(Path(run.task_file).parent)

    def attempt(
        self,
        folder: EpisodeFolder,
        reflections: tuple[str, ...],
        tell: Callable[[Stage], None],
    ) -> Attempt:
        """Try and be judged; what came of it lies in the folder, the verdict last.

        ModelFailed if the agent's model does: then there was no attempt.
        """
        started, began = time.monotonic(), time.time()
        folder.path.mkdir(parents=True, exist_ok=True)
        workspace = self.workspaces.fresh(folder.index)
        tell("attempting")
        worked = self._work(folder, workspace, reflections)
        workspace.make_real()
        self.workspaces.check_base()
        problem = worked.problem
        changed: list[str] = []
        tampered: list[str] = []
        try:
            tampered = workspace.put_back()
        except OSError as error:
            problem = problem or f"protected files could not be put back: {_reason(error)}"
        try:
            changed, too_large = workspace.write_patch(folder.patch)
            if too_large:
                names = ", ".join(map(shown_name, too_large[:5]))
                problem = problem or f"too large to be in the patch: {names}"
        except (GitFailed, OSError) as error:
            problem = problem or _reason(error)
        tell("evaluating")
        evaluation = self._judge(folder, workspace)
        about: dict[str, object] = {
            "task": self.task.name, "run": self.run.id, "episode": folder.index,
        }  # fmt: skip
        id = f"{self.run.id}-{folder.index}"
        session = judged(worked.session, id, self.task.prompt, about, evaluation, began)
        write_whole(folder.session, session_bytes(session))
        made = Attempt(
            evaluation=evaluation,
            changed=tuple(map(shown_name, changed)),
            tampered=tuple(map(shown_name, tampered)),
            duration_ms=int((time.monotonic() - started) * 1000),
            timed_out=worked.timed_out,
            exit_code=worked.exit_code,
            problem=problem,
            usage=worked.usage,
        )
        folder.keep(made)
        return made

    def _work(
        self, folder: EpisodeFolder, workspace: Workspace, reflections: tuple[str, ...]
    ) -> Worked:
        prompt = prompt_with(self.task.prompt, reflections)
        (folder.path / "prompt.md").write_text(redact(prompt), encoding="utf-8")
        if self.model is not None:
            return self._built_in(self.model, workspace, prompt)
        return self._command(folder, workspace, prompt, numbered(reflections))

    def _built_in(self, model: Model, workspace: Workspace, prompt: str) -> Worked:
        agent = self.task.agent
        env = environment(self._added(), without_secrets=True, named=self.task.env)
        built_in = BuiltIn(
            model, workspace.path, env, agent.max_turns, agent.timeout_seconds, self.known
        )
        session = built_in.work(prompt)
        return Worked(session, built_in.timed_out, usage=built_in.usage)

    def _command(
        self, folder: EpisodeFolder, workspace: Workspace, prompt: str, reflections: str
    ) -> Worked:
        """An agent of the person's own. Its files lie beside the workspace, not in the run's
        folder, from where the solutions of earlier attempts would be seen.
        """
        agent = self.task.agent
        beside = workspace.path.parent
        prompt_file, reflections_file = beside / "prompt.md", beside / "reflections.md"
        prompt_file.write_text(prompt, encoding="utf-8")
        reflections_file.write_text(reflections, encoding="utf-8")
        command = fill(
            agent.command or "",
            {
                "prompt_file": str(prompt_file),
                "prompt": prompt,
                "reflections_file": str(reflections_file),
                "workspace": str(workspace.path),
                "episode": str(folder.index),
                "task_dir": self.task_dir,
            },
        )
        added = self._added() | {
            "AGENTLEARN_PROMPT_FILE": str(prompt_file),
            "AGENTLEARN_REFLECTIONS_FILE": str(reflections_file),
            "AGENTLEARN_EPISODE": str(folder.index),
        }
        log, began = folder.path / "agent.log", time.time()
        ran = run_command(command, workspace.path, environment(added), agent.timeout_seconds, log)
        session = own_transcript(agent.transcript, workspace.path, log, began)
        if session is None:
            session = from_output(prompt, agent.command or "", ran)
        problem = ran.problem
        if ran.exit_code in NOT_RUN:
            problem = problem or not_run("the agent", ran)
        return Worked(session, ran.timed_out, ran.exit_code, problem)

    def _added(self) -> dict[str, str]:
        return {MARK: self.run.mark, "AGENTLEARN_TASK_DIR": self.task_dir}

    def _judge(self, folder: EpisodeFolder, workspace: Workspace) -> Evaluation:
        env = environment(self._added(), without_secrets=True, named=self.task.env)
        log = folder.path / "judge.log"
        return evaluate(self.task.evaluator, workspace.path, env, log)


def _reason(error: Exception) -> str:
    if isinstance(error, AgentlearnError):
        return error.message
    return f"{getattr(error, 'filename', None) or ''} {getattr(error, 'strerror', error)}".strip()
