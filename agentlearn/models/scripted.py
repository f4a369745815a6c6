"""A model that says what a file tells it to: for tests, demos and CI, without a key or a network.

The file has a reply a line (JSON lines), or is a list of replies (`.yaml`, `.yml`, `.json`):

    {"text": "…", "calls": [{"name": "skill_view", "arguments": {"name": "x"}}]}
    {"calls": [{"name": "skill_view", "arguments": "{broken"}], "usage": {"input_tokens": 9}}
    {"fail": "the server is gone"}
    {"fail": "no such model", "refusal": "unknown_model"}
    {"match": "near-duplicate", "text": "then I leave it"}

Each reply is used once. Asked, the model gives the first that is left and fits: one with a `match`
fits only if that pattern is found in the last message. `sleep_seconds` comes before the reply.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agentlearn.errors import BadInput
from agentlearn.models.model import ModelFailed, Refusal, Reply, Said, Tool, ToolCall, Usage


class ScriptedCall(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    arguments: dict[str, Any] | str = {}
    """A text stands as it is, for what is no JSON."""
    id: str | None = None


class ScriptedUsage(Struct, frozen=True, forbid_unknown_fields=True):
    input_tokens: int = 0
    output_tokens: int = 0


class ScriptedReply(Struct, frozen=True, forbid_unknown_fields=True):
    text: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    usage: ScriptedUsage = ScriptedUsage()
    finish: str | None = None
    fail: str | None = None
    """The model fails with this message instead of replying."""
    refusal: Refusal | None = None
    """With `fail`: why this model is not to be had."""
    sleep_seconds: float = 0.0
    match: str | None = None

    def __post_init__(self) -> None:
        """Wrong values are told where they stand, not when their turn comes."""
        if not 0 <= self.sleep_seconds <= 86_400:
            raise ValueError("sleep_seconds is from 0 to 86400")
        try:
            re.compile(self.match or "")
        except re.error as error:
            raise ValueError(f"match is no pattern: {error}") from None

    def fits(self, messages: Sequence[Said]) -> bool:
        last = messages[-1].text if messages else ""
        return self.match is None or re.search(self.match, last) is not None


class ScriptedModel:
    """Goes on through its replies as long as it lives, and remembers what it was asked."""

    def __init__(
        self, replies: Iterable[ScriptedReply | dict[str, Any]], name: str = "scripted"
    ) -> None:
        self.name = name
        self.left = [_as_reply(reply) for reply in replies]
        self.asked: list[list[Said]] = []
        self.calls_made = 0
        self.turn = threading.Lock()

    def ask(
        self,
        messages: Sequence[Said],
        tools: Sequence[Tool] = (),
        max_output_tokens: int | None = None,
    ) -> Reply:
        with self.turn:
            self.asked.append(list(messages))
            reply = self._next(messages)
            calls = tuple(map(self._call, reply.calls))
        time.sleep(reply.sleep_seconds)
        if reply.fail is not None:
            raise ModelFailed(reply.fail, refusal=reply.refusal)
        finish = reply.finish or ("tool_calls" if calls else "stop")
        usage = Usage(reply.usage.input_tokens, reply.usage.output_tokens)
        return Reply(reply.text, calls, usage, finish)

    def _next(self, messages: Sequence[Said]) -> ScriptedReply:
        for number, reply in enumerate(self.left):
            if reply.fits(messages):
                return self.left.pop(number)
        times = "once" if len(self.asked) == 1 else f"{len(self.asked)} times"
        what = "no reply that fits" if self.left else "no reply left"
        raise ModelFailed(f"the script has {what}, it was asked {times}", is_final=not self.left)

    def _call(self, call: ScriptedCall) -> ToolCall:
        self.calls_made += 1
        arguments = call.arguments
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments, ensure_ascii=False)
        return ToolCall(call.id or f"call_{self.calls_made}", call.name, arguments)


def _as_reply(value: Any) -> ScriptedReply:
    return msgspec.convert(value, ScriptedReply, from_attributes=True)


def read_script(path: str | Path) -> ScriptedModel:
    path = Path(path).expanduser()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise BadInput(f"cannot read the script {path}: {reason}") from None
    is_yaml = path.suffix.lower() in (".yaml", ".yml", ".json")
    replies = []
    for line, value in _in_yaml(path, text) if is_yaml else _in_lines(path, text):
        try:
            replies.append(_as_reply(value))
        except msgspec.ValidationError as error:
            raise _wrong(path, line, str(error)) from None
    # Only the file's own name: the model's name is shown and kept.
    return ScriptedModel(replies, f"scripted:{path.name}")


def _in_lines(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise _wrong(path, number, f"it is no JSON: {error}") from None


def _in_yaml(path: Path, text: str) -> Iterator[tuple[int, Any]]:
    import yaml

    loader = yaml.SafeLoader(text)
    try:
        root = loader.get_single_node()
        if not isinstance(root, yaml.SequenceNode):
            raise _wrong(path, 1, "it is no list of replies")
        for node in root.value:
            yield node.start_mark.line + 1, loader.construct_object(node, deep=True)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _wrong(path, line, f"it is no YAML: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _wrong(path, 1, f"it is no YAML: {error}") from None
    finally:
        loader.dispose()


def _wrong(path: Path, line: int, why: str) -> BadInput:
    return BadInput(f"the script {path} cannot be used, line {line}: {why}")
