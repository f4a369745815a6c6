"""What agents call at their hooks: Claude Code, Codex and Gemini CLI.

Reads the JSON that the agent gives on stdin. session-start prints, as JSON, the notes in the order
of the memory (but none that the agent reads by itself, through the line that init adds to its
instructions) and then the knowledge that was used most and is surest; user-prompt prints what bears
on the prompt; each at most max_context_items of both. session-end starts a review of the transcript
in the background and prints nothing. A hook never fails its agent: what goes wrong, and what the
review says, is told in .agentlearn/hook.log, and the exit code is 0. A base that cannot be read
silences neither the notes nor the other base.
"""

from __future__ import annotations

import contextlib
import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from agentlearn.cli.bases import Tell, both_bases, known_context, notes_in
from agentlearn.cli.stores import open_store
from agentlearn.config import resolve
from agentlearn.errors import BadInput
from agentlearn.guard import one_sentence
from agentlearn.knowledge.context import context_at_start, words_in
from agentlearn.knowledge.tools import asked
from agentlearn.store.hooks import HOOKS
from agentlearn.store.setup import reads_memory

EVENTS = {
    "session-start": "SessionStart",
    "user-prompt": "UserPromptSubmit",
    "session-end": "SessionEnd",
}
MOST_INPUT = 4 * 1024 * 1024


def main(
    event: Annotated[str, typer.Argument(metavar="session-start|session-end|user-prompt")],
) -> None:
    try:
        if event not in EVENTS:
            raise BadInput(f"it is none of {', '.join(EVENTS)}")
        given = _given()
        if event == "session-end":
            _review(given)
        elif block := _context(event, given):
            name = given.get("hook_event_name")
            told = name if isinstance(name, str) and name.isalnum() else EVENTS[event]
            output = {"hookEventName": told, "additionalContext": block}
            print(orjson.dumps({"hookSpecificOutput": output}).decode())
    except Exception as error:
        _tell(one_sentence(event)[:40], error)


def _tell(event: str, error: Exception) -> None:
    """On stderr, and where a person finds it when the agent shows it to nobody."""
    from agentlearn.store.hook_log import note

    said = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
    sentence = one_sentence(str(said))[:500]
    print(f"agentlearn hook {event}: {sentence}", file=sys.stderr)
    with contextlib.suppress(Exception):  # a project that has no store, or a broken one
        note(open_store().places, event, sentence)


def _given() -> dict[str, Any]:
    """What the agent says; and from its folder on, as if we had been called there."""
    data = sys.stdin.buffer.read(MOST_INPUT + 1)
    if len(data) > MOST_INPUT:
        raise BadInput(f"the hook was given too much: {MOST_INPUT >> 20} MB are the most")
    value = orjson.loads(data) if data.strip() else {}
    if not isinstance(value, dict):
        raise BadInput("the hook was given no JSON object")
    folder = value.get("cwd")
    if isinstance(folder, str) and Path(folder).is_dir():
        os.chdir(folder)
    return value


def _context(event: str, given: dict[str, Any]) -> str:
    if event != "user-prompt":
        return _at_the_start(_agents(given.get("transcript_path")), partial(_tell, event))
    prompt = given.get("prompt")
    tell = partial(_tell, event)
    return known_context(words_in(prompt), tell) if isinstance(prompt, str) else ""


def _agents(transcript: Any) -> list[str]:
    """Who calls, by where it keeps its transcripts; all that it may be if that does not tell."""
    parts = Path(transcript).parts if isinstance(transcript, str) else ()
    return [name for name in HOOKS if f".{name}" in parts] or list(HOOKS)


def _at_the_start(agents: list[str], tell: Tell) -> str:
    store, most = open_store(), resolve().max_context_items
    from agentlearn.cli.learned import forget_unsaid

    forget_unsaid(store)  # a note that a person took out by hand must not come back as a fact
    notes = notes_in(store)
    read = notes if any(reads_memory(store.places, name) for name in agents) else []
    all_notes = list(dict.fromkeys([*notes, *notes_in(open_store(user=True))]))
    return asked(both_bases(), lambda bases: context_at_start(bases, all_notes, read, most), tell)


def _review(given: dict[str, Any]) -> None:
    """Start the review and go: the agent is not kept waiting."""
    from agentlearn.cli.hook_review import start

    path = given.get("transcript_path")
    if not isinstance(path, str) or not Path(path).is_file():
        raise BadInput("there is no transcript to review")
    start(str(Path(path).absolute()), by_rules=resolve().hooks_reviewer == "rules")
