"""Long sessions and scripted explorers for the tests of rlm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentlearn.events import Completion, Event
from agentlearn.models.scripted import ScriptedModel
from agentlearn.rlm.asking import Limits
from agentlearn.rlm.explore import Distilled, Exploring
from agentlearn.rlm.pages import Pages
from tests.commands import HEAD
from tests.files import lines_file, read_one

SECRET = "sk-proj-" + "a1B2c3D4e5F6g7H8i9J0" * 2


def long_lines(turns: int = 200, id: str = "long-1") -> list[Any]:
    """A session in which a person corrects at line 12 and a key is printed at line 14."""
    lines: list[Any] = [
        {**HEAD, "id": id},
        {"type": "message", "role": "user", "text": "Make the export faster"},
    ]
    for number in range(turns):
        call = {"command": f"sed -n {number}p export.py"}
        lines.append({"type": "call", "id": f"c{number}", "tool": "bash", "arguments": call})
        text = f"line {number} of the export: " + "x = compute(rows)\n" * 20
        lines.append({"type": "result", "call_id": f"c{number}", "text": text, "exit_code": 0})
    said = "No, amounts are kept in cents here, never in floats."
    lines[11] = {"type": "message", "role": "user", "text": said}
    lines[13] = {"type": "message", "role": "user", "text": f"the key is {SECRET} for the demo"}
    return lines


def pages_of(folder: Path, lines: list[Any] | None = None, name: str = "long") -> Pages:
    path = lines_file(folder / f"{name}.jsonl", lines or long_lines())
    return Pages(read_one(path))


def use(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


def step(*calls: dict[str, Any], text: str = "", **more: Any) -> dict[str, Any]:
    return {"text": text, "calls": list(calls), **more}


ANSWER = step(use("answer", text="Amounts are in cents.", citations=["L12"]))


class Ran:
    """One run with scripted models, and what it told."""

    def __init__(self, books: list[Pages], *replies: Any, sub: Any = None, **more: Any) -> None:
        limits = Limits(**more.pop("limits", {}))
        self.root = ScriptedModel(replies, "root")
        self.sub = None if sub is None else ScriptedModel(sub, "sub")
        self.events: list[Event] = []
        self.exploring = Exploring(books, self.root, self.sub, limits, self.events.append, **more)

    def go(self, question: str = "What was corrected?") -> Distilled:
        done = self.exploring.go(question)
        completions = [event for event in self.events if isinstance(event, Completion)]
        assert completions == [done.completion] == self.events[-1:]
        return done

    @property
    def heard(self) -> list[str]:
        """What the tools said to the explorer, in order."""
        asked = [*self.root.asked, *(self.sub.asked if self.sub else [])]
        longest = max(asked, key=len)
        return [said.text for said in longest if said.role == "tool"]
