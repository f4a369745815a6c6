"""What reviews wrote is known: found with its evidence, and gone when it is taken back."""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentlearn.knowledge.base import Base
from tests.commands import call, json_of
from tests.reviews import BODY, DESCRIPTION, PERSON, WISH, Project, calls, note_call, review, script

SKILL = (
    "skill_manage",
    {"action": "create", "name": "unit-tests", "description": DESCRIPTION, "body": BODY,
     "evidence": [PERSON]},
)  # fmt: skip
DONE = {"text": "Nothing more to save."}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path / "project")
    monkeypatch.chdir(made.folder)
    return made


def by_model(project: Project, *wanted: Any, args: Any = (), code: int = 0) -> list[str]:
    """Review the session with these calls; the ids of the changes."""
    model = script(project.folder.parent, calls(*wanted), DONE)
    (session,) = review(project.path, "--model", model, *args, code=code)["sessions"]
    return [change["id"] for change in session["changes"]]


def known(*query: str) -> list[str]:
    return [item["text"] for item in json_of("recall", *query)]


def test_a_note_is_found_with_its_evidence_and_its_change(project: Project) -> None:
    (change,) = by_model(project, note_call())
    (found,) = json_of("recall", "unit", "tests", "database")
    assert found["object"] == WISH
    assert (found["subject"], found["predicate"], found["source"]) == (
        "project", "learned", "review",
    )  # fmt: skip
    assert found["evidence"] == ["s1#L8", f"change:{change}"]
    assert found["created"]


def test_a_skill_is_a_procedure_and_its_pitfalls_are_facts(project: Project) -> None:
    by_model(project, SKILL)
    (found,) = json_of("recall", "unit tests make test", "--kind", "procedure")
    assert [step["do"] for step in found["body"]["steps"]] == [
        "Run `make test`; plain `pytest` does not find the database.",
        "Look at the first failing test.",
    ]
    assert known("pitfall", "pytest", "--kind", "fact") == [
        "unit-tests pitfall Plain `pytest` fails."
    ]


def test_a_change_that_is_taken_back_takes_its_knowledge_along(project: Project) -> None:
    note, skill = by_model(project, note_call(), SKILL)
    call("remember", "disk", "is", "slow")
    call("revert", skill)
    assert known("unit tests database", "--kind", "procedure") == []
    assert known("pitfall pytest") != ["unit-tests pitfall Plain `pytest` fails."]
    assert known("unit tests database") == [f"project learned {WISH}"]
    call("revert", note)
    assert known("unit tests database") == []
    assert known("disk slow") == ["disk is slow"]


def test_to_revert_the_revert_brings_it_back_with_what_it_rested_on(project: Project) -> None:
    (note,) = by_model(project, note_call())
    call("revert", note)
    (again,) = json_of("log")[:1]
    call("revert", again["id"])
    (found,) = json_of("recall", "unit tests database")
    assert found["evidence"] == ["s1#L8", f"change:{note}"]


def test_a_patch_that_is_taken_back_leaves_the_steps_that_stood_before(project: Project) -> None:
    view = ("skill_view", {"name": "unit-tests"})
    step = "3. Run the unit tests through make test again."
    old = "2. Look at the first failing test."
    patch = (
        "skill_manage",
        {"action": "patch", "name": "unit-tests", "old": old, "new": f"{old}\n{step}",
         "evidence": [PERSON]},
    )  # fmt: skip
    _, change = by_model(project, SKILL, view, patch)
    (found,) = json_of("recall", "unit tests make", "--kind", "procedure")
    assert len(found["body"]["steps"]) == 3
    call("revert", change)
    (found,) = json_of("recall", "unit tests make", "--kind", "procedure")
    assert len(found["body"]["steps"]) == 2
    assert found["confidence"] == 0.8  # nothing was learned once more


