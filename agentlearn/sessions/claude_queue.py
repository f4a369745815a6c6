"""Words that a person typed while Claude Code worked, until they reach the agent.

`dequeue` hands them on as a prompt, which then stands in the file. `remove` hands them on in the
middle of a turn: older files say nothing more of them, newer ones repeat them as an attachment.
`popAll` gives them back to the person.
"""

from __future__ import annotations

from collections import Counter, deque

from msgspec import Struct

BY_HARNESS = ('{"task_id"', "<task-notification>")


class Waiting(Struct, gc=False):
    """Empty for what the harness put into the queue."""

    text: str
    line: int
    at: str | None
    gone: bool = False


class Queue:
    def __init__(self) -> None:
        self._waiting: deque[Waiting] = deque()
        self._by_text: dict[str, deque[Waiting]] = {}
        self._handed_on: Counter[str] = Counter()

    def operate(self, operation: str | None, text: str, line: int, at: str | None) -> str:
        """Follow one operation; the words that it says by itself are returned."""
        if operation == "enqueue":
            by_harness = text.lstrip().startswith(BY_HARNESS)
            words = Waiting("" if by_harness else text, line, at)
            self._waiting.append(words)
            self._by_text.setdefault(words.text, deque()).append(words)
        elif operation == "popAll":
            self._waiting.clear()
            self._by_text.clear()
        elif operation == "dequeue":
            self._handed_on[self._next()] += 1
        elif operation == "remove" and not text:
            return self._next()
        return ""

    def _next(self) -> str:
        while self._waiting:
            words = self._waiting.popleft()
            if not words.gone:
                words.gone = True
                return words.text
        return ""

    def arrived(self, text: str) -> None:
        """Words that were waiting stand in the file as a prompt of their own."""
        if self._handed_on[text] > 0:
            self._handed_on[text] -= 1
            return
        same = self._by_text.get(text, ())
        while same:
            words = same.popleft()
            if not words.gone:
                words.gone = True
                return

    def left(self) -> list[Waiting]:
        """What the agent never came to."""
        return [words for words in self._waiting if not words.gone]
