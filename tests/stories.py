"""Sessions told step by step, for the tests of the rules that find lessons."""

from __future__ import annotations

from typing import Any

from agentlearn.review.find import find_lessons
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.values import Session


class Story:
    """A session told step by step; every step is a line."""

    def __init__(self) -> None:
        self.draft = Draft("claude-code", "story.jsonl")
        self.draft.id = "story"
        self.line = 0

    def says(self, text: str, role: str = "user") -> Story:
        self.line += 1
        self.draft.said(role, text, self.line)  # type: ignore[arg-type]
        return self

    def runs(self, command: str, output: str = "", exit_code: int = 0, tool: str = "Bash") -> Story:
        return self.calls(tool, {"command": command}, output, exit_code)

    def calls(self, tool: str, arguments: Any, output: str = "", exit_code: int = 0) -> Story:
        self.line += 1
        status = "error" if exit_code else "ok"
        made = self.draft.called(None, tool, arguments, self.line)
        self.line += 1
        self.draft.returned(made, output, self.line, None, status, exit_code)  # type: ignore[arg-type]
        return self

    def rejects(self, reason: str, tool: str = "Edit") -> Story:
        self.line += 1
        made = self.draft.called(None, tool, {"file": "a.py"}, self.line)
        self.line += 1
        self.draft.returned(made, "no", self.line, None, "rejected")
        self.draft.signal("rejection", reason, self.line, call_id=made)
        return self

    def end(self) -> Session:
        return self.draft.finish()


def story() -> Story:
    return Story().says("Fix the export").says("I will look", "assistant")


def texts(told: Story) -> list[str]:
    return [lesson.text for lesson in find_lessons(told.end())]
