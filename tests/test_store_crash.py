"""Killed, interrupted, or used by eight at once: nothing is lost and nothing is torn."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentlearn.store import files
from agentlearn.store.journal import Journal
from agentlearn.store.store import Store
from agentlearn.store.values import Change, Done, Edit
from tests.stores import assert_whole, expected_files, make_note, make_skill, new_store, tree

ROOT = Path(__file__).parent.parent


def worker(project: Path, seed: int, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store_worker", str(project), str(seed), str(count)]
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_killed_at_two_hundred_moments(tmp_path: Path):
    seed = random.randrange(10**6)
    command = [sys.executable, "-m", "tests.store_kills", str(tmp_path), "200", str(seed)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"seed {seed}\n{result.stdout}{result.stderr}"
    unfinished, _, _, changes = map(int, re.findall(r"\d+", result.stdout))
    assert unfinished > 15 and changes > 50, f"too few fell within a change: {result.stdout}"


def test_killed_at_a_few_moments(tmp_path: Path):
    command = [sys.executable, "-m", "tests.store_kills", str(tmp_path), "12", "7"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("step", [41, pytest.param(1, marks=pytest.mark.slow)])
def test_killed_before_every_call_that_changes_the_disk(tmp_path: Path, step: int):
    command = [sys.executable, "-m", "tests.store_moments", str(tmp_path), str(step)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    moments, unfinished, _ = map(int, re.findall(r"\d+", result.stdout))
    assert moments > 400 and unfinished > 100 // step, result.stdout


@pytest.mark.slow
def test_eight_at_once(tmp_path: Path):
    store = new_store(tmp_path)
    workers = [worker(tmp_path, seed, 15) for seed in range(8)]
    said = []
    for each in workers:
        out, errors = each.communicate(timeout=300)
        assert each.returncode == 0, errors
        said += out.split()[1:]
    assert len(said) == len(set(said)) >= 8 * 15
    state = store.journal.state()
    assert list(state.changes) and set(said) == set(state.changes)
    assert_whole(store)
    assert len(store.read("memory/MEMORY.md") or "") <= 1500


def test_two_at_once_lose_no_note(tmp_path: Path):
    """Each reads, thinks and writes: without the lock one of them would overwrite the other."""
    code = (
        "import sys; from pathlib import Path; from tests.stores import *\n"
        "store = new_store(Path(sys.argv[1]))\n"
        "for number in range(20): make_note(store, f'{sys.argv[2]} {number}')\n"
    )
    started = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name], cwd=ROOT)
        for name in ("one", "two")
    ]
    assert [each.wait(120) for each in started] == [0, 0]
    store = new_store(tmp_path)
    found = (store.read("memory/MEMORY.md") or "").splitlines()[2:]
    wanted = [f"- {name} {number}" for name in ("one", "two") for number in range(20)]
    assert sorted(found) == sorted(wanted)
    assert_whole(store)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_change_is_whole(tmp_path: Path, number: signal.Signals):
    """Nothing is left to be put right: the signal waited for the end of the change."""
    seen = 0
    for seed in range(6):
        each = worker(tmp_path, seed, 0)
        assert each.stdout is not None and each.stdout.readline() == "ready\n"
        first = each.stdout.readline()  # the first change loads what the others need
        time.sleep(random.Random(seed).uniform(0, 0.1))
        each.send_signal(number)
        out = first + each.communicate(timeout=60)[0]
        state = Journal(files.Folder(tmp_path, ".agentlearn")).state()
        assert state.unfinished is None, f"seed {seed}"
        assert set(out.split()) <= set(state.changes)
        seen += len(out.split())
    assert seen >= 6
    assert_whole(new_store(tmp_path))


def begun(store: Store, *edits: Edit, moved: tuple[str, str] | None = None) -> Change:
    """A change that is in the journal, and no further."""
    change = Change(id="abcdef01", at="2026-11-16T00:00:00Z", kind="skill", action="create",
                    name="x", text="", edits=edits, moved=moved)  # fmt: skip
    with store.writing() as pen:
        pen.journal.append(change)
    return change


SKILL = "---\nname: x\ndescription: Use when x.\n---\n\nx\n"


def test_what_was_begun_is_finished(tmp_path: Path):
    store = new_store(tmp_path)
    begun(
        store, Edit("skills/x/references/a.md", None, "a\n"), Edit("skills/x/SKILL.md", None, SKILL)
    )
    files.write_text(*store.root("skills/x/references/a.md"), "a\n", "abcdef01")
    folder = store.places.skills / "x"
    (folder / ".SKILL.md.abcdef01.tmp").write_text("---\nna")
    assert store.state().changes.keys() == {"abcdef01"}
    assert_whole(store)


def test_what_was_begun_is_put_back_if_its_files_were_touched(tmp_path: Path):
    store = new_store(tmp_path)
    make_note(store, "one")
    before = tree(store.places.memory)
    begun(store, Edit("skills/x/SKILL.md", None, SKILL), Edit("memory/USER.md", None, "- a\n"))
    files.write_text(*store.root("skills/x/SKILL.md"), SKILL, "abcdef01")
    (store.places.memory / "USER.md").write_text("mine\n")
    (store.places.memory / ".USER.md.abcdef01.tmp").write_text("- ")
    state = store.state()
    assert state.undone.keys() == {"abcdef01"} and state.unfinished is None
    assert not (store.places.skills / "x").exists()
    assert tree(store.places.memory) == {**before, "USER.md": b"mine\n"}


def test_what_was_begun_and_is_no_skill_is_put_back(tmp_path: Path):
    store = new_store(tmp_path)
    begun(store, Edit("skills/x/SKILL.md", None, "no front matter"))
    assert store.state().undone.keys() == {"abcdef01"}
    assert not (store.places.skills / "x").exists()


def test_a_link_in_the_way_of_what_was_begun_blocks_nobody(tmp_path: Path):
    store = new_store(tmp_path / "project")
    begun(store, Edit("skills/x/SKILL.md", None, SKILL))
    (tmp_path / "elsewhere").mkdir()
    store.places.skills.mkdir(parents=True)
    (store.places.skills / "x").symlink_to(tmp_path / "elsewhere")
    make_note(store, "one")
    assert store.state().undone.keys() == {"abcdef01"}
    assert tree(tmp_path / "elsewhere") == {}


def test_a_folder_in_the_way_of_what_was_begun_blocks_nobody(tmp_path: Path):
    """A skill was on its way to the archive, and a person has made a new one meanwhile."""
    store = new_store(tmp_path)
    make_skill(store)
    text = store.read("skills/run-tests/SKILL.md")
    moved = ("skills/run-tests", "archive/run-tests-abcdef01")
    begun(store, Edit("skills/run-tests/SKILL.md", text, None), moved=moved)
    files.move_folder(store.root(moved[0]), store.root(moved[1]))
    files.write_text(*store.root("skills/run-tests/SKILL.md"), "mine", "m")
    make_note(store, "one")
    assert store.read("skills/run-tests/SKILL.md") == "mine"
    assert store.read("archive/run-tests-abcdef01/SKILL.md") == text


def test_a_torn_line_at_the_end_is_cut_off(tmp_path: Path):
    store = new_store(tmp_path)
    make_note(store, "one")
    whole = store.places.journal.read_bytes()
    with store.places.journal.open("ab") as file:
        file.write(b'{"type":"change","id":"0')
    assert store.state().changes.keys() == Store(store.places).state().changes.keys()
    make_note(store, "two")
    assert store.places.journal.read_bytes().startswith(whole + b'{"type":"change"')
    assert_whole(store)


def test_lines_that_are_no_records_are_passed_by(tmp_path: Path):
    store = new_store(tmp_path)
    make_note(store, "one")
    with store.places.journal.open("ab") as file:
        file.write(b'{"type":"later version"}\n\xff\xfe\n[1]\n' + b"[" * 9999 + b"\n")
    make_note(store, "two")
    state = store.state()
    assert len(state.changes) == 2 and state.unread == [3, 4, 5, 6]


@pytest.mark.parametrize(
    "path", ["skills/../../x", "/etc/x", "memory/../x", "memory/x.md", "own/x", "skills", "x\0y"]
)
def test_a_journal_from_elsewhere_names_no_file_outside(tmp_path: Path, path: str):
    """A repository may bring a journal along: what it says was begun is not simply done."""
    store = new_store(tmp_path / "project")
    begun(store, Edit(path, None, "evil"))
    before = tree(tmp_path)
    state = store.state()
    assert state.unfinished is None and state.unread == [1] and not state.changes
    make_note(store, "one")
    new = set(tree(tmp_path)) - set(before)
    assert new == {"project/.agentlearn/memory/MEMORY.md"}


def test_who_may_not_write_still_reads(tmp_path: Path):
    """An unfinished change that cannot be put right here is no reason to show nothing."""
    store = new_store(tmp_path)
    note = make_note(store, "one")
    begun(store, Edit("memory/MEMORY.md", "other", "text"))
    lock = store.places.lock
    lock.unlink()
    lock.mkdir()
    assert store.state().changes.keys() == {note.id}


def test_done_is_said_once(tmp_path: Path):
    store = new_store(tmp_path)
    note = make_note(store, "one")
    with store.writing() as pen:
        pen.note(Done(note.id))
    assert list(store.state().changes) == [note.id]
    assert expected_files(store).keys() == {"memory/MEMORY.md"}
