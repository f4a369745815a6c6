"""Verdicts that lie beside a transcript: what a judge wrote after the agent had gone.

Two kinds are known. A Harbor trial keeps `result.json` and `verifier/reward.*` around the folder
of its trajectory. A SWE-bench run keeps one report that names every instance. What an agent says
of itself ("Submitted") is never asked.

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

from agentlearn.sessions.draft import Draft
from agentlearn.sessions.source import Source

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


class Verdict(Struct, frozen=True):
    text: str
    """The sidecar's name and what it says."""
    score: float | None = None
    """1.0 is full success. None: the run broke before anyone could judge it."""
    broke: str | None = None
    """The exception that ended the run."""
    task: str | None = None


def pronounce(draft: Draft, verdict: Verdict | None) -> None:
    """Put the verdict last. A run that broke without one was aborted."""
    if verdict is None:
        return
    if verdict.task:
        draft.metadata.setdefault("task", verdict.task)
    if verdict.score is not None:
        draft.signal("verdict", verdict.text, 0, value=verdict.score)
    elif verdict.broke:
        draft.outcome, draft.reason = "aborted", verdict.broke


def of_trial(source: Source) -> Verdict | None:
    """The reward of the Harbor trial whose folder, or a folder of whose, holds the trajectory."""
    broke: Verdict | None = None
    for folder in _folders(source, up=2):
        verdict = _trial_result(folder / "result.json") or _reward_file(folder / "verifier")
        if verdict is not None and verdict.score is not None:
            return verdict
        broke = broke or verdict
    return broke


def of_instance(source: Source, instance: str | None) -> Verdict | None:
    """What a SWE-bench report in this folder, or the one above, says of the instance."""
    if source.path is None:
        return None
    named = instance or TRANSCRIPT_ENDING.sub("", source.path.name)
    for folder in _folders(source, up=1):
        for path in _reports(folder, source.path.name):
            resolved = _labels(path).get(named)
            if resolved is not None:
                says = "resolved" if resolved else "not resolved"
                return Verdict(f"{path.name}: {named} {says}", 1.0 if resolved else 0.0)
    return None


def _folders(source: Source, up: int) -> Iterator[Path]:
    """The transcript's folder and so many above it."""
    if source.path is None:
        return
    folder = source.path.absolute().parent
    for _ in range(up + 1):
        yield folder
        if folder.parent == folder:
            return
        folder = folder.parent


def _trial_result(path: Path) -> Verdict | None:
    value = sidecar(path)
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
    return Verdict(
        f"{path.name}: {_as_words(rewards)}{after}",
        score,
        broke,
        task if isinstance(task, str) else None,
    )


def _reward_file(folder: Path) -> Verdict | None:
    plain = _bytes(folder / "reward.txt")
    if plain is not None:
        try:
            score = float(plain[:100])
        except ValueError:
            score = math.nan
        if math.isfinite(score):
            return Verdict(f"verifier/reward.txt: {score:g}", score)
    rewards = sidecar(folder / "reward.json")
    score_there = _score(rewards)
    if score_there is None:
        return None
    return Verdict(f"verifier/reward.json: {_as_words(rewards)}", score_there)


def _score(rewards: Any) -> float | None:
    """The reward named `reward`, else the mean: a full score needs all of them."""
    if not isinstance(rewards, dict):
        return _number(rewards)
    named = _number(rewards.get("reward"))
    if named is not None:
        return named
    numbers = [number for number in map(_number, rewards.values()) if number is not None]
    return sum(numbers) / len(numbers) if numbers else None


def _as_words(rewards: Any) -> str:
    if not isinstance(rewards, dict):
        number = _number(rewards)
        return "no reward" if number is None else f"{number:g}"
    said = [
        f"{name} {number:g}"
        for name, value in rewards.items()
        if (number := _number(value)) is not None
    ]
    return ", ".join(said[:20]) or "no reward"


def _number(value: Any) -> float | None:
    if not isinstance(value, (bool, int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


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


def _labels(path: Path) -> dict[str, bool]:
    found = _stat(path)
    return _labels_of(str(path), found.mtime_ns, found.size) if found else {}


@lru_cache(maxsize=8)
def _labels_of(path: str, mtime_ns: int, size: int) -> dict[str, bool]:
    """A report of hundreds of instances is opened once, and again when it changed."""
    return labels_in(sidecar(Path(path)))


def labels_in(value: Any) -> dict[str, bool]:
    """Resolved or not, by instance, in any of the shapes that SWE-bench reports come in."""
    if isinstance(value, list):
        return dict(_rows(value))
    if not isinstance(value, dict):
        return {}
    labels: dict[str, bool] = {}
    for verdict, names in ((True, RESOLVED_LISTS), (False, UNRESOLVED_LISTS)):
        for name in names:
            listed = value.get(name)
            for instance in listed if isinstance(listed, list) else ():
                if isinstance(instance, str):
                    labels.setdefault(instance, verdict)
    inner = value.get("instances")
    if isinstance(inner, (list, dict)):
        labels |= labels_in(inner)
    for instance, said in _rows([value]):
        labels.setdefault(instance, said)
    for instance, row in value.items():
        resolved = row.get("resolved") if isinstance(row, dict) else None
        if isinstance(resolved, bool):
            labels.setdefault(instance, resolved)
    return labels


def _rows(rows: Iterable[Any]) -> Iterator[tuple[str, bool]]:
    for row in rows:
        if isinstance(row, dict):
            instance, resolved = row.get("instance_id"), row.get("resolved")
            if isinstance(instance, str) and isinstance(resolved, bool):
                yield instance, resolved


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


def sidecar(path: Path) -> Any:
    """The value of a JSON file beside a transcript; None for one that is not to be read."""
    data = _bytes(path)
    if data is None:
        return None
    try:
        return msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None
