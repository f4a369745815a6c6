"""What the README shows: commands, run for real, with what they print.

`cog -r README.md` runs them and writes their output; `cog --check README.md` fails if it differs.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import cog

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent
_HOME = tempfile.TemporaryDirectory()
"""Commands of the README share a home and a scratch folder of their own."""


def show(*commands: str, lines: int | None = None, both: bool = True) -> None:
    """Print the commands and what each of them prints, as a console session."""
    cog.outl("")
    cog.outl("```console")
    for command in commands:
        cog.outl(f"$ {without_ids(command)}")
        output = run(command, both).splitlines()
        for line in output[:lines]:
            cog.outl(line.rstrip())
        if lines is not None and len(output) > lines:
            cog.outl("…")
    cog.outl("```")
    cog.outl("")


def run(command: str, both: bool = True, plain: bool = True) -> str:
    """What a command prints; `plain` without what differs from run to run."""
    scratch = Path(_HOME.name) / "scratch"
    scratch.mkdir(exist_ok=True)
    env = {
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "HOME": _HOME.name,
        "TMP": str(scratch),
        "COLUMNS": "100",
        "LANG": "C.UTF-8",
    }
    result = subprocess.run(
        ["bash", "-c", command.replace("/tmp/", f"{scratch}/")],
        cwd=ROOT,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if both else subprocess.DEVNULL,
        text=True,
        check=False,
    )
    if not plain:
        return result.stdout
    shown = result.stdout.replace(str(scratch), "/tmp").replace(f"{ROOT}/", "")
    # The time of the run would make every check of the README fail.
    today = datetime.now(UTC).date()
    for day in (today, today - timedelta(days=1)):
        shown = re.sub(rf"{day} \d\d:\d\d:\d\d", "2026-11-16 09:00:00", shown)
        shown = re.sub(rf"{day}( |T)\d\d:\d\d", r"2026-11-16\g<1>09:00", shown)
    shown = re.sub(r"\b\d\.\d s\b", "0.3 s", without_ids(shown))
    shown = re.sub(r'(_ms": )\d+', r"\g<1>300", shown)
    return _without_traces(shown).replace(_HOME.name, "~")


def _without_traces(shown: str) -> str:
    """The trace ids of events are random; what belongs together still does."""
    event = re.compile(r"(09:00:00  [a-z_]+ +)([0-9a-f]{8})\b")
    numbers: dict[str, int] = {}
    for _, trace in event.findall(shown):
        numbers.setdefault(trace, len(numbers))
    return event.sub(lambda found: f"{found[1]}{0x3F2A9C0D + numbers[found[2]]:08x}", shown)


def without_ids(text: str) -> str:
    """The ids of runs differ from run to run."""
    return re.sub(r"-\d{8}-\d{6}-[0-9a-f]{4}\b", "-20261116-090000-1a2b", text)


def shop() -> None:
    """A project of its own with a session in it."""
    run("mkdir -p /tmp/shop/.agentlearn && cp fixtures/demo-claude.jsonl /tmp/shop/")
    run("cp fixtures/demo-go.jsonl /tmp/shop/go.jsonl")


def another() -> None:
    run("mkdir -p /tmp/api/.agentlearn && cp fixtures/demo-claude.jsonl /tmp/api/")


def proved() -> None:
    """A session in which a command failed until it was changed."""
    run("cp fixtures/demo-go.jsonl /tmp/api/go.jsonl")


def replies() -> None:
    """What a scripted model answers, in a project of its own."""
    look = {"calls": [{"name": "skill_list", "arguments": {}}]}
    said = [
        {**look, "usage": {"input_tokens": 2140, "output_tokens": 31}},
        {"text": "Nothing new.", "usage": {"input_tokens": 2210, "output_tokens": 12}},
    ]
    lines = "".join(json.dumps(each) + "\n" for each in said)
    run("cp fixtures/demo-codex.jsonl /tmp/shop/codex.jsonl")
    (Path(_HOME.name) / "scratch" / "shop" / "replies.jsonl").write_text(lines)


def suite() -> None:
    """A project of its own with the tasks of the fixtures."""
    run("mkdir -p /tmp/lab/.agentlearn && cp -r fixtures/reflexion /tmp/lab/tasks")


def last_run(task: str) -> str:
    """The beginning of the id of a task's newest run."""
    runs = run(f"ls /tmp/lab/.agentlearn/runs | grep ^{task}- | tail -1", both=False, plain=False)
    return runs.strip()


def first_change(project: str) -> str:
    """The id of the first change in a project's journal, made or staged."""
    listed = json.loads(run(f"cd /tmp/{project} && agentlearn log --format json", both=False))
    return str(listed[-1]["id"])


def command_table() -> None:
    """A row a command, from the program's own help."""
    from agentlearn.cli.app import COMMANDS

    cog.outl("")
    cog.outl("| command | what it does |")
    cog.outl("| --- | --- |")
    for name, text in COMMANDS.items():
        cog.outl(f"| `agentlearn {name}` | {text} |")
    cog.outl("")


def dialect_list() -> None:
    from agentlearn.sessions.dialects import READERS

    cog.outl("")
    cog.outl(", ".join(f"`{name}`" for name in READERS) + ".")
    cog.outl("")
