"""The run of `agentlearn review`: sessions in the order of time, one after another, and a report.

A session that a model failed on does not end the batch, unless its key was refused or it failed
three times in a row: then what is left is told, not tried.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from agentlearn.cli.app import INTERRUPTED, complain
from agentlearn.cli.load import Loader
from agentlearn.cli.review_output import Printer
from agentlearn.config import Settings
from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.events import Emit, EventLog, Progress, new_trace_id, tee
from agentlearn.guard import plain
from agentlearn.models.model import Model
from agentlearn.review.by_model import Limits, load_prompt
from agentlearn.review.review import Plan, Reviewing
from agentlearn.sessions.discover import HEAD, changed_at
from agentlearn.sessions.select import Candidate
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Session
from agentlearn.store.shelf import Desk, Mode
from agentlearn.store.store import Store

MODEL_FAILED, CHANGES_WAIT = 4, 3
MOST_FAILURES = 3
SORTED_UP_TO = 64 * 1024 * 1024
"""The sessions of a larger file are reviewed in the order they stand in."""
TIME = re.compile(
    rb'"(?:timestamp|started_at|startTime|created_at|created|at|start_time)"\s*:\s*"'
    rb"(\d{4}-\d\d-\d\dT[\d:.]+)"
)


def mode_of(dry_run: bool, stage: bool) -> Mode:
    if dry_run and stage:
        raise BadInput("--dry-run and --stage exclude each other")
    return "dry-run" if dry_run else "stage" if stage else "apply"


def choose_reviewer(settings: Settings) -> Model | None:
    """The model, or None for the rules; one line on stderr says which."""
    wanted = settings.reviewer
    if wanted == "model" and not settings.model:
        raise BadInput(
            "--reviewer model needs the name of one",
            "agentlearn review --model NAME, or AGENTLEARN_MODEL=NAME",
        )
    if wanted == "rules" or not settings.model:
        why = "" if wanted == "rules" else " (no model is named: --model, AGENTLEARN_MODEL)"
        print(f"note: reviewed by the rules{why}", file=sys.stderr)
        return None
    from agentlearn.models.choose import choose_model

    model = choose_model(settings.model, settings.model_timeout_seconds)
    print(f"note: reviewed by the model {plain(model.name)}", file=sys.stderr)
    return model


def prepare(
    store: Store,
    mode: Mode,
    settings: Settings,
    model: Model | None,
    prompt: str | None,
    force: bool,
    emit: Emit,
) -> Reviewing:
    plan = Plan(
        nudge_interval=settings.nudge_interval,
        force=force,
        max_chars=settings.max_chars,
        keep=settings.keep,
        limits=Limits(settings.max_iterations, settings.max_tokens),
        budgets={"MEMORY": settings.memory_chars, "USER": settings.user_chars},
        prompt="" if model is None else load_prompt(prompt),
    )
    return Reviewing(Desk(store, mode), plan, model, emit)


def event_sink(wanted: str | None, store: Store, mode: Mode) -> Emit:
    """Where events go: the store's own log, and what was asked for."""
    sinks: list[Emit] = []
    if mode != "dry-run":
        with store.writing():  # what cannot be written to is told before a model is paid
            pass
        sinks.append(EventLog(store.places.events, failed=_warn, follow_links=False))
    if sys.stderr.isatty():
        from agentlearn.cli.progress import live_status

        sinks.append(live_status())
    if wanted == "-":
        sinks.append(lambda event: print(event.line(), file=sys.stderr))
    elif wanted is not None:
        sinks.append(EventLog(wanted))
    return tee(*sinks)


def _warn(error: AgentlearnError) -> None:
    """A log that nobody asked for must not end a run."""
    print(f"warning: {plain(error.message)}", file=sys.stderr)


def review_all(loader: Loader, reviewing: Reviewing, printer: Printer) -> int:
    """Review what was loaded; the exit code that fits, before what went wrong with files."""
    failures, code = 0, 0
    trace_id = new_trace_id()
    for session in in_time_order(loader):
        if len(loader.in_line) > 1:
            reviewing.emit(Progress(trace_id, loader.opened, len(loader.in_line), "reading"))
        report = reviewing.review(session, printer.made)
        printer.add(report)
        ended = report.ended
        if ended is None:
            continue
        if ended.outcome == "aborted":
            printer.stop("interrupted", loader.unopened)
            return INTERRUPTED
        failures = failures + 1 if ended.outcome == "failed" else 0
        if ended.error is not None:
            complain(ended.error)
            code = max(code, ended.error.exit_code)
            is_final = getattr(ended.error, "is_final", True)  # a store that fails goes on failing
            if is_final or failures == MOST_FAILURES:
                who = "the model" if code == MODEL_FAILED else "the store"
                printer.stop(f"{who} failed", loader.unopened)
                break
    if code:
        return code
    return CHANGES_WAIT if printer.mode == "stage" and printer.changes else 0


def in_time_order(loader: Loader) -> Iterator[Session]:
    """The sessions as they happened, as far as their files tell before they are read."""
    loader.candidates.sort(key=_began)
    for candidate in loader.in_turn(bar=False):  # the events tell how far it is
        found = loader.of(candidate)
        path = candidate.path
        if path is None or not path.is_file() or path.stat().st_size > SORTED_UP_TO:
            yield from found
        else:
            yield from sorted(found, key=lambda session: session.started_at or "")


def _began(candidate: Candidate) -> str:
    path = candidate.path
    if path is None or candidate.problem is not None:
        return ""
    try:
        with Source(path) as source:
            found = TIME.search(source.stream.peek(HEAD))
        if found:
            return found[1].decode()
        return _as_time(changed_at(path))
    except (OSError, BadInput, EOFError):
        return ""


def _as_time(seconds: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")
