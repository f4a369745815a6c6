"""One request to a server with the OpenAI API, and the whole of its answer.

The `openai` library makes the request, so that keys, organizations and proxies come from the
environment as for any program that uses it. The answer is read here: no longer than it may take,
no more than it may weigh, and never from another host that the server points to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from openai import OpenAI

MOST_BYTES = 32 * 1024 * 1024
CONNECT_SECONDS = 10.0


class Answer(Struct, frozen=True):
    status: int
    headers: Mapping[str, str]
    body: bytes


class NoAnswer(Exception):
    """There was none, or not all of it."""

    def __init__(self, reason: str, was_late: bool = False, was_connected: bool = True) -> None:
        super().__init__(reason)
        self.was_late = was_late
        self.was_connected = was_connected


class TooBig(Exception):
    pass


def chat(body: dict[str, Any]) -> Callable[[OpenAI], Any]:
    return lambda client: client.chat.completions.with_streaming_response.create(**body)


def list_models(client: OpenAI) -> Any:
    return client.models.with_streaming_response.list()


def send(
    request: Callable[[OpenAI], Any], base_url: str, key: str, timeout_seconds: float
) -> Answer:
    """The answer, whatever its status."""
    import openai

    reading = _Reading(timeout_seconds)
    timeout = openai.Timeout(timeout_seconds, connect=min(CONNECT_SECONDS, timeout_seconds))
    with openai.DefaultHttpxClient(
        follow_redirects=False, timeout=timeout, event_hooks={"response": [reading.read]}
    ) as http:
        client = openai.OpenAI(
            api_key=key, base_url=base_url, timeout=timeout, max_retries=0, http_client=http
        )
        try:
            with request(client):
                pass
        except openai.APITimeoutError as error:
            connected = type(error.__cause__).__name__ != "ConnectTimeout"
            raise NoAnswer(_reason(error), was_late=connected, was_connected=connected) from None
        except openai.OpenAIError as error:
            # What the library makes of a refusal does not matter: the answer was read before.
            if reading.answer is None and reading.problem is None:
                connected = type(error.__cause__).__name__ != "ConnectError"
                raise NoAnswer(_reason(error), was_connected=connected) from None
        except RuntimeError:  # it wants to read a second time what was read
            if reading.answer is None and reading.problem is None:
                raise
    if reading.problem is not None:
        raise reading.problem
    assert reading.answer is not None
    return reading.answer


class _Reading:
    """Reads an answer as it arrives, within its bounds."""

    def __init__(self, timeout_seconds: float) -> None:
        self.until = time.monotonic() + timeout_seconds
        self.answer: Answer | None = None
        self.problem: NoAnswer | TooBig | None = None

    def read(self, response: Any) -> None:
        body = bytearray()
        for chunk in response.iter_bytes():
            body += chunk
            if len(body) > MOST_BYTES:
                self.problem = TooBig()
                return
            if time.monotonic() > self.until:
                self.problem = NoAnswer("it came too slowly", was_late=True)
                return
        self.answer = Answer(response.status_code, dict(response.headers), bytes(body))


def _reason(error: Exception) -> str:
    cause = error.__cause__ or error
    return str(cause) or type(cause).__name__
