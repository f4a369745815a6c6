"""What agents call at their hooks: Claude Code, Codex and Gemini CLI.

Reads the JSON that the agent gives on stdin. session-start and user-prompt print the context for
the agent as JSON; session-end starts a review of the transcript in the background and prints
nothing. A hook never fails its agent: what goes wrong is told on stderr, and the exit code is 0.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import orjson
import typer

from agentlearn.cli.bases import both_bases, known_context, memory_notes
from agentlearn.config import Settings, resolve
from agentlearn.errors import BadInput
from agentlearn.guard import one_sentence
from agentlearn.knowledge.context import block_of, first_notes, words_in
from agentlearn.knowledge.recall import best_known

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
        said = getattr(error, "message", None) or f"{type(error).__name__}: {error}"
        print(
            f"agentlearn hook {one_sentence(event)[:40]}: {one_sentence(str(said))[:500]}",
            file=sys.stderr,
        )


def _given() -> dict[str, Any]:
    """What the agent says; and from its folder on, as if we had been called there."""
    data = sys.stdin.buffer.read(MOST_INPUT)
    value = orjson.loads(data) if data.strip() else {}
    if not isinstance(value, dict):
        raise BadInput("the hook was given no JSON object")
    folder = value.get("cwd")
    if isinstance(folder, str) and Path(folder).is_dir():
        os.chdir(folder)
    return value


def _context(event: str, given: dict[str, Any]) -> str:
    if event != "user-prompt":
        return _at_the_start(resolve())
    prompt = given.get("prompt")
    return known_context(words_in(prompt)) if isinstance(prompt, str) else ""


def _at_the_start(settings: Settings) -> str:
    """Nothing was said yet: what is known best."""
    most = settings.max_context_items
    return block_of(first_notes(memory_notes(), most), best_known(both_bases(), most))


def _review(given: dict[str, Any]) -> None:
    """Start the review and go: the agent is not kept waiting."""
    path = given.get("transcript_path")
    if not isinstance(path, str) or not Path(path).is_file():
        raise BadInput("there is no transcript to review")
    settings = resolve()
    command = [sys.executable, "-m", "agentlearn", "review", path]
    if settings.hooks_reviewer == "rules":
        command += ["--reviewer", "rules"]
    subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
