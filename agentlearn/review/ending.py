"""How a session ended, where nobody gave a verdict: what was not brought to its end proves no way.

An interruption that nothing followed, a call that never came back, and a last run that failed say
enough. What a session was about is what it ran most, and its tests. Such a session may teach a
pitfall, never steps.
"""

from __future__ import annotations

import re
from collections import Counter

from agentlearn.review.runs import Run, runs_of
from agentlearn.rewards.rules import compiled_rules, load_rules
from agentlearn.sessions.values import Call, Message, Result, Session, Signal

NUMBERED = re.compile(r"(?:^|\s)\d{1,2}[.)] (?=\S)", re.MULTILINE)
ONE_THEN_ANOTHER = re.compile(
    r"`[^`\n]{2,100}`[^`\n]{0,60}\b(?:then|after that|afterwards|and finally|next)\b[^`\n]{0,40}`",
    re.IGNORECASE,
)
HEADING = re.compile(r"#{1,6} ")
BULLET = re.compile(r"\s*[-*+] ")
UNFINISHED = ("failure", "aborted", "in_progress")
LAST_WORDS = re.compile(
    r"(?i)finish|submit|complet|\bdone\b|exit|respond|answer|think|message|todo"
)
"""Tools that say that the work is done, or nothing at all: no result comes back from them."""


def unfinished(session: Session) -> str | None:
    """Why a session must not be taken for one that worked; None if nothing says so."""
    if session.outcome in UNFINISHED:
        return f"ended as {session.outcome}"
    if session.outcome != "unknown":
        return None
    if _was_interrupted(session):
        return "ended in an interruption"
    if _waits_for_a_result(session):
        return "ended in a call without a result"
    turns = session.turns()
    failed = _failed_at_last(list(runs_of(turns, compiled_rules(load_rules(None)))))
    return f"ended with `{failed.plain}` failing" if failed is not None else None


def _was_interrupted(session: Session) -> bool:
    for entry in reversed(session.entries):
        if isinstance(entry, Signal) and entry.kind == "interruption":
            return True
        if isinstance(entry, Call) or (isinstance(entry, Message) and entry.role == "assistant"):
            return False
        if isinstance(entry, Result) and entry.status == "interrupted":
            return True
    return False


def _waits_for_a_result(session: Session) -> bool:
    answered = {entry.call_id for entry in session.entries if isinstance(entry, Result)}
    for entry in reversed(session.entries):
        if isinstance(entry, Call):
            return entry.id not in answered and not LAST_WORDS.search(entry.tool)
        if isinstance(entry, Message) and entry.text.strip():
            return False
    return False


def _failed_at_last(runs: list[Run]) -> Run | None:
    """The last run of what the session was about, if it failed."""
    last = {_about(run): run for run in runs}
    counts = Counter(map(_about, runs))
    mattered = [about for about, _ in counts.most_common(1)]
    mattered += [about for about in counts if about == "tests"]
    return next((last[about] for about in mattered if last[about].failed), None)


def _about(run: Run) -> str:
    """Variants of one thing are one: `pytest` and `make test`."""
    return run.topic if run.topic != "commands" else run.plain


def is_workflow(text: str) -> bool:
    """Steps: numbered ones, one after the other in a sentence, or a list that does not stand under
    a heading for pitfalls."""
    if len(NUMBERED.findall(text)) > 1 or ONE_THEN_ANOTHER.search(text):
        return True
    under_pitfalls = False
    for line in text.splitlines():
        if HEADING.match(line):
            under_pitfalls = "pitfall" in line.lower()
        elif BULLET.match(line) and not under_pitfalls and "\n" in text.strip():
            return True
    return False
