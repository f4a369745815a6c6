"""Tasks for the tests of reflexion: a folder to work in, a shell script as agent, a judge."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import yaml

from tests.commands import call

OBEYS = """
echo "agent at work"
if grep -q Reflections "$1"; then echo right > answer.txt; else echo "error: use right" >&2; fi
"""
"""Does what is asked once it is told that something went wrong."""


class Desk:
    """A project with a task in it."""

    def __init__(self, folder: Path, agent: str = OBEYS, **task: Any) -> None:
        self.folder = folder
        self.repo = folder / "repo"
        (self.repo / "tests").mkdir(parents=True)
        (self.repo / "answer.txt").write_text("wrong\n")
        (self.repo / "tests" / "check.sh").write_text("grep -q right answer.txt || exit 1\n")
        (folder / ".agentlearn").mkdir()
        self.agent = folder / "agent.sh"
        self.agent.write_text(agent)
        self.task_file = folder / "task.yaml"
        self.write(**task)

    def write(self, **task: Any) -> None:
        command = f"sh {self.agent} {{prompt_file}}"
        made: dict[str, Any] = {
            "name": "answer",
            "prompt": "Put the right word into answer.txt.",
            "workspace": "./repo",
            "agent": {"command": command, "timeout_seconds": 30},
            "evaluator": {
                "command": "sh tests/check.sh",
                "timeout_seconds": 30,
                "protect": ["tests/"],
            },
        }
        for key, value in task.items():
            if isinstance(value, dict) and key in ("agent", "evaluator") and "model" not in value:
                made[key] = {**made[key], **value}
            else:
                made[key] = value
        self.task_file.write_text(yaml.safe_dump(made))

    def run(self, *args: str | Path, code: int = 0) -> Any:
        """The JSON that the command prints."""
        given = args if "--resume" in args else ("--task", self.task_file, *args)
        return json.loads(call("reflexion", *given, "--json", code=code).stdout)

    def episode(self, result: Any, index: int = 0) -> Path:
        return self.folder / ".agentlearn" / "runs" / result["run"] / "episodes" / str(index)


def digest_of(folder: Path) -> str:
    """All of a folder: names, kinds, rights and contents."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        mode = path.lstat().st_mode
        content = str(path.readlink()).encode() if path.is_symlink() else b""
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
        digest.update(f"{path.relative_to(folder)} {mode} ".encode() + content)
    return digest.hexdigest()


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"
