"""The best attempt's patch, applied to the original: all of it or nothing."""

from __future__ import annotations

from pathlib import Path

from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.reflexion.folder import RunFolder
from agentlearn.reflexion.git import GitFailed, git
from agentlearn.reflexion.values import Episode


def best_of(episodes: list[Episode]) -> Episode | None:
    """The one that passed, else the first with the best score."""

    def worth(episode: Episode) -> tuple[bool, float]:
        return episode.passed, episode.attempt.evaluation.reward

    return max(episodes, key=worth, default=None)


def apply_patch(folder: RunFolder, index: int | None) -> tuple[Episode, Path]:
    """Apply the patch of an episode, or of the best; which one, and to what folder."""
    run, episodes = folder.run(), folder.episodes()
    if index is not None and index >= len(episodes):
        raise BadInput(f"the run {run.id} has no finished episode {index}: it has {len(episodes)}")
    chosen = best_of(episodes) if index is None else episodes[index]
    if chosen is None:
        raise BadInput(f"the run {run.id} has no finished episode yet")
    if index is None and not chosen.passed:
        raise AgentlearnError(
            f"no attempt of {run.id} passed; the best was episode {chosen.index}",
            f"agentlearn reflexion apply {run.id} --episode {chosen.index} applies it all the same",
        )
    original = Path(run.original)
    if not original.is_dir():
        raise AgentlearnError(f"the folder {original} is gone")
    patch = folder.at(chosen.index).patch
    if not patch.is_file() or not patch.stat().st_size:
        raise AgentlearnError(f"episode {chosen.index} changed nothing: there is no patch to apply")
    # A repository further up would make git read the paths from there.
    env = {"GIT_CEILING_DIRECTORIES": str(original.parent)}
    try:
        git("apply", "--check", "--whitespace=nowarn", patch, cwd=original, env=env)
        git("apply", "--whitespace=nowarn", patch, cwd=original, env=env)
    except GitFailed as error:
        if _is_applied(patch, original, env):
            raise AgentlearnError(
                f"it is applied already: {original} is as the patch has it"
            ) from None
        raise AgentlearnError(
            f"the patch does not fit {original} as it is now: {error.message}",
            f"nothing was changed; the patch is {patch}",
        ) from None
    return chosen, original


def _is_applied(patch: Path, original: Path, env: dict[str, str]) -> bool:
    try:
        git("apply", "--check", "--reverse", "--whitespace=nowarn", patch, cwd=original, env=env)
    except GitFailed:
        return False
    return True
