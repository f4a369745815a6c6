"""Commands for the tests: called in this process, or started as a person would start them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from agentlearn.cli.app import app
from tests.files import lines_file

HEAD = {"type": "session", "schema": "agentlearn-session/1"}
CONTROLS = [chr(code) for code in (*range(9), *range(11, 32), *range(127, 160))]
HOSTILE = (
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 [/usr/bin] [bold]x[/bold] "
    "\u202eevil\u2066 a\rb\u2028c \x9b2J"
)


def call(*args: str | Path, stdin: str | bytes | None = None, code: int = 0) -> Any:
    """Run a command in this process; the result has `stdout` and `stderr`."""
    result = CliRunner().invoke(
        app, [str(arg) for arg in args], input=stdin, prog_name="agentlearn"
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr)
    return result


def started(*args: str | Path, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own, with nothing on stdin unless it is given."""
    if "input" not in options:
        options.setdefault("stdin", subprocess.DEVNULL)
    command = [sys.executable, "-m", "agentlearn", *map(str, args)]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **options)


def native_file(path: Path, *sessions: dict[str, Any]) -> Path:
    """Sessions in the native format: `rewards`, `outcome`, and what else the head shall say."""
    lines: list[Any] = []
    for session in sessions:
        head = {key: session[key] for key in session if key not in ("rewards", "outcome")}
        lines.append({**HEAD, **head})
        for number, reward in enumerate(session.get("rewards", [])):
            turn = {"type": "turn", "action": f"do {number}", "observation": f"saw {number}"}
            lines.append(turn if reward is None else {**turn, "reward": reward})
        if "outcome" in session:
            lines.append({"type": "outcome", "outcome": session["outcome"]})
    return lines_file(path, lines)


def json_of(*args: str | Path, **options: Any) -> Any:
    return json.loads(call(*args, "--format", "json", **options).stdout)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def assert_harmless(text: str) -> None:
    """Nothing in it acts on a terminal or turns its direction."""
    hidden = [chr(0x202E), chr(0x2066), chr(0x2028), *CONTROLS]
    assert not [character for character in hidden if character in text], ascii(text)
