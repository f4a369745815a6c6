"""What a forked Codex session copied from its parent, which is not its own to learn from.

A fork writes its parent's history in front, with the parent's own head among the lines: either
with the old times, or all at once in the moment of the fork. A prompt that nothing copied follows
is the first of the session's own: a sub-agent is given its task in that same moment.
"""

from __future__ import annotations

from datetime import timedelta

from agentlearn.sessions.text import parse_time

BURST = timedelta(seconds=1)

Prompt = tuple[int, str | None, str]


class Fork:
    def __init__(self) -> None:
        self._written_until: str | None = None
        self.is_copying = False
        self.copied = 0
        self._prompt: Prompt | None = None

    def begin(self, written: str | None, is_fork: bool) -> None:
        """The session's own head; `is_fork` if it names what it was forked from."""
        moment = parse_time(written)
        if moment is not None and moment.year < 9999:
            until = (moment + BURST).isoformat(timespec="milliseconds")
            self._written_until = until.replace("+00:00", "Z")
            self.is_copying = is_fork

    def meets_other_head(self, written: str | None) -> bool:
        """Another session's head: true if that shows that this one is a fork."""
        if self.is_copying or not self._is_early(written):
            return False
        self.is_copying = True
        return True

    def _is_early(self, written: str | None) -> bool:
        until = self._written_until
        return until is not None and written is not None and written <= until

    def copies(self, written: str | None) -> bool:
        """Whether a line was copied; the first that was not ends the copying."""
        if self.is_copying and self._is_early(written):
            self.copied += 1
            return True
        self.is_copying = False
        return False

    def note(self, prompt: Prompt | None) -> None:
        """A copied prompt, or None for an answer to it."""
        self._prompt = prompt

    def own_prompt(self) -> Prompt | None:
        prompt, self._prompt = self._prompt, None
        return prompt
