"""From loaded sessions to what they were worth, by the fast way where there is one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import structs

from agentlearn.cli.load import Loader
from agentlearn.config import Settings
from agentlearn.errors import BadInput
from agentlearn.guard import one_sentence
from agentlearn.rewards.rules import load_rules
from agentlearn.rewards.worth import Scored, Worth, score_session
from agentlearn.sessions.select import Candidate
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Session

SCAN_FROM = 1024 * 1024
"""A smaller file is read before a scan of it could have begun."""
FIELDS = ("goal", "agent", "model", "dialect", "cwd")


class Scorer:
    def __init__(
        self,
        settings: Settings,
        labels: str | None = None,
        evaluator: str | None = None,
        group_by: str | None = None,
    ) -> None:
        self.settings = settings
        self.rules = load_rules(settings.rewards)
        self.labels: Any = None
        self.evaluator: Any = None
        self.group_by = group_by
        self.without_group = 0
        if group_by and group_by not in FIELDS and not group_by.startswith("metadata."):
            known = ", ".join([*FIELDS, "metadata.KEY"])
            raise BadInput(f"--group-by {group_by} is none of {known}")
        if labels is not None:
            from agentlearn.cli.labels import Labels

            self.labels = Labels(Path(labels))
        if evaluator is not None:
            from agentlearn.cli.evaluator import Evaluator

            self.evaluator = Evaluator(evaluator)

    def score(self, loader: Loader, texts: bool) -> Iterator[Scored]:
        """Each session scored, in order. Without `texts`, plain native files are only scanned."""
        scannable = not (texts or self.labels or self.evaluator or self.group_by)
        for candidate in loader.in_turn():
            done = 0
            if scannable and _is_large_native(candidate):
                for worth in self.scanned(candidate):
                    done += 1
                    loader.read += 1
                    yield _without_texts(worth)
                if self.scan_finished:
                    continue
            for number, session in enumerate(loader.of(candidate)):
                if number < done:  # scanned already; the loader counted it twice
                    loader.read -= 1
                else:
                    yield self.score_one(session)

    def scanned(self, candidate: Candidate) -> Iterator[Worth]:
        """What the scan gives, until it meets something that only the full reader reads."""
        from agentlearn.rewards.scanned import scan_worth
        from agentlearn.sessions.native_scan import NotPlain

        self.scan_finished = False
        assert candidate.path is not None
        settings = self.settings
        try:
            yield from scan_worth(
                candidate.path, settings.jobs, settings.gamma, self.rules.stated_only
            )
            self.scan_finished = True
        except NotPlain:
            pass

    def score_one(self, session: Session) -> Scored:
        verdict = self.labels.verdict(session) if self.labels else None
        if verdict is None and self.evaluator:
            verdict = self.evaluator.verdict(session)
        scored = score_session(session, self.rules, self.settings.gamma, verdict)
        if self.group_by:
            group = group_of(session, self.group_by)
            self.without_group += group is None
            worth = structs.replace(scored.worth, task=session.id if group is None else group)
            return structs.replace(scored, worth=worth)
        return scored

    def finish(self) -> None:
        if self.labels:
            self.labels.tell_unused()
        if self.without_group:
            alone = f"{self.without_group} sessions have no {self.group_by}"
            print(f"note: {one_sentence(alone)}: each is a group of its own", file=sys.stderr)


def group_of(session: Session, key: str) -> str | None:
    if key.startswith("metadata."):
        value = session.metadata.get(key.removeprefix("metadata."))
    else:
        value = getattr(session, key)
    return None if value is None else str(value)


def _without_texts(worth: Worth) -> Scored:
    session = Session(
        id=worth.id, dialect=worth.dialect, entries=[], path=worth.path, goal=worth.goal
    )
    return Scored(session, [], [], worth)


def _is_large_native(candidate: Candidate) -> bool:
    path = candidate.path
    try:
        if path is None or candidate.only or candidate.newest or not path.is_file():
            return False
        if path.stat().st_size < SCAN_FROM:
            return False
        with Source(path) as source:
            head = source.stream.peek(4096)
    except (OSError, BadInput):
        return False
    return b'"agentlearn-session/' in head and head[:1] == b"{"
