"""A model on any server with the OpenAI chat API (`OPENAI_API_KEY`, `OPENAI_BASE_URL`).

What may pass by itself is tried again: 429, 5xx and broken connections five times in all, a server
that cannot be reached three times. The pauses are 1, 2, 4 and 8 seconds, or what the server asks
for in Retry-After if that is at most a minute; one that wants more is not waited for. A request
that got no answer in time is not made again: it may have been paid for. So an outage costs 15
seconds of waiting, four minutes where the server asks for them, and a try takes about twice the
time-out at most, which bounds each pause of an answer and then the whole of it.

All else fails at once and says why in a sentence. Nothing here prints, and no message has the key.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from typing import Any

from agentlearn.errors import BadInput
from agentlearn.guard import one_line
from agentlearn.models.model import ModelFailed, Reply, Said, Tool
from agentlearn.models.openai_send import Answer, NoAnswer, TooBig, chat, list_models, send
from agentlearn.models.openai_server import find_server
from agentlearn.models.openai_trouble import TRIES, Trouble, no_json, refused, unanswered
from agentlearn.models.openai_wire import (
    as_function,
    as_message,
    error_in,
    model_names_in,
    parse,
    reply_of,
    sentence_in,
)

OLD_LIMIT, NEW_LIMIT = "max_tokens", "max_completion_tokens"
"""Two names for one thing: OpenAI's newer models refuse the first, most others know only it."""


class OpenAIModel:
    def __init__(
        self,
        name: str,
        *,
        timeout_seconds: float = 120.0,
        backoff_seconds: float = 1.0,
        base_url: str | None = None,
        key: str | None = None,
    ) -> None:
        """`backoff_seconds` is the first pause between two tries; each next is twice as long."""
        self.name = name.strip()
        if not self.name:
            raise BadInput("the name of the model is empty", "name one: --model NAME")
        self.timeout_seconds = timeout_seconds
        self.backoff_seconds = backoff_seconds
        self.server = find_server(base_url, key)
        self.limit = NEW_LIMIT if self.server.host == "api.openai.com" else OLD_LIMIT

    def ask(
        self,
        messages: Sequence[Said],
        tools: Sequence[Tool] = (),
        max_output_tokens: int | None = None,
    ) -> Reply:
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [as_message(said) for said in messages],
        }
        if tools:  # an empty list is refused
            body["tools"] = [as_function(tool) for tool in tools]
        tried = 0
        while True:
            tried += 1
            found = self._try(body, messages, max_output_tokens)
            if isinstance(found, Reply):
                return found
            if tried >= found.tries:
                raise self._failed(found, tried)
            time.sleep(self._pause(found, tried))

    def _try(
        self, body: dict[str, Any], messages: Sequence[Said], limit: int | None
    ) -> Reply | Trouble:
        try:
            answer = self._send(body, limit)
        except NoAnswer as error:
            return unanswered(self.server, error, self.timeout_seconds)
        except TooBig:
            return Trouble(f"the answer of {self.server.host} is too big")
        if not 200 <= answer.status < 300:
            return self._refused(answer)
        try:
            value = parse(answer.body)
        except ValueError:
            return no_json(self.server, answer.body)
        if reply := reply_of(value, messages):
            return reply
        if told := error_in(value):  # some say 200 and mean the code in the error
            code = told.get("code")
            status = code if isinstance(code, int) and 400 <= code < 600 else 400
            return self._refused(Answer(status, answer.headers, answer.body))
        return Trouble(f"{self.server.host} gave an answer without a reply in it", tries=TRIES)

    def _send(self, body: dict[str, Any], limit: int | None) -> Answer:
        if limit is None:
            return self._answer(body)
        used = self.limit
        answer = self._answer({**body, used: limit})
        if used == OLD_LIMIT and answer.status == 400 and f"'{used}'" in sentence_in(answer.body):
            self.limit = NEW_LIMIT
            return self._answer({**body, NEW_LIMIT: limit})
        return answer

    def _answer(self, body: dict[str, Any]) -> Answer:
        server = self.server
        try:
            return send(chat(body), server.base_url, server.key, self.timeout_seconds)
        except (ImportError, OSError, ValueError) as error:
            # A proxy without its library, certificates that are not there, an odd address.
            sentence = f"no connection to {server.host} can be made: {one_line(str(error), 200)}"
            raise ModelFailed(server.without_key(sentence), is_final=True) from None

    def _refused(self, answer: Answer) -> Trouble:
        return refused(self.server, answer, self.name, self._model_names)

    def _model_names(self) -> list[str]:
        seconds = min(10.0, self.timeout_seconds)
        try:
            answer = send(list_models, self.server.base_url, self.server.key, seconds)
            return model_names_in(parse(answer.body)) if answer.status == 200 else []
        except (NoAnswer, TooBig, OSError, ValueError):
            return []

    def _pause(self, trouble: Trouble, tried: int) -> float:
        if trouble.wait_seconds is not None:
            return trouble.wait_seconds
        # Several that were refused together do not come back together.
        return self.backoff_seconds * 2.0 ** (tried - 1) * random.uniform(0.75, 1.0)

    def _failed(self, trouble: Trouble, tried: int) -> ModelFailed:
        times = f" (tried {tried} times)" if tried > 1 else ""
        hint = self.server.without_key(trouble.hint) if trouble.hint else None
        sentence = self.server.without_key(trouble.sentence)
        return ModelFailed(sentence + times, hint, trouble.is_final, trouble.refusal)
