"""The small agent built in: a model, one tool, and a loop until it answers.

The shell runs in the workspace with a time limit and a cap on what it prints, and finds no key in
its environment. Text that goes to the model has no secrets in it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agentlearn.guard import plain
from agentlearn.guard.secrets import redact
from agentlearn.knowledge.context import with_block
from agentlearn.knowledge.tools import RECALL, STORE, KnowledgeTools
from agentlearn.models.model import Model, Reply, Said, Tool, ToolCall
from agentlearn.reflexion.process import run_command
from agentlearn.reflexion.values import Spent
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.values import Entry, Session

PROMPT = Path(__file__).parent / "agent.md"
COMMAND_SECONDS = 120.0
MOST_COMMAND_SECONDS = 600.0
OUTPUT_CHARS = 10_000
MOST_CALLS = 16
"""Of one reply."""
MOST_OUTPUT_TOKENS = 8192
SHELL = Tool(
    "shell",
    "Run a command with sh in the workspace. Each call is a new shell: cd and variables are not "
    "kept. Long output is cut in its middle.",
    {
        "type": "object",
        "properties": {
            "command": {"type": "string", "description": "What to run."},
            "timeout_seconds": {
                "type": "number",
                "description": f"Up to {MOST_COMMAND_SECONDS:g} ({COMMAND_SECONDS:g}).",
            },
        },
        "required": ["command"],
        "additionalProperties": False,
    },
)


class Known(Struct, frozen=True):
    """What is known, where there is a base: to be asked, and told of before every step."""

    tools: KnowledgeTools
    context: Callable[[Sequence[Entry]], str]


class BuiltIn:
    """One attempt of the agent."""

    def __init__(
        self,
        model: Model,
        workspace: Path,
        env: dict[str, str],
        max_turns: int,
        timeout_seconds: float,
        known: Known | None = None,
    ) -> None:
        self.model = model
        self.workspace = workspace
        self.env = env
        self.max_turns = max_turns
        self.deadline = time.monotonic() + timeout_seconds
        self.usage = Spent()
        self.timed_out = False
        self.known = known
        self.tools = [SHELL, *(known.tools.schemas() if known else ())]
        self.draft = Draft("native", None)
        self.draft.agent = "agentlearn"
        self.draft.model = model.name

    def work(self, prompt: str) -> Session:
        """Do what the prompt says; ModelFailed if the model does."""
        self.draft.said("user", prompt, 1)
        system = PROMPT.read_text(encoding="utf-8")
        messages = [Said("system", system), Said("user", redact(prompt))]
        for number in range(1, self.max_turns + 1):
            if self._seconds_left() <= 0:
                self.timed_out = True
                break
            if self.known is not None:  # what is known of what was said last, in its own place
                block = self.known.context(self.draft.entries)
                messages[1] = Said("user", redact(with_block(prompt, block)))
            reply = self._asked(messages)
            if reply is None:
                self.timed_out = True
                break
            self.usage += Spent(reply.usage.input_tokens, reply.usage.output_tokens)
            step = f"step-{number}"
            self.draft.said("assistant", plain(reply.text), number, step=step)
            if not reply.calls:
                break
            messages.append(Said("assistant", reply.text, reply.calls))
            for place, call in enumerate(reply.calls):
                answer = self._answer(call, number, step) if place < MOST_CALLS else TOO_MANY
                messages.append(Said("tool", redact(answer), call_id=call.id))
        return self.draft.finish("agent")

    def _asked(self, messages: list[Said]) -> Reply | None:
        """The model's reply; None if the time of the attempt is over before it comes."""
        answer: list[Reply | BaseException] = []

        def ask() -> None:
            try:
                answer.append(self.model.ask(list(messages), self.tools, MOST_OUTPUT_TOKENS))
            except BaseException as error:
                answer.append(error)

        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        asking.join(max(self._seconds_left(), 0.0))
        if not answer:
            return None
        if isinstance(answer[0], BaseException):
            raise answer[0]
        return answer[0]

    def _seconds_left(self) -> float:
        return self.deadline - time.monotonic()

    def _answer(self, call: ToolCall, number: int, step: str) -> str:
        """What comes back from a call; it and the answer are recorded."""
        # A model may use the id of a call once more: in the session each has its own.
        made = self.draft.called(
            f"{step}-{len(self.draft.entries)}", call.name, call.arguments, number, step=step
        )
        if self.known is not None and call.name in (RECALL.name, STORE.name):
            answer, is_error = self.known.tools.call(call.name, call.arguments)
            self.draft.returned(made, answer, number, status="error" if is_error else "ok")
            return answer
        command, seconds, problem = _arguments(call)
        if problem:
            self.draft.returned(made, problem, number, status="error")
            return problem
        left = self._seconds_left()
        ran = run_command(command, self._folder(), self.env, max(min(seconds, left), 0.1))
        text = shortened(plain(ran.stdout.text() + ran.stderr.text()).strip("\n"))
        if ran.timed_out:
            text = f"{text}\n(ended after {min(seconds, left):.0f} seconds)".lstrip("\n")
            self.draft.returned(made, text, number, status="error")
        elif ran.exit_code is None:
            self.draft.returned(made, ran.problem or "", number, status="error")
            return f"error: {ran.problem}"
        else:
            self.draft.returned(made, text, number, exit_code=ran.exit_code)
        return f"exit code {ran.exit_code}\n{text}" if not ran.timed_out else text

    def _folder(self) -> Path:
        """Where commands run, also after one of them removed it."""
        self.workspace.mkdir(parents=True, exist_ok=True)
        return self.workspace


TOO_MANY = f"error: not done, these are over {MOST_CALLS} calls at once: come again"


def _arguments(call: ToolCall) -> tuple[str, float, str | None]:
    """The command, its time and what is wrong with the call, if anything."""
    if call.name != SHELL.name:
        return "", 0.0, f"error: there is no tool {plain(call.name)[:80]!r}, only shell"
    try:
        given: Any = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        return "", 0.0, f"error: the arguments are no JSON: {error}"
    command = given.get("command") if isinstance(given, dict) else None
    if not isinstance(command, str) or not command.strip() or "\0" in command:
        return "", 0.0, "error: shell needs a command, as text"
    seconds = given.get("timeout_seconds", COMMAND_SECONDS)
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or not seconds > 0:
        return "", 0.0, "error: timeout_seconds is a number over 0"
    return command, float(min(seconds, MOST_COMMAND_SECONDS)), None


def shortened(text: str) -> str:
    if len(text) <= OUTPUT_CHARS:
        return text
    half = OUTPUT_CHARS // 2
    return f"{text[:half]}\n…({len(text) - 2 * half} characters left out)…\n{text[-half:]}"
