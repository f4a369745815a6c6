"""The review that `agentlearn hook session-end` starts: in a process that no agent waits for.

Its stdout is of no use to anybody here; what it says on stderr goes to the log of the hooks, so
that a person can find out why nothing was learned. A folder that has no store is left without one
unless there is something to keep; what a model would find cannot be known before it is paid.
"""

from __future__ import annotations

import subprocess
import sys

import orjson

from agentlearn.cli.stores import open_store
from agentlearn.store.hook_log import note


def start(path: str, by_rules: bool) -> None:
    """Start it and go."""
    chosen = ["--reviewer", "rules"] if by_rules else []
    subprocess.Popen(
        [sys.executable, "-P", "-m", "agentlearn.cli.hook_review", path, *chosen],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def main(arguments: list[str]) -> None:
    places = open_store().places
    if not places.own.is_dir() and "rules" in arguments[1:] and not _finds_something(arguments):
        return
    reviewed = _review(arguments)
    failed = f", exit {reviewed.returncode}" if reviewed.returncode else ""
    note(places, f"session-end {arguments[0]}{failed}", reviewed.stderr)


def _finds_something(arguments: list[str]) -> bool:
    """Whether the review would change anything: it makes a store before it begins."""
    found = _review([*arguments, "--dry-run", "--json"], stdout=subprocess.PIPE).stdout
    try:
        return bool(orjson.loads(found)["summary"]["changes"])
    except (ValueError, KeyError, TypeError):  # it failed, and said so to nobody
        return False


def _review(
    arguments: list[str], stdout: int = subprocess.DEVNULL
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "agentlearn", "review", *arguments],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )


if __name__ == "__main__":
    main(sys.argv[1:])
