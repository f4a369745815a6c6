"""Calls and results in dialects that tie them together loosely, or write them as plain text.

Ids may be missing, made up, or used again for the next call: `OpenCalls` gives every call an id
of its own and finds the call that a result answers by the id it names, else by place. What a
result's text says of its success is read here too; only fixed wordings count, never a guess.
"""

from __future__ import annotations

import re
from collections import deque
from itertools import islice
from typing import Any

import msgspec

from agentlearn.sessions.draft import Draft
from agentlearn.sessions.text import number_in

EXIT_CODE = re.compile(
    r"(?:\A(?:Error: )?Exit code:? |\A(?:Process|Command) exited with code |\A\s*<returncode>"
    r"|(?:\A|\n)\[(?:The command completed|Command (?:finished|completed|exited)|Process exited)"
    r" with (?:exit )?code:? )(-?\d{1,6})\b"
)
FAILED = re.compile(r"\A\s*(?:<tool_use_error>|(?:Error|ERROR)(?: [\w'./-]+){0,5}:)")
THINKING = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>\s*|\Z)", re.DOTALL)
# Each of these ends at the end of the text too: a thousand openings without a close must not
# each search the whole of it.
TAGGED_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
TAGGED_RESULT = re.compile(r"<tool_response>(.*?)(?:</tool_response>|\Z)", re.DOTALL)


MOST_LOOKED_AT = 50
"""So many open calls are looked at to find one by its tool: real ones are a handful."""


class Stated(msgspec.Struct, gc=False):
    """What a result that is a JSON object says of itself."""

    exit_code: int | None = None
    exitCode: int | None = None
    returncode: int | None = None
    error: str | bool | dict[str, msgspec.Raw] | None = None


class OpenCalls:
    """The calls of a session that still wait for their result."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._used: set[str] = set()
        self._given: dict[str, deque[str]] = {}
        self._waiting: dict[str, tuple[str | None, str | None]] = {}
        """The id that a call came with, and the response it is part of, by the id it has here."""
        self._all = Responses()
        self._nameless = Responses()

    def called(
        self,
        id: str | None,
        tool: str,
        arguments: Any,
        line: int,
        at: str | None = None,
        *,
        step: str | None = None,
    ) -> None:
        fresh = id if id and id not in self._used else None
        own = self.draft.called(fresh, tool, arguments, line, at, step)
        self._used.add(own)
        self._waiting[own] = (id or None, step)
        self._all.add(own, tool, step)
        if id:
            self._given.setdefault(id, deque()).append(own)
        else:
            self._nameless.add(own, tool, step)

    def answered_by(self, id: str | None, tool: str | None = None) -> str:
        """The id of the call that a result answers; an unknown one stays what the result says."""
        same = self._given.get(id) if id else None
        while same and same[0] not in self._waiting:
            same.popleft()
        if same:
            own: str | None = same[0]
        else:
            # A named id never answers another's call.
            open_calls = self._nameless if id else self._all
            own = open_calls.first(tool) or (open_calls.first(None) if tool else None)
        if own is None:
            return id or ""
        _, step = self._waiting.pop(own)
        self._all.remove(own, step)
        self._nameless.remove(own, step)
        return own


class Responses:
    """Open calls by the response they are part of, in order."""

    def __init__(self) -> None:
        self._calls: dict[str | None, dict[str, str]] = {}

    def add(self, own: str, tool: str, step: str | None) -> None:
        self._calls.setdefault(step, {})[own] = tool

    def remove(self, own: str, step: str | None) -> None:
        calls = self._calls.get(step)
        if calls is not None:
            calls.pop(own, None)
            if not calls:
                del self._calls[step]

    def first(self, tool: str | None) -> str | None:
        """The first open call of the last response that has one (of this tool)."""
        for calls in islice(reversed(self._calls.values()), MOST_LOOKED_AT):
            for own, name in islice(calls.items(), MOST_LOOKED_AT):
                if tool is None or name == tool:
                    return own
        return None


def exit_code_in(text: str) -> int | None:
    """The exit code that the frame around a command's output states; -1 is still running."""
    code = number_in(EXIT_CODE, text)
    if code is None and (stated := _stated(text)) is not None:
        codes = (stated.exit_code, stated.exitCode, stated.returncode)
        code = next((code for code in codes if code is not None), None)
    return None if code == -1 else code


def says_failed(text: str) -> bool:
    """A result that begins with an error, or is one, in dialects without a flag for it."""
    if FAILED.match(text):
        return True
    stated = _stated(text)
    return stated is not None and bool(stated.error)


def _stated(text: str) -> Stated | None:
    if text[:1] != "{":
        return None
    try:
        return msgspec.json.decode(text, type=Stated)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def without_thinking(text: str) -> str:
    """A response without the reasoning that open models write into it."""
    return THINKING.sub("", text) if "<think" in text else text


def calls_in(text: str) -> tuple[str, list[tuple[str, Any]]]:
    """The words of a response, and the name and arguments of each call tagged inside it."""
    if "<tool_call>" not in text:
        return text, []
    calls = [
        call for found in TAGGED_CALL.finditer(text) for call in calls_from_json(found[1].strip())
    ]
    return TAGGED_CALL.sub("", text).strip(), calls


def calls_from_json(text: str) -> list[tuple[str, Any]]:
    """Name and arguments from `{"name", "arguments"}` or a list of them; else the text as it is."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return [("", text)]
    found: list[tuple[str, Any]] = []
    for item in value if isinstance(value, list) else [value]:
        inner = item.get("function") if isinstance(item, dict) else None
        call = inner if isinstance(inner, dict) else item
        if isinstance(call, dict) and isinstance(call.get("name"), str):
            found.append((call["name"], call.get("arguments", call.get("parameters"))))
        else:
            found.append(("", call))
    return found


def results_in(text: str) -> list[str]:
    """The results tagged inside a text; the whole text if none are."""
    if "<tool_response>" not in text:
        return [text]
    return [found[1].strip() for found in TAGGED_RESULT.finditer(text)]
