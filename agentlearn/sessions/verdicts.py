"""Verdicts that lie beside a transcript: what a judge wrote after the agent had gone.

Two kinds are known. A Harbor trial keeps `result.json` and `verifier/reward.*` around the folder
of its trajectory. A SWE-bench run keeps one report that names every instance. What an agent says
of itself ("Submitted") is never asked.

Each is told with its place, so that evidence can name the lines: the whole of a trial's file, and
of a report the part that judges the instance. Finding those lines waits until they are wanted.

A sidecar is plain data from an unknown hand: a link, a file that is no file, one over 64 MB or
one that does not parse is as good as none. A report that does not name the instance says nothing
of it, and neither does one that says its own evaluation broke.
"""

from __future__ import annotations

import math
import re
import stat
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agentlearn.sessions.draft import Draft, finite_number
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Place

MOST_BYTES = 64 * 1024 * 1024
REPORTS = ("report.json", "results.json", "results_summary.json")
PREFIXED = "results_summary.json"
TRIAL_MARKS = ("verifier_result", "trial_name", "task_name")
TRANSCRIPT_ENDING = re.compile(r"(?:\.(?:gz|zst|json|jsonl|traj|trajectory))+\Z")

RESOLVED_LISTS = ("resolved_ids", "resolved", "resolved_instances")
UNRESOLVED_LISTS = (
    "unresolved_ids", "unresolved", "unresolved_instances", "failed_ids", "failed",
    "empty_patch_ids", "no_generation", "no_apply", "test_errored", "test_timeout",
    "completed_ids", "applied",
)  # fmt: skip
"""The last two only say that an instance was judged: those that are resolved are named before."""


Keys = tuple[str | int, ...]


class Sidecar(Struct, frozen=True):
    """What a file beside the transcript says of the run: a verdict, or that it broke."""

    text: str
    """Its name and what it says."""
    place: Place
    score: float | None = None
    """1.0 is full success. None: the run broke before anyone could judge it."""
    broke: str | None = None
    """The exception that ended the run."""
    task: str | None = None


def pronounce(draft: Draft, found: Sidecar | None) -> None:
    """Put the verdict last. A run that broke without one was aborted."""
    if found is None:
        return
    if found.task:
        draft.metadata.setdefault("task", found.task)
    if found.score is not None:
        draft.signal("verdict", found.text, 0, value=found.score, place=found.place)
    elif found.broke:
        draft.outcome, draft.reason = "aborted", found.broke


def of_trial(source: Source) -> Sidecar | None:
    """The reward of the Harbor trial whose folder, or a folder of whose, holds the trajectory."""
    broke: Sidecar | None = None
    for folder in _folders(source, up=2):
        found = _trial_result(folder / "result.json") or _reward_file(folder / "verifier")
        if found is not None and found.score is not None:
            return found
        broke = broke or found
    return broke


def of_instance(source: Source, instance: str | None) -> Sidecar | None:
    """What a SWE-bench report in this folder, or the one above, says of the instance."""
    if source.path is None:
        return None
    named = instance or TRANSCRIPT_ENDING.sub("", source.path.name)
    for folder in _folders(source, up=1):
        for path in _reports(folder, source.path.name):
            label = _labels(path).get(named)
            if label is not None:
                says = "resolved" if label.resolved else "not resolved"
                place = Place(str(path), within=label.within)
                return Sidecar(f"{path.name}: {named} {says}", place, float(label.resolved))
    return None


def _folders(source: Source, up: int) -> Iterator[Path]:
    """The transcript's folder and so many above it, as they are reached from its path."""
    if source.path is None:
        return
    folder = source.path.parent
    for _ in range(up + 1):
        yield folder
        if folder.is_absolute() and folder.parent == folder:
            return
        folder = folder / ".." if folder.name in ("", "..") else folder.parent


def _trial_result(path: Path) -> Sidecar | None:
    value = read_sidecar(path)
    if not isinstance(value, dict) or not any(mark in value for mark in TRIAL_MARKS):
        return None
    judged = value.get("verifier_result")
    rewards = judged.get("rewards") if isinstance(judged, dict) else None
    broken = value.get("exception_info")
    kind = broken.get("exception_type") if isinstance(broken, dict) else None
    broke = kind if isinstance(kind, str) else None
    score = _score(rewards)
    if score is None and broke is None:
        return None
    after = f" after {broke}" if broke else ""
    task = value.get("task_name")
    return Sidecar(
        f"{path.name}: {_as_words(rewards)}{after}",
        Place(str(path)),
        score,
        broke,
        task if isinstance(task, str) else None,
    )


