"""Commands of Codex that still run when their call returns.

What they print after that, and how they end, comes back from later calls: `write_stdin` names the
process, `wait` the script in code mode, and such a script may call `write_stdin` itself. Only what
the harness says counts, never what a command prints.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from agentlearn.sessions.codex_output import HEAD, HEADER, printed_in_script

RUNNING = re.compile(r"(?:Process|Script) running with (session|cell) ID (\w{1,40})")
WRITES_IN_SCRIPT = re.compile(r"\btools\.write_stdin\(\s*\{[^{}]*?\bsession_id[\"']?\s*:\s*(\d+)")
INTERRUPT = re.compile(r"\x03|\\u0003|\\x03")
"""Ctrl-C: how a command ends that the agent stopped itself says nothing of the command."""


class Running:
    """The call that last showed each process, or script, still running."""

    def __init__(self) -> None:
        self.calls: dict[tuple[str, str], str] = {}

    def note(self, call_id: str, text: str) -> None:
        """Look at what came back from a call."""
        if "running with" in text[:HEAD]:
            header = HEADER.match(text)
            found = RUNNING.match(text, header.end() if header else 0)
            if found:
                self.calls[found[1], found[2]] = call_id
        elif text.startswith("Script completed") and '"session_id"' in text:
            for name, number in printed_in_script(text):
                if name == "session_id":
                    self.calls["session", str(number)] = call_id

    def before(self, tool: str, arguments: Any) -> str | None:
        """The call that a new one goes on with, if it does."""
        if tool == "exec":
            # A script that also starts a command is judged by that.
            if not isinstance(arguments, str) or "write_stdin" not in arguments:
                return None
            if "exec_command" in arguments:
                return None
            if INTERRUPT.search(arguments):
                return None
            sessions = set(WRITES_IN_SCRIPT.findall(arguments))
            return self.calls.get(("session", sessions.pop())) if len(sessions) == 1 else None
        if tool not in ("write_stdin", "wait"):
            return None
        fields = _fields(arguments)
        if INTERRUPT.search(str(fields.get("chars"))):
            return None
        if tool == "wait":
            return self.calls.get(("cell", str(fields.get("cell_id"))))
        return self.calls.get(("session", str(fields.get("session_id"))))


def _fields(arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = msgspec.json.decode(arguments)
        except (msgspec.MsgspecError, RecursionError):
            return {}
    return arguments if isinstance(arguments, dict) else {}