def test_a_note_that_took_anothers_place_takes_it_in_the_base(project: Project) -> None:
    new = "Run the unit tests through make test: plain pytest does not find its database."
    by_model(project, note_call(), note_call(new, action="replace", old=WISH))
    assert known("unit tests database") == [f"project learned {new}"]


def test_a_note_that_a_person_deletes_by_hand_goes_at_the_next_change(project: Project) -> None:
    _, skill = by_model(project, note_call(), SKILL)
    memory = project.folder / ".agentlearn" / "memory" / "MEMORY.md"
    memory.write_text("# Memory: this project\n")
    call("revert", skill)
    assert known("unit tests database") == []


def test_what_a_person_says_as_well_stays_and_is_verified(project: Project) -> None:
    (note,) = by_model(project, note_call())
    call("remember", "project", "learned", WISH)
    (found,) = json_of("recall", "unit tests database")
    assert (found["source"], found["verified"]) == ("person", True)
    call("revert", note)
    assert known("unit tests database") == [f"project learned {WISH}"]


@pytest.mark.parametrize("way", ["--dry-run", "--stage"])
def test_what_is_not_made_is_not_known(project: Project, way: str) -> None:
    by_model(project, note_call(), args=(way,), code=3 if way == "--stage" else 0)
    assert known("unit tests database") == []
    if way == "--stage":
        call("adopt")
        assert known("unit tests database") == [f"project learned {WISH}"]


