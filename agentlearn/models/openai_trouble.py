"""Why there is no reply, in a sentence, and whether it is worth trying again."""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from msgspec import Struct

from agentlearn.guard import one_line
from agentlearn.models.model import Refusal
from agentlearn.models.openai_send import Answer, NoAnswer
from agentlearn.models.openai_server import NO_KEY, Server
from agentlearn.models.openai_wire import sentence_in

TRIES = 5
TRIES_TO_CONNECT = 3
MOST_WAIT_SECONDS = 60.0
NO_MODEL = re.compile(
    r"\b(?:invalid|unknown|unsupported|no such|not a valid) model\b"
    r"|\bmodel\b.{0,80}\b(?:not found|does(?: not|n't) exist|is (?:invalid|unknown|not supported))",
    re.IGNORECASE,
)
PASSING = (408, 409, 425, 429)
CHECK_URL = "check OPENAI_BASE_URL: mostly it ends in /v1"


class Trouble(Struct, frozen=True):
    sentence: str
    hint: str | None = None
    is_final: bool = False
    """Any other request would fail as well."""
    tries: int = 1
    """How often it is worth trying in all."""
    wait_seconds: float | None = None
    """How long the server asks to wait."""
    refusal: Refusal | None = None
    """Why this model is not to be had."""


def unanswered(server: Server, error: NoAnswer, timeout_seconds: float) -> Trouble:
    host, reason = server.host, one_line(str(error), 200).rstrip(". ")
    if error.was_late:
        sentence = f"{host} did not answer within {timeout_seconds:g} seconds"
        hint = "a slow model gets more time with AGENTLEARN_MODEL_TIMEOUT_SECONDS=600"
        return Trouble(sentence, hint)
    if not error.was_connected:
        hint = f"check OPENAI_BASE_URL, and that {host} is running"
        return Trouble(f"{host} cannot be reached: {reason}", hint, tries=TRIES_TO_CONNECT)
    return Trouble(f"the connection to {host} broke: {reason}", tries=TRIES)


def no_json(server: Server, body: bytes) -> Trouble:
    if body.lstrip()[:1] == b"{":
        return Trouble(f"the answer of {server.host} breaks off", tries=TRIES)
    words = sentence_in(body) or "it is empty"
    return Trouble(f"{server.host} did not answer in JSON: {words}", CHECK_URL, is_final=True)


def refused(
    server: Server, answer: Answer, model: str, model_names: Callable[[], list[str]]
) -> Trouble:
    """What a status other than 200 means. `model_names` asks the server for those it has."""
    host, status, words = server.host, answer.status, sentence_in(answer.body)
    said = f": {words}" if words else ""
    if status == 401 and server.key == NO_KEY:
        return Trouble(f"{host} wants a key", "export OPENAI_API_KEY=…", is_final=True)
    if status == 401:  # its words tend to show parts of the key
        sentence = f"{host} refused the key (401)"
        return Trouble(sentence, "check OPENAI_API_KEY", is_final=True, refusal="no_access")
    if status == 403:
        sentence = f"{host} refused the key (403){said}"
        hint = "check OPENAI_API_KEY and what it is allowed"
        return Trouble(sentence, hint, is_final=True, refusal="no_access")
    if 300 <= status < 400:
        return _elsewhere(host, answer)
    is_no_model = status in (400, 422) and NO_MODEL.search(words)
    if status == 404 or b'"model_not_found"' in answer.body or is_no_model:
        return _not_found(host, said, model, model_names())
    if status == 429 and b'"insufficient_quota"' in answer.body:
        sentence = f"{host} wants to be paid first{said}"
        return Trouble(sentence, is_final=True, refusal="rate_limit")
    if status in PASSING or status >= 500:
        return _passing(host, answer, said)
    return Trouble(f"{host} refused the request ({status}){said}")


def _passing(host: str, answer: Answer, said: str) -> Trouble:
    what = "gets too many requests" if answer.status == 429 else "failed"
    sentence = f"{host} {what} ({answer.status}){said}"
    refusal: Refusal | None = "rate_limit" if answer.status == 429 else None
    wait = _retry_after(answer)
    if wait is not None and wait > MOST_WAIT_SECONDS:
        asks = f"{sentence}; it asks to wait {min(wait, 1e9):.0f} seconds"
        return Trouble(asks, refusal=refusal)
    return Trouble(sentence, tries=TRIES, wait_seconds=wait, refusal=refusal)


def _elsewhere(host: str, answer: Answer) -> Trouble:
    """A redirect is not followed: whoever it points to would get the key and the prompt."""
    try:
        target = urlsplit(answer.headers.get("location", "")).hostname or "another address"
    except ValueError:
        target = "another address"
    sentence = f"{host} sends on to {one_line(target, 100)} ({answer.status})"
    return Trouble(sentence, "set OPENAI_BASE_URL to the address itself", is_final=True)


def _not_found(host: str, said: str, model: str, names: list[str]) -> Trouble:
    import difflib

    shown = one_line(model, 100)
    if names and model not in names:
        near = difflib.get_close_matches(model, names, 3, 0.4)
        hint = f"did you mean {', '.join(near)}?" if near else f"it has {', '.join(names[:5])}"
        sentence = f"{host} has no model {shown}"
        return Trouble(sentence, hint, is_final=True, refusal="unknown_model")
    sentence = f"{host} found nothing for the model {shown} (404){said}"
    hint = f"check the name of the model; {CHECK_URL}"
    return Trouble(sentence, hint, is_final=True, refusal="unknown_model")


def _retry_after(answer: Answer) -> float | None:
    """Seconds that the server asks to wait, given as a number or as a date."""
    for header, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(answer.headers.get(header, "")) * scale
        except ValueError:
            continue
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    try:
        date = email.utils.parsedate_to_datetime(answer.headers.get("retry-after", ""))
        return max(date.timestamp() - time.time(), 0.0)
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return None
