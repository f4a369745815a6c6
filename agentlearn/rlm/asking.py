"""What models are asked while a session is explored, what that cost, and which model may be asked.

The first question goes to the root model, all others to the cheaper one; where that is not named,
or its server does not have it, the root model takes its place, which is told once. A part that was
read with the same question by the same model is not paid for twice.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from importlib import resources

from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.events import Emit, SubcallFallback, Usage
from agentlearn.guard.data import as_data
from agentlearn.guard.secrets import redact
from agentlearn.models.model import Model, ModelFailed, Reply, Said, Tool, tokens_of
from agentlearn.rlm.cache import Cache
from agentlearn.rlm.side_by_side import OutOfTime, side_by_side

MOST_OUTPUT_TOKENS = 4096
PART_OUTPUT_TOKENS = 1024


class Spent(AgentlearnError):
    """A limit of the run is reached; `reason` says which."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Limits:
    """What a run may take."""

    def __init__(
        self,
        max_iterations: int = 15,
        max_subcalls: int = 50,
        max_tokens: int = 1_000_000,
        timeout_seconds: float = 900.0,
    ) -> None:
        self.max_iterations = max_iterations
        self.max_subcalls = max_subcalls
        self.max_tokens = max_tokens
        self.timeout_seconds = timeout_seconds


class Asking:
    """The models of one run, with what they took so far."""

    def __init__(
        self,
        root: Model,
        sub: Model | None,
        limits: Limits,
        emit: Emit,
        trace_id: str,
        cache: Cache | None = None,
    ) -> None:
        self.root, self.sub = root, sub
        self.limits = limits
        self.emit = emit
        self.trace_id = trace_id
        self.cache = cache
        self.usage = Usage()
        self.spent = 0
        """Tokens as far as servers count them, else as we guess them."""
        self.subcalls = 0
        """Questions about parts that were sent."""
        self.heard: dict[str, str] = {}
        """What was said of each part, as soon as it was."""
        self.sub_used: str | None = None
        self._reserved = 0
        self._was_refused = False
        self.until = time.monotonic() + limits.timeout_seconds
        self.is_over = False
        """Threads that nobody waits for any more ask nothing, and say nothing."""
        self._told = False
        self._lock = threading.Lock()

    @property
    def sub_name(self) -> str:
        return (self.sub or self.root).name

    def end(self) -> None:
        with self._lock:
            self.is_over = True

    def next_step(self, messages: Sequence[Said], tools: Sequence[Tool], is_first: bool) -> Reply:
        """What the explorer does next: the first step is the root model's."""

        def ask() -> Reply:
            if is_first:
                return self._paid(self.root, messages, tools, MOST_OUTPUT_TOKENS)
            return self._by_sub(messages, tools, MOST_OUTPUT_TOKENS)[0]

        self._check_time()
        (reply,) = side_by_side([ask], self.until)
        if isinstance(reply, OutOfTime):
            raise self.out_of_time()
        if isinstance(reply, Exception):
            raise reply
        return reply

    def about(self, question: str, parts: Sequence[str]) -> list[str | Exception]:
        """What a model says of each part; several are read at once, and each only once."""
        answers: dict[str, str | Exception | None] = {
            part: self._kept(question, part) for part in parts
        }
        self.heard.update(
            (part, answer) for part, answer in answers.items() if isinstance(answer, str)
        )
        new = [part for part, answer in answers.items() if answer is None]
        self._reserve(len(new))
        found = side_by_side([self._reading(question, part) for part in new], self.until)
        answers.update(zip(new, found, strict=True))
        return [answer for part in parts if (answer := answers[part]) is not None]

    def _reading(self, question: str, part: str) -> Callable[[], str]:
        def read() -> str:
            messages = [Said("system", part_prompt()), Said("user", _question(question, part))]
            with self._lock:
                self.subcalls += not self.is_over
            reply, model = self._by_sub(messages, (), PART_OUTPUT_TOKENS)
            answer = redact(reply.text.strip())
            if answer and self.cache is not None:
                self.cache.put(self.cache.key(model, question, part), answer)
            self.heard[part] = answer or "(it said nothing)"
            return self.heard[part]

        return read

    def _kept(self, question: str, part: str) -> str | None:
        """What was said before, by the cheaper model or by the one in its place."""
        if self.cache is None:
            return None
        for model in dict.fromkeys((self.sub_name, self.root.name)):
            if (answer := self.cache.get(self.cache.key(model, question, part))) is not None:
                return answer
        return None

    def _by_sub(
        self, messages: Sequence[Said], tools: Sequence[Tool], most: int
    ) -> tuple[Reply, str]:
        """Ask the cheaper model; if it is not to be had, the root model from now on.

        The reply, and the name of the model that gave it.
        """
        sub = self.sub
        if sub is None:
            self._fall_back(None, "not_configured")
        else:
            try:
                reply = self._paid(sub, messages, tools, most)
                self.sub_used = sub.name
                return reply, sub.name
            except ModelFailed as error:
                if error.refusal is None or sub.name == self.root.name:
                    raise
                self._fall_back(sub.name, error.refusal)
        return self._paid(self.root, messages, tools, most), self.root.name

    def _fall_back(self, configured: str | None, reason: str) -> None:
        with self._lock:
            self.sub = None
            if not self._told and not self.is_over:
                self._told = True
                self.emit(SubcallFallback(self.trace_id, configured, self.root.name, reason))

    def _paid(
        self, model: Model, messages: Sequence[Said], tools: Sequence[Tool], most: int
    ) -> Reply:
        asking = sum(map(tokens_of, messages))
        with self._lock:
            if self.is_over:
                raise OutOfTime
            room = self.limits.max_tokens - self.spent - asking
            if room < 1:
                raise Spent(
                    "max_tokens",
                    f"of {self.limits.max_tokens} tokens {self.spent} are spent, and the next "
                    f"question takes about {asking}",
                )
            self.spent += asking  # before it is known: several ask at once
        try:
            reply = model.ask(messages, tools, min(room, most))
        except BaseException:
            with self._lock:
                self.spent -= asking
            raise
        counted = reply.usage.input_tokens + reply.usage.output_tokens
        guessed = asking + tokens_of(Said("assistant", reply.text, reply.calls))
        with self._lock:
            if not self.is_over:  # the sum is told already
                self.usage += reply.usage
            self.spent += (counted or guessed) - asking
        return reply

    def _reserve(self, wanted: int) -> None:
        """Room for so many questions; who wants too many is told once, then the run ends."""
        self._check_time()
        most = self.limits.max_subcalls
        left = most - self._reserved
        if wanted <= left:
            self._reserved += wanted
            return
        said = f"{wanted} questions about parts are too many: of {most}, {left} are left"
        if self._was_refused and not left:
            raise Spent("max_subcalls", said)
        self._was_refused = True
        raise BadInput(f"{said}; ask about fewer parts, or answer with what you have")

    def seconds_left(self, most: float) -> float:
        """How long something may take that is no model's."""
        self._check_time()
        return max(0.1, min(most, self.until - time.monotonic()))

    def _check_time(self) -> None:
        if time.monotonic() > self.until:
            raise self.out_of_time()

    def out_of_time(self) -> Spent:
        return Spent("timeout", f"{self.limits.timeout_seconds:g} seconds are over")


def part_prompt() -> str:
    return (resources.files("agentlearn.rlm") / "ask.md").read_text(encoding="utf-8").strip()


def _question(question: str, part: str) -> str:
    return f"{as_data(part, 'a part of a transcript')}\n\nThe question: {redact(question)}"
