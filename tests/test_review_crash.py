"""Reviews that are killed, and eight of them at once: nothing is lost, nothing is torn."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agentlearn.review.by_rules import review_by_rules
from agentlearn.review.tools import Tools
from agentlearn.sessions.values import Session
from agentlearn.store.places import project_places
from agentlearn.store.shelf import Desk
from agentlearn.store.store import Store
from tests.commands import HEAD
from tests.files import lines_file, read_one
from tests.stores import assert_whole


def session(number: int) -> list[Any]:
    """A session with two lessons that no other has: a note, and a pitfall of one skill."""
    return [
        {**HEAD, "id": f"k{number}"},
        {"type": "message", "role": "user",
         "text": f"remember that module{number} owns table{number}"},
        {"type": "call", "id": "a", "tool": "bash", "arguments": {"command": "go test ./a"}},
        {"type": "result", "call_id": "a", "status": "error", "exit_code": 1,
         "text": f"error: VALUE{number} is not set"},
        {"type": "call", "id": "b", "tool": "bash",
         "arguments": {"command": f"VALUE{number}=1 go test ./a"}},
        {"type": "result", "call_id": "b", "text": "ok  \ta\t0.9s", "exit_code": 0},
    ]  # fmt: skip


def new_project(folder: Path, sessions: int) -> tuple[Path, Store]:
    (folder / ".git").mkdir(parents=True)
    for number in range(sessions):
        lines_file(folder / "logs" / f"k{number:04}.jsonl", session(number))
    return folder, Store(project_places(folder))


def reviewing(folder: Path, *names: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "agentlearn", "review", *names, "--format", "jsonl"]
    return subprocess.Popen(
        command,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "AGENTLEARN_MEMORY_CHARS": "1000000"},
    )


def changes_in(stdout: bytes) -> list[str]:
    """The ids of the changes that whole lines of the result say were made."""
    lines = stdout[: stdout.rfind(b"\n") + 1].splitlines()
    changes = [change for line in lines for change in json.loads(line)["changes"]]
    return [change["id"] for change in changes if change["status"] == "applied"]


def kill_at_random_moments(folder: Path, kills: int, seed: int) -> int:
    """How many of the reviews were killed before they were done."""
    chance = random.Random(seed)
    project, store = new_project(folder, 4 * kills)
    said: list[str] = []
    cut = 0
    for _ in range(kills):
        process = reviewing(project, "logs")
        # Most of the time goes into starting: the kills shall fall into the writing.
        time.sleep(chance.uniform(0.2, 0.8))
        process.kill()
        stdout, _ = process.communicate(timeout=60)
        cut += process.returncode < 0
        said += changes_in(stdout)
        with store.writing() as pen:  # puts right what was left
            assert set(said) <= set(pen.state.changes)
        assert_whole(store)
    process = reviewing(project, "logs")
    process.communicate(timeout=300)
    assert process.returncode == 0
    memory = store.read("memory/MEMORY.md") or ""
    skill = store.read("skills/run-tests/SKILL.md") or ""
    for number in range(4 * kills):
        assert memory.count(f"module{number} owns table{number}.") == 1
        assert skill.count(f"VALUE{number}=1") == 1
    assert_whole(store)
    return cut


def test_a_review_that_is_killed_is_finished_by_the_next(tmp_path: Path) -> None:
    assert kill_at_random_moments(tmp_path / "project", 6, seed=1) > 0


@pytest.mark.slow
def test_killed_at_two_hundred_moments(tmp_path: Path) -> None:
    seed = random.randrange(10**6)
    print("seed", seed)
    parts = [kill_at_random_moments(tmp_path / f"p{n}", 20, seed + n) for n in range(10)]
    assert sum(parts) > 100, "too few were killed at work"


@pytest.mark.slow
def test_eight_reviews_at_once_lose_nothing(tmp_path: Path) -> None:
    project, store = new_project(tmp_path / "project", 48)
    names = [f"logs/k{number:04}.jsonl" for number in range(48)]
    processes = [reviewing(project, *names[first::8]) for first in range(8)]
    said = []
    for process in processes:
        stdout, stderr = process.communicate(timeout=300)
        assert process.returncode == 0, stderr
        said += changes_in(stdout)
    assert len(said) == len(set(said)) == 96
    assert set(store.state().changes) == set(said)
    memory = store.read("memory/MEMORY.md") or ""
    skill = store.read("skills/run-tests/SKILL.md") or ""
    for number in range(48):
        assert memory.count(f"module{number} owns table{number}.") == 1
        assert skill.count(f"VALUE{number}=1") == 1
    assert_whole(store)


def test_nobody_writes_between_a_look_and_what_comes_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, store = new_project(tmp_path / "project", 2)
    first, second = (read_one(path) for path in sorted((project / "logs").iterdir()))
    other = threading.Thread(target=by_rules, args=(Store(project_places(project)), second))
    called = Tools.call

    def call(tools: Tools, name: str, arguments: Any) -> str:
        """It was looked whether there is a skill; now the other has the time to write one."""
        if name == "skill_manage" and tools.desk.store is store:
            other.start()
            other.join(1)
        return called(tools, name, arguments)

    monkeypatch.setattr(Tools, "call", call)
    by_rules(store, first)
    other.join(60)
    skill = store.read("skills/run-tests/SKILL.md") or ""
    assert skill.count("VALUE0=1") == skill.count("VALUE1=1") == 1
    assert len(store.state().changes) == 4


def by_rules(store: Store, session: Session) -> None:
    budgets: Any = {"MEMORY": 2200, "USER": 1375}
    review_by_rules(session, Tools(Desk(store), session, "rules", None, budgets))


@pytest.mark.slow
def test_eight_reviews_of_one_session_write_it_once(tmp_path: Path) -> None:
    project, store = new_project(tmp_path / "project", 1)
    processes = [reviewing(project, "logs") for _ in range(8)]
    for process in processes:
        process.communicate(timeout=300)
        assert process.returncode == 0
    assert len(store.state().changes) == 2
    assert_whole(store)
