"""Several tasks side by side, and whether reflections helped: how many were solved after each
attempt, with them and without.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from agentlearn.errors import BadInput
from agentlearn.reflexion.ending import ending_of
from agentlearn.reflexion.folder import RunFolder, known_runs
from agentlearn.reflexion.values import Episode, Run

SUFFIXES = (".yaml", ".yml")


class Curve(Struct, frozen=True):
    reflects: bool
    tasks: int
    solved: tuple[int, ...]
    """After attempt 1, 2, 3 …"""


def task_files(names: Iterable[str]) -> list[Path]:
    """The files that were named, and those in folders that were named."""
    found: list[Path] = []
    for name in names:
        path = Path(name)
        if path.is_dir():
            inside = sorted(each for each in path.iterdir() if each.suffix in SUFFIXES)
            if not inside:
                raise BadInput(f"{path} holds no task: no file ends in .yaml")
            found += inside
        else:
            found.append(path)
    return list(dict.fromkeys(found))


def curve_of(runs: list[tuple[Run, list[Episode]]], reflects: bool) -> Curve | None:
    """How many of the tasks were solved after each attempt."""
    wanted = [(run, episodes) for run, episodes in runs if run.reflects == reflects]
    if not wanted:
        return None
    longest = max(run.max_episodes for run, _ in wanted)
    solved = tuple(
        sum(any(episode.passed for episode in episodes[:count]) for _, episodes in wanted)
        for count in range(1, longest + 1)
    )
    return Curve(reflects, len(wanted), solved)


def curves(project: Path, now: list[RunFolder]) -> list[Curve]:
    """The curve of these runs, and that of the newest runs of the same tasks in the other mode."""
    runs = [(folder.run(), folder.episodes()) for folder in now]
    files = {run.task_file: run.max_episodes for run, _ in runs}
    modes = {run.reflects for run, _ in runs}
    newest: dict[str, tuple[Run, list[Episode]]] = {}
    for folder in known_runs(project):
        try:
            run, episodes = folder.run(), folder.episodes()
        except BadInput:
            continue
        is_other = run.reflects not in modes and run.max_episodes == files.get(run.task_file)
        known = newest.get(run.task_file)
        is_newer = known is None or known[0].started_at <= run.started_at
        if is_other and is_newer and ending_of(run, episodes) is not None:
            newest[run.task_file] = (run, episodes)
    # The same tasks, all of one kind, or the two cannot be compared.
    if set(newest) == set(files) and len(modes) == 1:
        runs += newest.values()
    found = [curve_of(runs, True), curve_of(runs, False)]
    return [curve for curve in found if curve is not None]
