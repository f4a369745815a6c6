"""Git as a tool for copies and patches, without the person's settings, hooks or prompts."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import IO

from agentlearn.errors import AgentlearnError
from agentlearn.reflexion.environment import environment

NEUTRAL = (
    *("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.autocrlf=false"),
    *("-c", "core.safecrlf=false", "-c", "core.quotePath=false", "-c", "gc.auto=0"),
    *("-c", "safe.directory=*", "-c", "core.excludesFile=/dev/null"),
    *("-c", "user.name=agentlearn", "-c", "user.email=agentlearn@localhost"),
)
NO_SETTINGS = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}


MOST_SECONDS = 300.0


class GitFailed(AgentlearnError):
    """Git is not there, or could not do what was asked of it."""


def git(
    *args: str | Path,
    stdout: IO[bytes] | None = None,
    cwd: Path | None = None,
    env: dict[str, str] | None = None,
) -> str:
    """What git prints, or nothing if that goes to a file."""
    command = ["git", *NEUTRAL, *map(str, args)]
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            env=environment({**NO_SETTINGS, **(env or {})}, without_secrets=True),
            stdin=subprocess.DEVNULL,
            stdout=stdout or subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=MOST_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise GitFailed(f"git {_verb(args)} took over {MOST_SECONDS:g} seconds") from None
    except FileNotFoundError as error:
        if cwd is not None and not cwd.is_dir():
            raise GitFailed(f"{cwd} is gone") from None
        raise GitFailed("git is not installed: it makes the patches") from error
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise GitFailed(f"git {_verb(args)} failed: {said[-1] if said else done.returncode}")
    return (done.stdout or b"").decode("utf-8", "surrogateescape")


def _verb(args: tuple[str | Path, ...]) -> str:
    return next((each for each in map(str, args) if not each.startswith("-")), "")
