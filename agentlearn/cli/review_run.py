"""The run of `agentlearn review`: sessions in the order of time, one after another, and a report.

A session that a model failed on does not end the batch, unless its key was refused or it failed
three times in a row: then what is left is told, not tried.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from agentlearn.cli.app import INTERRUPTED, complain
from agentlearn.cli.bases import knowledge_to_ask
from agentlearn.cli.load import PART_FAILED, Loader
from agentlearn.cli.review_output import Printer, shown_id
from agentlearn.config import Settings
from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.events import Emit, EventLog, Progress, new_trace_id, tee
from agentlearn.guard import one_line, plain
from agentlearn.models.model import Model
from agentlearn.review.by_model import Limits, load_prompt
from agentlearn.review.reading import Explore
from agentlearn.review.review import Plan, Reviewing
from agentlearn.sessions.detect import detect
from agentlearn.sessions.discover import HEAD, changed_at
from agentlearn.sessions.read import read_sessions
from agentlearn.sessions.select import Candidate
from agentlearn.sessions.source import Source
from agentlearn.sessions.text import parse_time
from agentlearn.sessions.values import Session
from agentlearn.store.shelf import Desk, Mode
from agentlearn.store.store import Store
from agentlearn.store.values import Change

FAILED, MODEL_FAILED, CHANGES_WAIT = 1, 4, 3
MOST_FAILURES = 3
SORTED_UP_TO = 64 * 1024 * 1024
"""The sessions of a larger file are reviewed in the order they stand in."""


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
        long=settings.long,
        limits=Limits(settings.max_iterations, settings.max_tokens),
        budgets={"MEMORY": settings.memory_chars, "USER": settings.user_chars},
        prompt="" if model is None else load_prompt(prompt),
        knowledge=None if model is None else knowledge_to_ask(),
        explore=_explorer(store, mode, settings, model, emit) if settings.long == "rlm" else None,
    )
    return Reviewing(Desk(store, mode), plan, model, emit)


def _explorer(
    store: Store, mode: Mode, settings: Settings, model: Model | None, emit: Emit
) -> Explore | None:
    """What reads a long session before a model reviews it."""
    if model is None:
        print("note: --long is for models: the rules read all of a session", file=sys.stderr)
        return None
    from agentlearn.cli.explorers import explorer

    return explorer(store, settings, model, emit, cached=mode != "dry-run")


def event_sink(wanted: str | None, store: Store, mode: Mode, takes_long: bool) -> Emit:
    """Where events go: the store's own log, what was asked for, and who waits for the end.

    One session that the rules read is over at once: of that only the report is told.
    """
    sinks: list[Emit] = []
    if mode != "dry-run":
        with store.writing():  # what cannot be written to is told before a model is paid
            pass
        sinks.append(EventLog(store.places.events, failed=_warn, follow_links=False))
    if wanted == "-":  # there the events themselves tell how far it is
        sinks.append(lambda event: print(event.line(), file=sys.stderr))
        return tee(*sinks)
    if takes_long:
        from agentlearn.cli.progress import show_progress

        sinks.append(show_progress())
    if wanted is not None:
        sinks.append(_named_log(wanted))
    return tee(*sinks)


def _named_log(path: str) -> EventLog:
    """A file that a person named: seen to be writable before anything is paid for."""
    try:
        with open(path, "ab"):  # noqa: PTH123, as it was named: /dev/fd/63 is no Path
            pass
    except OSError as error:
        raise BadInput(f"events cannot be written to {path}: {error.strerror}") from None
    return EventLog(path, failed=_warn)


def _warn(error: AgentlearnError) -> None:
    """A log that nobody asked for must not end a run."""
    print(f"warning: {plain(error.message)}", file=sys.stderr)


def review_all(
    loader: Loader,
    reviewing: Reviewing,
    printer: Printer,
    learned: Callable[[list[Change]], None],
) -> int:
    """Review what was loaded; the exit code that fits, before what went wrong with files.

    `learned` hears what each session changed.
    """
    left, under_way = 0, 0
    try:
        code, failures = 0, 0
        trace_id = new_trace_id()
        for session, left in in_time_order(loader):
            if len(loader.in_line) > 1:
                reviewing.emit(Progress(trace_id, loader.opened, len(loader.in_line), "reading"))
            under_way = 1
            report = reviewing.review(session, printer.made)
            learned([attempt.change for attempt in report.attempts if attempt.change])
            printer.add(report)
            under_way = 0
            ended = report.ended
            if ended is None:
                continue
            if ended.outcome == "aborted":
                raise KeyboardInterrupt
            failures = failures + 1 if ended.outcome == "failed" else 0
            if ended.error is not None:
                complain_of(session, ended.error)
                code = max(code, ended.error.exit_code)
                is_final = getattr(ended.error, "is_final", True)  # a full disk stays full
                if is_final or failures == MOST_FAILURES:
                    who = "the model" if code == MODEL_FAILED else "the store"
                    printer.stop(f"{who} failed", left + loader.unopened)
                    break
    except KeyboardInterrupt:
        printer.stop("it was interrupted", left + loader.unopened)
        return INTERRUPTED
    except SystemExit:
        printer.stop("it was told to end", under_way + left + loader.unopened)
        raise
    finally:
        printer.unread = loader.bad + loader.broken
    if code == FAILED and printer.reviewed:
        return PART_FAILED
    if code:
        return code
    return CHANGES_WAIT if printer.mode == "stage" and printer.changes else 0


def complain_of(session: Session, error: AgentlearnError) -> None:
    """In a batch, an error without a name is nobody's."""
    complain(AgentlearnError(f"session {one_line(shown_id(session.id), 60)}: {error}", error.hint))


def in_time_order(loader: Loader) -> Iterator[tuple[Session, int]]:
    """The sessions as they happened, each with the number of those after it in its file.

    Files are put in order by when their first session began, those that hold several once more.
    """
    if len(loader.candidates) > 1:
        began = {candidate: _began(candidate) for candidate in loader.candidates}
        loader.candidates.sort(key=lambda candidate: began[candidate])
    for candidate in loader.in_turn(bar=False):  # the events tell how far it is
        found = loader.of(candidate)
        path = candidate.path
        if path is None or not path.is_file() or path.stat().st_size > SORTED_UP_TO:
            yield from ((session, 0) for session in found)
        else:
            sessions = sorted(found, key=lambda session: _moment(session.started_at) or 0.0)
            for number, session in enumerate(sessions, 1):
                yield session, len(sessions) - number


def _began(candidate: Candidate) -> float:
    """When the first session of a file began, as its reader says; else when it was written."""
    path = candidate.path
    if path is None or candidate.problem is not None:
        return 0.0
    try:
        starts = _starts(path)
    except Exception:  # told when it is read
        starts = []
    return min(starts) if starts else changed_at(path)


def _starts(path: Path) -> list[float]:
    """Of a file of lines the head is enough; a document that is not too large is read twice."""
    with Source(path) as source:
        is_lines = detect(source.stream).layout == "lines"
        head = source.stream.peek(HEAD)
        is_whole = len(head) < HEAD
        if is_lines and not is_whole:
            head = head[: head.rfind(b"\n") + 1] or head
            with Source(path, io.BytesIO(head)) as first:
                return _times(first)
        if is_whole or path.stat().st_size <= SORTED_UP_TO:
            return _times(source)
    return []


def _times(source: Source) -> list[float]:
    found = (_moment(session.started_at) for session in read_sessions(source))
    return [moment for moment in found if moment is not None]


def _moment(time: str | None) -> float | None:
    moment = parse_time(time)
    return moment.timestamp() if moment is not None else None