def _reward_file(folder: Path) -> Sidecar | None:
    path = folder / "reward.txt"
    plain = _bytes(path)
    if plain is not None:
        try:
            score = float(plain[:100])
        except ValueError:
            score = math.nan
        if math.isfinite(score):
            return Sidecar(f"verifier/reward.txt: {score:g}", Place(str(path)), score)
    path = folder / "reward.json"
    rewards = read_sidecar(path)
    score_there = _score(rewards)
    if score_there is None:
        return None
    return Sidecar(f"verifier/reward.json: {_as_words(rewards)}", Place(str(path)), score_there)


def _score(rewards: Any) -> float | None:
    """The reward named `reward`, else the mean: a full score needs all of them."""
    if not isinstance(rewards, dict):
        return finite_number(rewards)
    named = finite_number(rewards.get("reward"))
    if named is not None:
        return named
    numbers = [number for number in map(finite_number, rewards.values()) if number is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _as_words(rewards: Any) -> str:
    if not isinstance(rewards, dict):
        number = finite_number(rewards)
        return "no reward" if number is None else f"{number:g}"
    said = [
        f"{name} {number:g}"
        for name, value in rewards.items()
        if (number := finite_number(value)) is not None
    ]
    return ", ".join(said[:20]) or "no reward"


def _reports(folder: Path, transcript: str) -> Iterator[Path]:
    """The reports of a folder, the most particular first.

    A report with a prefix to its name is for transcripts with that prefix; one that stands alone
    is for all.
    """
    for name in REPORTS:
        yield folder / name
    prefixed = _prefixed(folder)
    own = [name for name in prefixed if transcript.startswith(name.removesuffix(PREFIXED))]
    for name in own or (prefixed if len(prefixed) == 1 else ()):
        yield folder / name


def _prefixed(folder: Path) -> tuple[str, ...]:
    try:
        return _listed(str(folder), folder.stat().st_mtime_ns)
    except OSError:
        return ()


@lru_cache(maxsize=8)
def _listed(folder: str, mtime_ns: int) -> tuple[str, ...]:
    """Names in a folder that end like a report's. The time is there to forget a changed one."""
    names = (entry.name for entry in Path(folder).iterdir())
    return tuple(sorted(n for n in names if n.endswith(PREFIXED) and n != PREFIXED))


class Label(Struct, frozen=True, gc=False):
    resolved: bool
    within: Keys
    """What leads to it in the report."""


def _labels(path: Path) -> dict[str, Label]:
    found = _stat(path)
    return _labels_of(str(path), found.mtime_ns, found.size) if found else {}


@lru_cache(maxsize=8)
def _labels_of(path: str, mtime_ns: int, size: int) -> dict[str, Label]:
    """A report of hundreds of instances is opened once, and again when it changed."""
    return labels_in(read_sidecar(Path(path)))


def labels_in(value: Any, within: Keys = ()) -> dict[str, Label]:
    """Resolved or not, by instance, in any of the shapes that SWE-bench reports come in."""
    if isinstance(value, list):
        rows = ((row, (*within, number)) for number, row in enumerate(value))
        return dict(_rows(rows))
    if not isinstance(value, dict):
        return {}
    labels: dict[str, Label] = {}
    for resolved, names in ((True, RESOLVED_LISTS), (False, UNRESOLVED_LISTS)):
        for name in names:
            listed = value.get(name)
            for number, instance in enumerate(listed if isinstance(listed, list) else ()):
                if isinstance(instance, str):
                    labels.setdefault(instance, Label(resolved, (*within, name, number)))
    inner = value.get("instances")
    if isinstance(inner, (list, dict)):
        labels |= labels_in(inner, (*within, "instances"))
    for instance, label in _rows([(value, within)]):
        labels.setdefault(instance, label)
    for instance, row in value.items():
        said = row.get("resolved") if isinstance(row, dict) else None
        if isinstance(said, bool):
            labels.setdefault(instance, Label(said, (*within, instance)))
    return labels


def _rows(rows: Iterable[tuple[Any, Keys]]) -> Iterator[tuple[str, Label]]:
    for row, within in rows:
        if isinstance(row, dict):
            instance, resolved = row.get("instance_id"), row.get("resolved")
            if isinstance(instance, str) and isinstance(resolved, bool):
                yield instance, Label(resolved, within)


class _Stat(Struct, frozen=True):
    mtime_ns: int
    size: int


def _stat(path: Path) -> _Stat | None:
    """None for what is not to be read: missing, a link, no plain file, too big."""
    try:
        found = path.lstat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
        return None
    return _Stat(found.st_mtime_ns, found.st_size)


def _bytes(path: Path) -> bytes | None:
    if _stat(path) is None:
        return None
    try:
        with path.open("rb") as file:
            return file.read(MOST_BYTES)
    except OSError:
        return None


def read_sidecar(path: Path) -> Any:
    """The value of a JSON file beside a transcript; None for one that is not to be read."""
    data = _bytes(path)
    if data is None:
        return None
    try:
        return msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
