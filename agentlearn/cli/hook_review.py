"""The review that `agentlearn hook session-end` starts: in a process that no agent waits for.

Its stdout is of no use to anybody here; what it says on stderr goes to the log of the hooks, so
that a person can find out why nothing was learned.
"""

from __future__ import annotations

import subprocess
import sys

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
    reviewed = subprocess.run(
        [sys.executable, "-P", "-m", "agentlearn", "review", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )
    failed = f", exit {reviewed.returncode}" if reviewed.returncode else ""
    note(open_store().places, f"session-end {arguments[0]}{failed}", reviewed.stderr)


if __name__ == "__main__":
    main(sys.argv[1:])
