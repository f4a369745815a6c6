"""Verdicts from a label file: CSV or JSON lines of who is meant and how it ended.

Who: a session id or a path, else an instance id (the task of a benchmark, whose sessions all get
the label; beside an id or a path it only tells the task). How: a score, or a word
such as success, failure, resolved, true, or aborted:REASON, which is no success either. A line
that says neither is an error with its number: a label that is silently dropped would falsify every
number after it. The evidence of a label is its own line, or lines, in the file that was given.
"""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

from agentlearn.errors import BadInput
from agentlearn.rewards.draw import Verdict
from agentlearn.sessions.native_values import parse_outcome
from agentlearn.sessions.values import Place, Session

SESSION = ("session", "session_id", "id", "path", "file")
TASK = ("instance_id", "instance", "task", "task_id")
WHO = (*SESSION, *TASK)
HOW = ("score", "reward", "outcome", "label", "resolved", "passed", "success", "value")
GOOD = {"success", "succeeded", "pass", "passed", "resolved", "true", "yes", "solved"}
POOR = {"failure", "failed", "fail", "unresolved", "false", "no", "unsolved"}
Span = tuple[int, int]


class Labels:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.by_key: dict[str, Verdict] = {}
        self.used: set[str] = set()
        try:
            text = path.read_bytes().decode("utf-8-sig")  # with the line ends as they are
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            raise BadInput(f"cannot read the labels in {path}: {reason}") from None
        for span, row in _rows(path, text):
            self.add(span, row)
        if not self.by_key:
            raise BadInput(f"{path} holds no labels", "a line is, for example: s1,success")

    def add(self, span: Span, row: dict[str, Any]) -> None:
        where = f"{self.path}:{span[1]}"
        keys = _named(row, SESSION) or _named(row, TASK)
        if not keys:
            raise BadInput(f"{where}: no session is named; use one of {', '.join(WHO)}")
        value = next((row[name] for name in HOW if row.get(name) not in (None, "")), None)
        verdict = _verdict(value, where, Place(str(self.path), span))
        for key in keys:
            known = self.by_key.get(key)
            if known is not None and (known.score, known.outcome) != (
                verdict.score,
                verdict.outcome,
            ):
                raise BadInput(f"{where}: {key} has another label already")
            self.by_key[key] = verdict

    def verdict(self, session: Session) -> Verdict | None:
        for key in _keys_of(session):
            if key in self.by_key:
                self.used.add(key)
                return self.by_key[key]
        return None

    def tell_unused(self) -> None:
        verdicts = {id(verdict) for key, verdict in self.by_key.items() if key in self.used}
        unused = len({id(verdict) for verdict in self.by_key.values()} - verdicts)
        if unused:
            labels = "1 label names" if unused == 1 else f"{unused} labels name"
            print(f"note: {labels} no session that was read", file=sys.stderr)


def _named(row: dict[str, Any], names: tuple[str, ...]) -> list[str]:
    keys = [str(row[name]) for name in names if row.get(name) not in (None, "")]
    return keys + [str(Path(key).absolute()) for key in keys if "/" in key]


def _keys_of(session: Session) -> Iterator[str]:
    yield session.id
    if session.path:
        path = Path(session.path)
        yield session.path
        yield str(path.absolute())
        yield path.name
        yield path.name.split(".")[0]
    for name in ("instance_id", "task"):
        if session.metadata.get(name) is not None:
            yield str(session.metadata[name])


def _verdict(value: Any, where: str, place: Place) -> Verdict:
    if isinstance(value, bool):
        return Verdict(float(value), None, "label", place=place)
    given = "" if value is None else str(value)[:40]
    outcome, said = _outcome(value)
    if outcome is not None:
        return Verdict(None, outcome, f"label {said}", place=place)
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            value = None
    score = _finite(value)
    if score is None:
        hint = (
            "a label is a score, success, failure, aborted or in_progress "
            "(also: pass, fail, resolved, true, false)"
        )
        said = f"{given!r} is no score and no outcome" if given else "there is no score or outcome"
        raise BadInput(f"{where}: {said}", hint)
    return Verdict(score, None, "label", place=place)


def _outcome(value: Any) -> tuple[str | None, str]:
    """The outcome that a label names, and its word; `unknown` is not one: nobody gave a verdict."""
    word = value.strip() if isinstance(value, str) else ""
    if word.lower() in GOOD | POOR:
        return "success" if word.lower() in GOOD else "failure", word.lower()
    name, colon, _ = word.partition(":")
    if colon and name.lower() == "aborted":
        word = name
    try:
        known, _ = parse_outcome(value if isinstance(value, dict) else word)
    except ValueError:
        return None, ""
    return (None if known == "unknown" else known), known


def _finite(value: Any) -> float | None:
    if not isinstance(value, (int, float)):
        return None
    try:
        score = float(value)
    except OverflowError:
        return None
    return score if math.isfinite(score) else None


def _rows(path: Path, text: str) -> Iterator[tuple[Span, dict[str, Any]]]:
    """Each row with its first and its last line."""
    if text.lstrip()[:1] in ("{", "["):
        yield from _json_rows(path, text)
        return
    rows = list(_csv_rows(path, text))
    head = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    has_head = any(cell in WHO for cell in head) and any(cell in HOW for cell in head)
    if not has_head:
        head = ["id", "outcome"]
    for span, cells in rows[has_head:]:
        named = zip(head, cells, strict=False)
        yield span, {name: cell.strip() for name, cell in named}


def _csv_rows(path: Path, text: str) -> Iterator[tuple[Span, list[str]]]:
    lines = list(io.StringIO(text, newline=""))
    # A carriage return ends a line of CSV, but none of the lines that evidence counts.
    numbers = list(accumulate((line.endswith("\n") for line in lines), initial=1))
    reader = csv.reader(lines)
    before = 0
    try:
        for cells in reader:
            if any(map(str.strip, cells)):
                yield (numbers[before], numbers[reader.line_num - 1]), cells
            before = reader.line_num
    except csv.Error as error:
        raise BadInput(f"{path}:{reader.line_num} is not CSV: {error}") from None


def _json_rows(path: Path, text: str) -> Iterator[tuple[Span, dict[str, Any]]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{path}:{number} is not JSON: {error}") from None
        if not isinstance(row, dict):
            raise BadInput(f"{path}:{number} is not a JSON object")
        yield (number, number), row
