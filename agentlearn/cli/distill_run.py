"""The run of `agentlearn distill`: sessions become pages, a model or the evidence answers."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from agentlearn.cli.app import INTERRUPTED, complain
from agentlearn.cli.explorers import explorer
from agentlearn.cli.load import Loader
from agentlearn.cli.output import write_bytes, write_json
from agentlearn.cli.review_run import event_sink
from agentlearn.cli.stores import open_store
from agentlearn.config import Settings
from agentlearn.errors import BadInput
from agentlearn.events import Completion, Emit, Progress, new_trace_id
from agentlearn.guard import plain
from agentlearn.guard.secrets import redact
from agentlearn.models.model import CHARS_PER_TOKEN, Model
from agentlearn.rlm.by_evidence import answer_by_evidence
from agentlearn.rlm.citations import Cited
from agentlearn.rlm.explore import QUESTION, Distilled
from agentlearn.rlm.pages import Pages
from agentlearn.sessions.spool import Spool

NOT_CONVERGED = 1
MOST_QUESTION = 2_000


def checked_question(given: str | None) -> str:
    question = QUESTION if given is None else redact(plain(given)).strip()
    if not question:
        raise BadInput("the question is empty", '--question "What was decided about the schema?"')
    if len(question) > MOST_QUESTION:
        raise BadInput(f"the question has {len(question)} characters, {MOST_QUESTION} are the most")
    return question


def events_to(wanted: str | None, costs: bool) -> Emit:
    """Where events go. What cost nothing leaves no folder where there was none."""
    store = open_store()
    is_kept = costs or store.places.own.is_dir()
    return event_sink(wanted, store, "apply" if is_kept else "dry-run", takes_long=costs)


def by_evidence(loader: Loader, max_chars: int, emit: Emit) -> Distilled:
    began = time.monotonic()
    trace_id = new_trace_id()
    emit(Progress(trace_id, 1, 1, "reading"))
    with _told_if_it_ends(emit, trace_id, began, None):
        sessions = list(loader.sessions())
        found = answer_by_evidence(sessions, max_chars)
    if found.left_out:
        things = "1 thing is" if found.left_out == 1 else f"{found.left_out} things are"
        said = f"{things} left out, those that weigh least (--max-chars)"
        print(f"note: {said}", file=sys.stderr)
    elif not found.text and sessions:
        print("note: nothing was said, rejected, judged or solved in it", file=sys.stderr)
    size = sum(len(entry.packed) for session in sessions for entry in session.entries)
    completion = Completion(
        trace_id=trace_id,
        outcome="converged",
        iterations=1,
        subcalls=0,
        input_tokens=size // CHARS_PER_TOKEN,
        output_tokens=len(found.text) // CHARS_PER_TOKEN,
        elapsed_ms=int((time.monotonic() - began) * 1000),
        command="distill",
    )
    emit(completion)
    return Distilled(found.text, Cited(found.text, found.citations, 0), completion)


def by_model(
    loader: Loader, question: str, root: Model, settings: Settings, emit: Emit, cached: bool
) -> Distilled:
    with _told_if_it_ends(emit, new_trace_id(), time.monotonic(), root.name):
        spool = Spool()  # one for all: a folder may hold more sessions than files may be open
        books = [Pages(session, spool) for session in loader.sessions() if session.entries]
        if not books:
            loader.finish()
            raise BadInput("there is nothing in what was named")
    return explorer(open_store(), settings, root, emit, cached)(books, question)


@contextlib.contextmanager
def _told_if_it_ends(emit: Emit, trace_id: str, began: float, root: str | None) -> Iterator[None]:
    """A run that ends before there is anything to explore has its record as well."""
    try:
        yield
    except BaseException as error:
        is_asked_to = isinstance(error, (KeyboardInterrupt, SystemExit))
        emit(
            Completion(
                trace_id=trace_id,
                outcome="aborted" if is_asked_to else "failed",
                iterations=0,
                subcalls=0,
                input_tokens=0,
                output_tokens=0,
                elapsed_ms=int((time.monotonic() - began) * 1000),
                reason="interrupted" if is_asked_to else "input",
                root_model=root,
                command="distill",
            )
        )
        raise


def show(done: Distilled, chosen: str) -> int:
    """Print what came of it; the exit code."""
    if chosen == "json":
        write_json(as_dict(done))
    elif done.answer:
        write_bytes(f"{done.answer}\n".encode("utf-8", "replace"))
        if done.completion.root_model is not None and done.cited.citations:
            places = "\n".join(f"- {place}" for place in done.cited.citations)
            write_bytes(f"\nfrom:\n{places}\n".encode("utf-8", "replace"))
    if done.cited.struck:
        count = done.cited.struck
        places = "1 place is" if count == 1 else f"{count} places are"
        said = f"{places} not there that the model named: struck out"
        print(f"note: {said}", file=sys.stderr)
    return _told(done)


def _told(done: Distilled) -> int:
    outcome = done.completion.outcome
    if outcome == "converged":
        return 0
    if outcome == "aborted":
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    if done.error is not None:
        complain(done.error)
        return done.error.exit_code
    best = "this is what was found so far" if done.answer else "nothing was found so far"
    print(f"warning: {plain(done.said or outcome)}; {best}", file=sys.stderr)
    return NOT_CONVERGED


def as_dict(done: Distilled) -> dict[str, Any]:
    citations = [
        {"session": one.session, "start": one.start, "end": one.end} for one in done.cited.citations
    ]
    completion = {
        key: value
        for key, value in msgspec.to_builtins(done.completion).items()
        if value is not None or key == "root_model"
    }
    completion["compression_ratio"] = done.completion.compression_ratio
    return {
        "answer": done.answer,
        "citations": citations,
        "struck_out": done.cited.struck,
        "completion": completion,
    }
