"""What `agentlearn review` prints: what became of each session, and how many were covered."""

from __future__ import annotations

import sys
from typing import Any

from msgspec import to_builtins

from agentlearn.cli.output import json_line, write_bytes, write_json
from agentlearn.guard import one_line, plain
from agentlearn.guard.secrets import redact
from agentlearn.review.reading import read_of
from agentlearn.review.review import Report
from agentlearn.review.tools import Attempt
from agentlearn.sessions.evidence import cite
from agentlearn.store.differences import show_diff
from agentlearn.store.shelf import Mode
from agentlearn.store.store import Store


def shown_id(session_id: str) -> str:
    """An id is what a transcript says it is: it may hold anything."""
    return plain(redact(session_id))


FAR_TOO_LONG = 4


class Printer:
    """The report, in the format that was asked for."""

    def __init__(self, chosen: str, store: Store, mode: Mode) -> None:
        self.chosen = chosen
        self.places = store.places
        self.mode = mode
        self.reports: list[dict[str, Any]] = []
        self.sessions = self.reviewed = self.skipped = self.failed = self.changes = 0
        self.reasons: dict[str, int] = {}
        self.stopped = ""
        self.untried = 0
        """Files and sessions that a run which stopped did not come to."""
        self.unread = 0
        """Files that were asked for and could not be read."""
        self.blocked: dict[str, int] = {}
        """Changes with which nothing is wrong, that the store could not take, and why."""
        self.way_out = ""

    def made(self, attempt: Attempt) -> None:
        self.changes += attempt.change is not None

    def stop(self, why: str, untried: int) -> None:
        """The run ends before its end."""
        self.stopped, self.untried = why, untried

    def add(self, report: Report) -> None:
        self.sessions += 1
        if report.ended is None:
            self.skipped += 1
            group = report.gate.group
            self.reasons[group] = self.reasons.get(group, 0) + 1
        elif report.ended.error is not None or report.ended.outcome in ("failed", "aborted"):
            self.failed += 1
        else:
            self.reviewed += 1
            self._count_blocked(report)
        self._tell_of_rlm(report)
        if self.chosen == "json":
            self.reports.append(self._as_json(report))
        elif self.chosen == "jsonl":
            write_bytes(json_line(self._as_json(report)))
            sys.stdout.flush()
        else:
            write_bytes(self._as_text(report).encode("utf-8", "replace"))

    def _count_blocked(self, report: Report) -> None:
        """What the store could not take is not lost: the rules find it again."""
        for error in (attempt.blocked for attempt in report.attempts):
            if error is not None:
                reason = plain(error.message).partition(": ")[0]
                self.blocked[reason] = self.blocked.get(reason, 0) + 1
                again = "review again" if report.model is None else "review again with --force"
                self.way_out = f"{error.hint}; then {again}" if error.hint else self.way_out

    def _tell_of_rlm(self, report: Report) -> None:
        """Reading all of a long session costs money: it is never done unasked, but offered."""
        reading = report.reading
        if reading is None or reading.way in ("whole", "rlm"):
            return
        times = reading.of_chars // max(1, reading.chars)
        if times >= FAR_TOO_LONG:
            said = f"{one_line(shown_id(report.session.id), 60)} is {times} times what was read"
            hint = "--long rlm --force lets a model read all of it first, which costs more"
            print(f"note: {said}; {hint}", file=sys.stderr)

    def finish(self) -> None:
        summary = {
            "sessions": self.all,
            "reviewed": self.reviewed,
            "skipped": self.skipped + self.untried,
            "failed": self.failed + self.unread,
            "changes": self.changes,
        }
        if self.chosen == "json":
            write_json({"sessions": self.reports, "summary": summary})
        sys.stdout.flush()
        self._tell()

    @property
    def all(self) -> int:
        """What nobody looked into counts as one session a file."""
        return self.sessions + self.untried + self.unread

    def _tell(self) -> None:
        """How many of how many were covered, and why the others were not."""
        if not self.all:
            return
        how = {"apply": "made", "stage": "staged", "dry-run": "that would be made"}[self.mode]
        changes = f"{self.changes} change{'' if self.changes == 1 else 's'} {how}"
        print(f"reviewed {self.reviewed} of {self.all} sessions: {changes}", file=sys.stderr)
        for reason, count in sorted(self.reasons.items(), key=lambda item: -item[1])[:5]:
            print(f"  not reviewed: {count}, because {reason}", file=sys.stderr)
        for reason, count in self.blocked.items():
            print(f"  not written: {count}, because {reason}", file=sys.stderr)
        if self.way_out:
            print(f"hint: {self.way_out}", file=sys.stderr)
        if self.failed:
            print(f"  not reviewed to the end: {self.failed}", file=sys.stderr)
        if self.unread:
            print(f"  not read: {self.unread}, see the errors above", file=sys.stderr)
        if self.untried:
            print(f"  not tried: {self.untried}, because {self.stopped}", file=sys.stderr)
        if self.mode == "stage" and self.changes:
            print("hint: agentlearn diff shows them, agentlearn adopt makes them", file=sys.stderr)

    def _as_json(self, report: Report) -> dict[str, Any]:
        session, ended = report.session, report.ended
        usage = ended.usage if ended is not None else None
        return {
            "id": shown_id(session.id),
            "path": session.path,
            "dialect": session.dialect,
            "gate": {"passed": report.gate.passed, "reason": report.gate.reason},
            "reviewer": report.reviewer,
            "model": report.model,
            "outcome": report.outcome,
            "error": None if ended is None or ended.error is None else str(ended.error),
            "iterations": ended.iterations if ended is not None else 0,
            "usage": {
                "input_tokens": usage.input_tokens if usage is not None else 0,
                "output_tokens": usage.output_tokens if usage is not None else 0,
            },
            "reading": None if report.reading is None else to_builtins(read_of(report.reading)),
            "changes": [self._change(attempt, session.path) for attempt in report.attempts],
        }

    def _change(self, attempt: Attempt, path: str | None) -> dict[str, Any]:
        change = attempt.change
        return {
            "id": change.id if change else None,
            "kind": attempt.kind,
            "action": attempt.action,
            "name": attempt.name,
            "path": self.places.shown(change.edits[0].path) if change and change.edits else None,
            "text": attempt.text,
            "status": attempt.status,
            "reason": attempt.reason,
            "evidence": [
                {
                    "session": shown_id(cited.session),
                    "path": path,
                    "start": cited.start,
                    "end": cited.end,
                    "unit": cited.unit,
                    "sha256": cited.sha256,
                }
                for cited in attempt.evidence
            ],
        }

    def _as_text(self, report: Report) -> str:
        session = report.session
        head = f"{one_line(shown_id(session.id), 60)} ({session.dialect})"
        if report.ended is None:
            return f"{head}: not reviewed, {plain(report.gate.reason)}\n"
        made = [attempt for attempt in report.attempts if attempt.change is not None]
        changes = f"{len(made) or 'no'} change{'s' * (len(made) != 1)}"
        lines = [f"{head}: {report.outcome}, {changes}{self._cost(report)}"]
        for attempt in report.attempts:
            lines += self._attempt(attempt)
        return "\n".join(lines) + "\n"

    def _cost(self, report: Report) -> str:
        """What a model took; the rules cost nothing."""
        ended = report.ended
        if ended is None or report.model is None:
            return ""
        rounds = f"{ended.iterations} round{'s' * (ended.iterations != 1)}"
        tokens = f"{ended.usage.input_tokens:,} tokens read, {ended.usage.output_tokens:,} written"
        why = f"; {ended.reason}" if ended.reason else ""
        return f" ({rounds}, {tokens}, {report.elapsed_ms / 1000:.1f} s{why}){_read(report)}"

    def _attempt(self, attempt: Attempt) -> list[str]:
        places = ", ".join(
            cite("", cited.start, cited.end, cited.unit)[1:] for cited in attempt.evidence
        )
        from_lines = f", from {places}" if places else ""
        name = one_line(f"{attempt.kind} {attempt.action} {attempt.name}", 100)
        if attempt.change is None:
            return [f"refused: {name}{from_lines}: {plain(attempt.reason or '')}"]
        lines = [f"{attempt.status} {attempt.change.id}: {name}{from_lines}"]
        for edit in attempt.change.edits:
            diff = show_diff(edit.before, edit.after, self.places.shown(edit.path))
            lines += plain(diff).splitlines()
        return [*lines, ""]


def _read(report: Report) -> str:
    """How much of a session that was too long was read, which way, and what that cost."""
    reading = report.reading
    if reading is None or reading.way == "whole":
        return ""
    cost = ""
    if reading.way == "rlm":
        usage = reading.usage
        tokens = f"{usage.input_tokens:,} tokens read, {usage.output_tokens:,} written"
        questions = f"{reading.subcalls} question{'s' * (reading.subcalls != 1)} about parts"
        cost = f" after {questions} ({tokens})"
    return f"; read {reading.share:.0%} of it by {reading.way}{cost}"
