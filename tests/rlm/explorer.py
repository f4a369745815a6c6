"""An explorer without a model's judgement: it knows how to search and to ask, and nothing else.

It stands in for the models in `make bench-rlm`: it explores where it has tools, and reads a part
where it has none. It sees only what a model would see. It is no measure of one: it shows that what
is planted can be found through the tools, and what that costs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from agentlearn.models.model import Reply, Said, Tool, ToolCall, Usage, tokens_of
from agentlearn.rlm.telling import how_telling
from agentlearn.rlm.variants import Command, likeness

ENTRY = re.compile(r"^\[L(\d+)\] (\w+): ", re.MULTILINE)
HIT = re.compile(r"^L(\d+) (\w+): (.*)$", re.MULTILINE)
MORE = re.compile(r"search again with first=(\d+)")
NAMED = re.compile(r"\[L(\d+)(?:-L(\d+))?\]")
SPOKEN, REJECTED, FAILED = (
    r"^user: ",
    r"^tool_result: \(rejected",
    r"^tool_result: \((?:error|exit)",
)
WORTH_ASKING, WORTH_NAMING = 2.5, 2.5
BEFORE, AFTER = 2, 8
NEAR = 30
"""Findings so near each other are read together."""
PARTS = 20


class SearchingModel:
    """Searches for who speaks and what failed, asks about what it found, answers."""

    def __init__(self, name: str = "searching") -> None:
        self.name = name
        self.todo = [SPOKEN, REJECTED, FAILED]
        self.lines: set[int] = set()
        self.parts: list[str] | None = None
        self.found: dict[tuple[int, int], None] = {}
        self.question = ""
        self.number = 0
        self.first = 1

    def ask(
        self, messages: Sequence[Said], tools: Sequence[Tool], max_output_tokens: int | None = None
    ) -> Reply:
        if not tools:
            return _read(messages)
        self.question = messages[1].text.rpartition("The question: ")[2]
        self._hear(messages)
        call = self._next()
        read = sum(map(tokens_of, messages))
        said = Said("assistant", "", (call,))
        return Reply("", (call,), Usage(read, tokens_of(said)), "tool_calls")

    def _hear(self, messages: Sequence[Said]) -> None:
        last = messages[-1]
        if last.role != "tool":
            return
        if self.parts is None:
            for line, tag, text in HIT.findall(last.text):
                if tag != "user" or how_telling(text, True) >= WORTH_ASKING:
                    self.lines.add(int(line))
            if more := MORE.search(last.text):
                self.first = int(more[1])
            else:
                self.todo.pop(0)
                self.first = 1
            return
        for start, end in NAMED.findall(last.text):
            self.found[int(start), int(end or start)] = None

    def _next(self) -> ToolCall:
        if self.todo:
            return self._call("search", pattern=self.todo[0], first=self.first)
        if self.parts is None:
            self.parts = _around(sorted(self.lines))
        if self.parts:
            asked, self.parts = self.parts[:PARTS], self.parts[PARTS:]
            return self._call("ask_each", question=self.question, parts=asked)
        places = [f"L{start}-L{end}" for start, end in self.found]
        return self._call("answer", text=f"{len(places)} places matter.", citations=places)

    def _call(self, name: str, **arguments: object) -> ToolCall:
        self.number += 1
        return ToolCall(f"call-{self.number}", name, json.dumps(arguments))


def _around(lines: list[int]) -> list[str]:
    """Parts with what stands around each line; near ones are one."""
    parts: list[tuple[int, int]] = []
    for line in lines:
        start, end = max(1, line - BEFORE), line + AFTER
        if parts and start <= parts[-1][1] + 1 and end - parts[-1][0] <= NEAR:
            parts[-1] = (parts[-1][0], end)
        else:
            parts.append((start, end))
    return [f"L{start}-L{end}" for start, end in parts]


def _read(messages: Sequence[Said]) -> Reply:
    """Name the lines of a part where a person corrects, or a failure was solved."""
    text = messages[-1].text.rpartition("\n<data-")[0]  # without the question after it
    named = [*_spoken(text), *_solved(text)]
    answer = " ".join(f"[L{start}-L{end}]" for start, end in named) or "nothing"
    read = sum(map(tokens_of, messages))
    return Reply(answer, (), Usage(read, tokens_of(Said("assistant", answer))), "stop")


def _entries(text: str) -> list[tuple[int, str, str]]:
    marks = list(ENTRY.finditer(text))
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    return [
        (int(mark[1]), mark[2], text[mark.end() : end].strip())
        for mark, end in zip(marks, ends, strict=True)
    ]


def _spoken(text: str) -> list[tuple[int, int]]:
    found = []
    for line, tag, said in _entries(text):
        is_telling = tag == "user" and how_telling(said, True) >= WORTH_NAMING
        if is_telling or (tag == "tool_result" and said.startswith("(rejected")):
            found.append((line, line))
    return found


def _solved(text: str) -> list[tuple[int, int]]:
    """A command that failed, and a variant of it that did not."""
    found: list[tuple[int, int]] = []
    failed: list[tuple[int, str]] = []
    command, at = "", 0
    for line, tag, said in _entries(text):
        if tag == "tool_call":
            command, at = _command(said), line
        elif tag == "tool_result" and command:
            if re.match(r"\((?:error|exit)", said):
                failed.append((at, command))
                continue
            alike = [one for one in failed if one[1] != command and _alike(one[1], command)]
            found += [(start, line) for start, _ in alike]
            failed = [one for one in failed if one not in alike]
    return found


def _alike(one: str, other: str) -> bool:
    return likeness(Command(one), Command(other)) > 0


def _command(call: str) -> str:
    _, _, arguments = call.partition(" ")
    try:
        return str(json.loads(arguments)["command"])
    except (ValueError, KeyError, TypeError):
        return ""