def test_off_means_off_and_a_revert_still_takes_along(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    (note,) = by_model(project, note_call())
    monkeypatch.setenv("AGENTLEARN_AUTO_PERSIST", "false")
    by_model(project, SKILL, args=("--force",))
    assert known("unit tests make test", "--kind", "procedure") == []
    call("revert", note)
    assert known("unit tests database") == []


def test_what_only_a_page_said_is_less_sure_and_the_rules_teach_as_well(project: Project) -> None:
    by_model(project, note_call("The server listens on port 8080.", evidence=["L10"]))
    (found,) = json_of("recall", "server port")
    assert found["object"].startswith("(seen)") and found["confidence"] == 0.5
    review(project.path, "--reviewer", "rules")
    assert any("make test" in text for text in known("unit tests make test"))


def test_ids_of_changes_from_elsewhere_are_not_believed(project: Project) -> None:
    by_model(project, SKILL)
    line = (
        '{"subject":"db","predicate":"is","object":"postgres","source":"review",'
        '"evidence":["change:ffffffff"]}\n'
    )
    call("knowledge", "import", stdin=line)
    call("revert", json_of("log")[0]["id"])
    assert known("db postgres") == ["db is postgres"]


def test_a_base_that_is_damaged_fails_no_review_and_no_revert(project: Project) -> None:
    own = project.folder / ".agentlearn"
    own.mkdir(exist_ok=True)
    (own / "knowledge.db").write_bytes(b"no database" * 1000)
    before = (own / "knowledge.db").read_bytes()
    model = script(project.folder.parent, calls(note_call()), DONE)
    result = call("review", project.path, "--model", model)
    assert "the knowledge is left as it was" in result.stderr
    assert WISH in project.memory()
    assert (own / "knowledge.db").read_bytes() == before
    call("revert", json_of("log")[0]["id"])
    assert WISH not in project.memory()


def test_no_base_is_made_where_nothing_is_learned(project: Project) -> None:
    by_model(project)
    assert not Base(project.folder / ".agentlearn" / "knowledge.db").exists()


def test_a_persons_procedure_of_the_same_name_stays_through_review_and_revert(
    project: Project,
) -> None:
    (project.folder / "p.yaml").write_text("name: unit-tests\nsteps: [ask Ann]\n")
    call("remember", "--procedure", "p.yaml")
    (change,) = by_model(project, SKILL)
    assert len(json_of("recall", "unit-tests", "--kind", "procedure")) == 2
    call("revert", change)
    (kept,) = json_of("recall", "unit-tests", "--kind", "procedure")
    assert (kept["source"], kept["body"]["steps"][0]["do"]) == ("person", "ask Ann")


def test_what_could_not_be_kept_comes_with_the_next_change(project: Project) -> None:
    own = project.folder / ".agentlearn"
    own.mkdir(exist_ok=True)
    (own / "knowledge.db").write_bytes(b"no database" * 1000)
    model = script(project.folder.parent, calls(note_call()), DONE)
    call("review", project.path, "--model", model)
    (own / "knowledge.db").unlink()
    review(project.path, "--reviewer", "rules", "--force")
    assert f"project learned {WISH}" in known("unit tests database")


def test_a_note_deleted_by_hand_does_not_come_back_at_the_next_start(project: Project) -> None:
    by_model(project, note_call())
    memory = project.folder / ".agentlearn" / "memory" / "MEMORY.md"
    memory.write_text("# Memory: this project\n")
    result = call("hook", "session-start", stdin="{}")
    assert WISH not in result.stdout
    assert known("unit tests database") == []


def killed_while_the_base_is_held(project: Project, *words: str, until: Callable[[], bool]) -> None:
    """Run a command, and kill it when the store is changed and its knowledge has to wait."""
    path = project.folder / ".agentlearn" / "knowledge.db"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as held:
        held.execute("BEGIN IMMEDIATE")
        process = subprocess.Popen(
            [sys.executable, "-m", "agentlearn", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not until() and process.poll() is None:
            time.sleep(0.01)
        process.kill()
        assert process.wait() == -signal.SIGKILL  # it was waiting, and had not given up


def test_learning_that_was_cut_short_is_made_up_for(project: Project) -> None:
    call("remember", "disk", "is", "slow")
    model = script(project.folder.parent, calls(note_call()), DONE)
    killed_while_the_base_is_held(
        project, "review", str(project.path), "--model", model,
        until=lambda: WISH in project.memory(),
    )  # fmt: skip
    (change,) = [one["id"] for one in json_of("log")]
    assert known("unit tests database") == []
    review(project.path, "--reviewer", "rules", "--force")
    assert f"project learned {WISH}" in known("unit tests database")
    killed_while_the_base_is_held(
        project, "revert", change, until=lambda: WISH not in project.memory()
    )
    assert f"project learned {WISH}" in known("unit tests database")
    assert "taken back already" in call("revert", change, code=2).stderr
    assert f"project learned {WISH}" not in known("unit tests database")
    assert known("disk slow") == ["disk is slow"]


def test_what_was_not_wanted_when_it_was_learned_does_not_come_later(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTLEARN_AUTO_PERSIST", "false")
    by_model(project, note_call())
    monkeypatch.delenv("AGENTLEARN_AUTO_PERSIST")
    by_model(project, SKILL, args=("--force",))
    assert f"project learned {WISH}" not in known("unit tests database")


def test_a_mark_that_cannot_be_read_stops_nothing(project: Project) -> None:
    own = project.folder / ".agentlearn"
    own.mkdir(exist_ok=True)
    (own / "learned").mkdir()
    (note,) = by_model(project, note_call())
    assert known("unit tests database") == [f"project learned {WISH}"]
    call("revert", note)
    assert known("unit tests database") == []


def test_a_persons_rate_and_sureness_outlive_a_review_of_the_same_steps(project: Project) -> None:
    steps = [
        "Run `make test`; plain `pytest` does not find the database.",
        "Look at the first failing test.",
    ]
    body = {"steps": [{"do": one} for one in steps], "before": [DESCRIPTION], "success_rate": 0.9}
    line = {"kind": "procedure", "subject": "unit-tests", "body": body, "confidence": 0.6}
    call("remember", stdin=json.dumps(line))
    (change,) = by_model(project, SKILL)
    call("revert", change)
    (kept,) = json_of("recall", "unit-tests", "--kind", "procedure")
    assert (kept["confidence"], kept["body"]["success_rate"]) == (0.6, 0.9)
    assert not any("change:" in one for one in kept["evidence"])
