"""Words that a Codex file says twice: once as an item, once as an event.

The same words from the other side are the echo of what was said; from the same side they are new.
An event has the clean words only, an item also what an editor and its images put around them: two
that stand next to each other are the same if one holds the other.
"""

from __future__ import annotations

from collections import Counter


class Mirror:
    def __init__(self) -> None:
        self._unanswered: tuple[Counter[int], Counter[int]] = (Counter(), Counter())
        """Hashes of what was said as an item and as an event: prompts may be megabytes long."""
        self._last: tuple[str, bool, int] | None = None

    def is_echo(self, text: str, is_event: bool, place: int) -> bool:
        """Whether these words were said already; `place` is the number of entries so far."""
        own, others = self._unanswered[is_event], self._unanswered[not is_event]
        if others[hash(text)] > 0:
            others[hash(text)] -= 1
            return True
        if self._last is not None:
            last, was_event, at = self._last
            is_near = was_event != is_event and at == place and others[hash(last)] > 0
            if is_near and (text in last or last in text):
                others[hash(last)] -= 1
                return True
        own[hash(text)] += 1
        self._last = (text, is_event, place + 1)
        return False
