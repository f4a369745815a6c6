"""The loop: a model looks into sessions piece by piece, within limits, until it answers.

Whatever happens, there is exactly one completion with the true outcome, and the best answer that
there was until then.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from importlib import resources

from msgspec import Struct

from agentlearn.errors import AgentlearnError
from agentlearn.events import Completion, Emit, Progress, Usage, new_trace_id
from agentlearn.guard import plain
from agentlearn.guard.data import as_data
from agentlearn.guard.secrets import redact
from agentlearn.models.model import CHARS_PER_TOKEN, Model, ModelFailed, Reply, Said, ToolCall
from agentlearn.rlm.asking import Asking, Limits, Spent
from agentlearn.rlm.cache import Cache
from agentlearn.rlm.citations import Cited, checked
from agentlearn.rlm.outline import outline
from agentlearn.rlm.pages import Pages
from agentlearn.rlm.schemas import ANSWER, STATUS, TOOLS
from agentlearn.rlm.tools import MOST_RESULT, Explorer

QUESTION = "What should the next session know?"
ANSWER_NOW = "This is the last round: call `answer` now, with what you have found so far."
SAY_SOMETHING = "error: there was neither a call nor an answer"
MOST_CALLS = 16
LEAST_OUTLINE = 600
MOST_ERRORS = 3
MOST_REPEATS = 3


class Distilled(Struct, frozen=True):
    """What came of a run."""

    answer: str
    cited: Cited
    completion: Completion
    said: str | None = None
    """Why it did not converge, with the number of the limit."""
    error: AgentlearnError | None = None
    read_chars: int = 0
    """So much of the sessions was looked at, by whichever model."""


class _Ended(Exception):
    """The run is over before there was an answer."""

    def __init__(
        self, outcome: str, reason: str, said: str, error: AgentlearnError | None = None
    ) -> None:
        super().__init__(said)
        self.outcome, self.reason, self.said, self.error = outcome, reason, said, error


class Exploring:
    """One run over some sessions."""

    def __init__(
        self,
        books: Sequence[Pages],
        root: Model,
        sub: Model | None = None,
        limits: Limits | None = None,
        emit: Emit = lambda event: None,
        cache: Cache | None = None,
    ) -> None:
        self.books = _told_apart(books)
        self.limits = limits or Limits()
        self.emit = emit
        self.trace_id = new_trace_id()
        self.asking = Asking(root, sub, self.limits, emit, self.trace_id, cache)
        self.explorer = Explorer(self.books, self.asking)
        self.rounds = 0
        self.last_words = ""
        self.calls_before: list[tuple[str, str]] = []
        self.errors = 0

    def go(self, question: str) -> Distilled:
        began = time.monotonic()
        ended: _Ended | None = None
        interrupted = _Ended("aborted", "interrupted", "it was interrupted")
        cited = Cited("", (), 0)
        try:
            cited = self._answer(question)
        except _Ended as end:
            ended = end
        except KeyboardInterrupt:
            ended = interrupted
        except SystemExit:  # the process was asked to end
            self._complete(cited, interrupted, began)
            raise
        except BaseException:
            self._complete(cited, _Ended("failed", "other", ""), began)
            raise
        if ended is not None:
            cited = self._best()
        completion = self._complete(cited, ended, began)
        read = self.explorer.read_chars
        if ended is None:
            return Distilled(cited.text, cited, completion, read_chars=read)
        return Distilled(cited.text, cited, completion, ended.said, ended.error, read)

    def _answer(self, question: str) -> Cited:
        messages = [Said("system", prompt()), Said("user", self._first(question))]
        while self.rounds < self.limits.max_iterations:
            self.rounds += 1
            is_last = self.rounds == self.limits.max_iterations
            if is_last:
                messages.append(Said("user", ANSWER_NOW))
            self._progress("answering" if is_last else "asking")
            reply = self._reply(messages, only_answer=is_last)
            if not reply.calls and reply.text.strip():
                if reply.finish == "length":
                    self.last_words = reply.text.strip()
                    raise _Ended("exhausted", "no_answer", "the model's answer was cut off")
                return self._checked(reply.text)
            messages.append(Said("assistant", reply.text, reply.calls))
            self.last_words = reply.text.strip() or self.last_words
            if not reply.calls:
                messages.append(Said("user", SAY_SOMETHING))
                self._count_error(True)
                continue
            messages += self._used(reply.calls, only_answer=is_last)
            if self.explorer.answered is not None:
                return self.explorer.answered
        most = self.limits.max_iterations
        rounds = "1 round was" if most == 1 else f"{most} rounds were"
        said = f"{rounds} used up (--max-iterations)"
        raise _Ended("exhausted", "max_iterations", said)

    def _first(self, question: str) -> str:
        shown = as_data(self._outlines(), "the outline of what there is")
        return redact(f"{shown}\n\nThe question: {question}")

    def _outlines(self) -> str:
        """Of each session its page; of too many, those that fit, and how to see the others."""
        room = MOST_RESULT - 300
        shown = self.books[: max(1, room // LEAST_OUTLINE)]
        each = room // len(shown)
        texts = [outline(pages, pages.first, pages.last, each) for pages in shown]
        if left := len(self.books) - len(shown):
            texts.append(f'…and {left} more sessions: outline(session="{len(shown) + 1}") and on')
        return "\n\n".join(texts)

    def _reply(self, messages: list[Said], only_answer: bool) -> Reply:
        tools = (ANSWER,) if only_answer else TOOLS
        try:
            return self.asking.next_step(messages, tools, is_first=self.rounds == 1)
        except Spent as spent:
            raise self._spent(spent) from None
        except ModelFailed as error:
            raise _Ended("failed", "model", error.message, error) from None

    def _used(self, calls: tuple[ToolCall, ...], only_answer: bool) -> list[Said]:
        """Use the tools; the answers, one for each call."""
        said = []
        errors = []
        for number, call in enumerate(calls):
            if number >= MOST_CALLS or self.explorer.answered is not None:
                said.append(Said("tool", "error: not done, too many calls", call_id=call.id))
                continue
            if only_answer and call.name != ANSWER.name:
                continue  # this was the last round: nothing is paid for any more
            self._stop_loops(call)
            self._progress(STATUS.get(call.name, "searching"))
            try:
                text, is_error = self.explorer.call(call.name, call.arguments)
            except Spent as spent:
                raise self._spent(spent) from None
            except ModelFailed as error:
                raise _Ended("failed", "model", error.message, error) from None
            errors.append(is_error)
            said.append(Said("tool", text, call_id=call.id))
        self._count_error(all(errors))
        return said

    def _count_error(self, is_error: bool) -> None:
        self.errors = self.errors + 1 if is_error else 0
        if self.errors == MOST_ERRORS:
            said = f"{MOST_ERRORS} rounds in a row were nothing but errors"
            raise _Ended("exhausted", "errors", said)

    def _stop_loops(self, call: ToolCall) -> None:
        self.calls_before.append((call.name, call.arguments))
        last = self.calls_before[-MOST_REPEATS:]
        if len(last) == MOST_REPEATS and len(set(last)) == 1:
            said = f"the model made the same call {MOST_REPEATS} times in a row"
            raise _Ended("exhausted", "loop", said)

    def _spent(self, spent: Spent) -> _Ended:
        flag = spent.reason.replace("_", "-")
        return _Ended("exhausted", spent.reason, f"{spent.message} (--{flag})")

    def _best(self) -> Cited:
        """What there is without an answer: the model's last words, else what was found so far."""
        found = "\n".join(f"- {one.place}: {one.text}" for one in self.explorer.findings)
        return self._checked("\n\n".join(filter(None, (self.last_words, found))))

    def _checked(self, text: str) -> Cited:
        return checked(self.books, plain(redact(text[:MOST_RESULT])).strip())

    def _progress(self, status: str) -> None:
        most, tokens = self.limits.max_iterations, self.asking.usage.total
        self.emit(Progress(self.trace_id, self.rounds, most, status, tokens))

    def _complete(self, cited: Cited, ended: _Ended | None, began: float) -> Completion:
        asking = self.asking
        asking.end()
        completion = Completion(
            trace_id=self.trace_id,
            outcome="converged" if ended is None else ended.outcome,
            iterations=self.rounds,
            subcalls=asking.subcalls,
            input_tokens=sum(pages.chars for pages in self.books) // CHARS_PER_TOKEN,
            output_tokens=len(cited.text) // CHARS_PER_TOKEN,
            elapsed_ms=int((time.monotonic() - began) * 1000),
            reason=None if ended is None else ended.reason,
            root_model=asking.root.name,
            subcall_model_used=asking.sub_used or asking.root.name,
            usage=Usage(asking.usage.input_tokens, asking.usage.output_tokens),
            command="distill",
        )
        self.emit(completion)
        return completion


def _told_apart(books: Sequence[Pages]) -> Sequence[Pages]:
    """A place names a session by its id, which two copies of one share."""
    seen: Counter[str] = Counter()
    for pages in books:
        seen[pages.id] += 1
        if seen[pages.id] > 1:
            pages.id = f"{pages.id}~{seen[pages.id]}"
    return books


def prompt() -> str:
    return (resources.files("agentlearn.rlm") / "explore.md").read_text(encoding="utf-8").strip()
