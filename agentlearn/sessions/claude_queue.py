"""Words that a person typed while Claude Code worked, until they reach the agent.

`dequeue` hands them on as a prompt, which then stands in the file. `remove` hands them on in the
middle of a turn: older files say nothing more of them, newer ones repeat them as an attachment.
`popAll` gives them back to the person.
"""

from __future__ import annotations

from msgspec import Struct

BY_HARNESS = ('{"task_id"', "<task-notification>")


class Waiting(Struct, gc=False):
    """Empty for what the harness put into the queue."""

    text: str
    line: int
    at: str | None


class Queue:
    def __init__(self) -> None:
        self.waiting: list[Waiting] = []
        self.handed_on: list[str] = []

    def operate(self, operation: str | None, text: str, line: int, at: str | None) -> str:
        """Follow one operation; the words that it says by itself are returned."""
        if operation == "enqueue":
            by_harness = text.lstrip().startswith(BY_HARNESS)
            self.waiting.append(Waiting("" if by_harness else text, line, at))
        elif operation == "popAll":
            self.waiting.clear()
        elif operation == "dequeue" and self.waiting:
            self.handed_on.append(self.waiting.pop(0).text)
        elif operation == "remove" and self.waiting and not text:
            return self.waiting.pop(0).text
        return ""

    def arrived(self, text: str) -> None:
        """Words that were waiting stand in the file as a prompt of their own."""
        if text in self.handed_on:
            self.handed_on.remove(text)
            return
        for place, words in enumerate(self.waiting):
            if words.text == text:
                del self.waiting[place]
                return
