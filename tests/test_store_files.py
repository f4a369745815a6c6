"""No name, no link and no file in the way leads a write elsewhere; no file is ever half."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentlearn.errors import AgentlearnError, BadInput
from agentlearn.store import drafting, files
from agentlearn.store.drafting import Maker
from agentlearn.store.files import MOST_BYTES, Escapes, Folder
from agentlearn.store.places import Places, project_places, user_places
from agentlearn.store.shelf import Desk
from agentlearn.store.store import Refused, Store
from tests.stores import BODY, DESCRIPTION, make, make_note, make_skill, new_store, tree

ROOT = Path(__file__).parent.parent
BAD_PATHS = ["", "/etc/x", "..", "../x", "a/../x", "a/./x", "a//x", "a/", "a\0b", "a\\b", "./x"]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    (tmp_path / "top").mkdir()
    return Folder(tmp_path / "top", "in")


@pytest.mark.parametrize("path", BAD_PATHS)
def test_a_path_stays_in_its_folder(folder: Folder, path: str):
    for act in (
        lambda: files.read_text(folder, path),
        lambda: files.write_text(folder, path, "x", "m"),
        lambda: files.remove_file(folder, path),
        lambda: files.make_link(folder, path, "x"),
    ):
        with pytest.raises(Escapes):
            act()
    assert tree(folder.top.parent) == {}


def test_written_whole_and_read_back(folder: Folder):
    files.write_text(folder, "a/b/c.md", "text\r\nwithout end", "m")
    assert files.read_text(folder, "a/b/c.md") == "text\r\nwithout end"
    (folder.path / "a/b/c.md").chmod(0o640)
    files.write_text(folder, "a/b/c.md", "", "m")
    assert (folder.path / "a/b/c.md").stat().st_mode & 0o777 == 0o640
    assert tree(folder.top) == {"in/a/b/c.md": b""}
    assert files.read_text(folder, "a/b/no.md") is None
    assert files.read_text(folder, "a/b/c.md/d") is None


def test_what_is_removed_takes_its_empty_folders_along_but_not_the_store(folder: Folder):
    files.write_text(folder, "a/b/c.md", "x", "m")
    files.write_text(folder, "a/d.md", "x", "m")
    files.remove_file(folder, "a/b/c.md")
    assert not (folder.path / "a/b").exists() and (folder.path / "a/d.md").exists()
    files.remove_file(folder, "a/d.md")
    assert folder.path.is_dir() and list(folder.path.iterdir()) == []
    files.remove_file(folder, "a/b/c.md")


@pytest.mark.parametrize("place", ["in", "in/a", "in/a/b.md"])
def test_no_link_is_followed(tmp_path: Path, folder: Folder, place: str):
    """A link for the folder, for one on the way, or for the file: none is read, none written."""
    outside = tmp_path / "outside"
    (outside / "a").mkdir(parents=True)
    (outside / "b.md").write_text("theirs")
    (outside / "a" / "b.md").write_text("theirs")
    link = folder.top / place
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(outside / "b.md" if place.endswith(".md") else outside)
    before = tree(outside)
    with pytest.raises(Escapes):
        files.write_text(folder, "a/b.md", "mine", "m")
    try:
        assert files.read_text(folder, "a/b.md") is None
    except Escapes:
        pass
    if not place.endswith(".md"):
        files.remove_file(folder, "a/b.md")
    assert tree(outside) == before
    assert files.list_files(folder, "a") == []
    assert link.is_symlink()


def test_a_link_that_is_put_there_meanwhile_is_not_followed(tmp_path: Path, folder: Folder):
    """One thread writes, another puts a link in the place of the folder, and the folder back."""
    outside = tmp_path / "outside"
    outside.mkdir()
    files.write_text(folder, "a/x.md", "x", "m")
    real, away = folder.path / "a", folder.path / "away"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            with contextlib.suppress(OSError):  # the writer makes a folder in between
                real.rename(away)
                real.symlink_to(outside)
                real.unlink()
            try:
                away.rename(real)
            except OSError:
                shutil.rmtree(away, ignore_errors=True)

    swapping = threading.Thread(target=swap)
    swapping.start()
    refused = 0
    try:
        for number in range(1000):
            try:
                files.write_text(folder, "a/x.md", str(number), "m")
            except AgentlearnError:
                refused += 1
    finally:
        stop.set()
        swapping.join()
    assert tree(outside) == {} and refused > 0


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(folder: Folder):
    folder.path.mkdir()
    os.mkfifo(folder.path / "x.md")
    (folder.path / "d.md").mkdir()
    for name in ("x.md", "d.md"):
        with pytest.raises(Escapes):
            files.read_text(folder, name)
        with pytest.raises(Escapes):
            files.write_text(folder, name, "x", "m")
    assert files.list_folders(folder) == ["d.md"]


def test_a_file_in_the_place_of_a_folder(folder: Folder):
    folder.path.mkdir()
    (folder.path / "a").write_text("x")
    with pytest.raises(Escapes):
        files.write_text(folder, "a/b.md", "x", "m")


def test_what_is_no_text_or_too_long(folder: Folder):
    folder.path.mkdir()
    (folder.path / "big.md").write_bytes(b"x" * MOST_BYTES)
    assert len(files.read_text(folder, "big.md") or "") == MOST_BYTES
    (folder.path / "big.md").write_bytes(b"x" * (MOST_BYTES + 1))
    with pytest.raises(BadInput, match="1024 kB"):
        files.read_text(folder, "big.md")
    (folder.path / "latin.md").write_bytes(b"caf\xe9")
    with pytest.raises(BadInput, match="UTF-8"):
        files.read_text(folder, "latin.md")


def test_a_name_that_is_too_long_is_told(folder: Folder):
    with pytest.raises(AgentlearnError, match="cannot use"):
        files.write_text(folder, "x" * 300, "x", "m")
    with pytest.raises(Escapes):
        files.write_text(folder, "a/" * 300 + "x", "x", "m")
    assert tree(folder.top) == {}


def test_folders_in_folders_for_ever_are_not_walked_for_ever(folder: Folder):
    deep = folder.path
    for _ in range(40):
        deep = deep / "d"
    deep.mkdir(parents=True)
    assert len(list(files.walk(folder))) == files.DEEPEST


def test_a_folder_moves_as_a_whole_and_only_once(folder: Folder):
    other = Folder(folder.top, "archive")
    files.write_text(folder, "a/SKILL.md", "x", "m")
    (folder.path / "a" / "image.png").write_bytes(b"\x89PNG")
    for _ in range(2):
        files.move_folder((folder, "a"), (other, "a-1"))
    assert tree(folder.top) == {"archive/a-1/SKILL.md": b"x", "archive/a-1/image.png": b"\x89PNG"}


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a second disk")
def test_a_folder_moves_to_another_disk(folder: Folder, tmp_path: Path):
    shm = Path(tempfile.mkdtemp(dir="/dev/shm"))
    try:
        if shm.stat().st_dev == tmp_path.stat().st_dev:
            pytest.skip("it is the same disk")
        files.write_text(folder, "a/SKILL.md", "x", "m")
        (folder.path / "a" / "link").symlink_to("/etc/passwd")
        files.move_folder((folder, "a"), (Folder(shm), "a-1"))
        assert (shm / "a-1" / "SKILL.md").read_text() == "x"
        assert (shm / "a-1" / "link").is_symlink()
        assert list(folder.path.iterdir()) == []
    finally:
        shutil.rmtree(shm)


# The places of a store


def test_the_store_itself_is_no_link(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    for target in (tmp_path / "elsewhere", Path("src")):
        project = tmp_path / target.name / "project"
        (project / "src").mkdir(parents=True)
        (project / ".agentlearn").symlink_to(target)
        with pytest.raises(BadInput, match="is a link"):
            project_places(project)


@pytest.mark.parametrize("name", ["memory", "archive", "journal.jsonl", "lock", ".gitignore"])
def test_a_link_in_the_store_leads_nowhere(tmp_path: Path, name: str):
    """What a repository brings along in `.agentlearn` does not choose what is written."""
    store = new_store(tmp_path / "project")
    outside = tmp_path / "outside"
    outside.mkdir()
    target = outside / "file"
    if "." in name or name == "lock":
        target.write_text("theirs\n")
    else:
        target = outside
    store.places.own.mkdir()
    (store.places.own / name).symlink_to(target)
    before = tree(outside)
    try:
        make_skill(store)
        make_skill(store, "other-work", description="Something else. Use when other.")
        make(store, drafting.delete_skill, "other-work", "run-tests")
        make_note(store, "one")
    except AgentlearnError:
        pass
    assert tree(outside) == before


def test_skills_may_be_linked_within_the_project_only(tmp_path: Path):
    project = tmp_path / "project"
    (project / ".claude/skills").mkdir(parents=True)
    (project / ".agents").mkdir()
    (project / ".agents/skills").symlink_to("../.claude/skills")
    store = Store(project_places(project))
    make_skill(store)
    assert (project / ".claude/skills/run-tests/SKILL.md").is_file()
    (project / ".agents/skills").unlink()
    (project / ".agents/skills").symlink_to(tmp_path)
    with pytest.raises(BadInput, match="leads out of the project"):
        project_places(project)


def test_only_the_person_names_a_folder_outside(tmp_path: Path):
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    for named in (str(outside), "../outside", "a/../../outside"):
        for origin in ("default", str(project / "agentlearn.toml")):
            with pytest.raises(BadInput, match="leads out of the project"):
                project_places(project, named, origin)
        for origin in ("AGENTLEARN_SKILLS_DIR", "--skills-dir", "/home/x/config.toml"):
            assert project_places(project, named, origin).skills == outside
    store = Store(project_places(project, str(outside), "AGENTLEARN_SKILLS_DIR"))
    make_skill(store)
    assert (outside / "run-tests/SKILL.md").is_file()
    with pytest.raises(BadInput):
        project_places(project, "a\0b")
    (project / "round").symlink_to("round")
    with pytest.raises(BadInput):
        project_places(project, "round/x")


def test_the_persons_own_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AGENTLEARN_HOME", str(tmp_path / "home"))
    store = Store(user_places())
    make_skill(store)
    make_note(store, "one", "USER")
    assert set(tree(tmp_path / "home")) == {
        "journal.jsonl", "journal.key", "lock", "memory/USER.md", "skills/run-tests/SKILL.md",
    }  # fmt: skip
    monkeypatch.delenv("AGENTLEARN_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_places().own != tmp_path / ".agentlearn"


def test_a_store_where_the_project_is_reached_through_a_link(tmp_path: Path):
    """The person's own link to the project is theirs."""
    (tmp_path / "real").mkdir()
    (tmp_path / "project").symlink_to("real")
    store = Store(project_places(tmp_path / "project"))
    make_skill(store)
    assert (tmp_path / "real/.agents/skills/run-tests/SKILL.md").is_file()


def test_names_that_are_one_on_other_disks(tmp_path: Path):
    store = new_store(tmp_path)
    (store.places.skills / "Run-Tests").mkdir(parents=True)
    with pytest.raises(Refused, match="one folder"):
        make_skill(store)
    (store.places.skills / "Run-Tests").rmdir()
    make_skill(store)
    make(store, drafting.write_skill_file, "run-tests", "references/A.md", "one")
    with pytest.raises(Refused, match="one file"):
        make(store, drafting.write_skill_file, "run-tests", "references/a.md", "two")


# Disks that do not take it


def run_as(code: str, project: Path, nobody: bool = False) -> str:
    """Run code on a store in a process of its own, if wished as nobody."""
    start = (
        "import os, resource, sys; from pathlib import Path; from tests.stores import *\n"
        "from agentlearn.errors import AgentlearnError\n"
        "from agentlearn.store import drafting\n"
        "store = new_store(Path(sys.argv[1]))\n"
    )
    if nobody and os.geteuid() == 0:
        # All is imported before the libraries may be out of reach.
        start += "make_note(store, 'as root'); import difflib, yaml\n"
        start += "Desk(store).look().skills()\n"
        start += "os.setgroups([]); os.setgid(65534); os.setuid(65534)\n"
    result = subprocess.run(
        [sys.executable, "-c", start + code, str(project)],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


SAID = "except AgentlearnError as error: print(type(error).__name__, error.exit_code, error)"


def test_a_full_disk(tmp_path: Path):
    """Full at any moment: nothing was done, or what was begun is finished when there is room."""
    store = new_store(tmp_path)
    make_note(store, "one")
    code = """
free = resource.RLIM_INFINITY
for more in range(0, 4000, 50):
    before = tree(store.places.home)
    size = store.places.journal.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + more, free))
    try:
        make_note(store, f'note {more}')
        print('made')
        break
    except AgentlearnError as error:
        assert error.exit_code == 1 and 'cannot use' in error.message, error
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (free, free))
    if tree(store.places.home) == before:
        print('nothing')
    else:
        store.state()
        assert_whole(store)
        assert f'- note {more}\\n' in store.read('memory/MEMORY.md')
        print('finished')
"""
    said = run_as(code, tmp_path).split()
    assert set(said) == {"nothing", "finished", "made"} and said[-1] == "made"


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody may look into; those that pytest makes are ours alone."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_folder_that_may_not_be_written(open_folder: Path):
    project = open_folder / "project"
    store = new_store(project)
    make_skill(store)
    before = store.read("skills/run-tests/SKILL.md")
    (store.places.skills / "run-tests").chmod(0o555)
    for each in (project / ".agentlearn", project / ".agentlearn/memory"):
        each.mkdir(exist_ok=True)
        each.chmod(0o777)
    for each in (project / ".agentlearn").iterdir():
        if each.is_file():
            each.chmod(0o666)
    code = (
        "try:\n    make(store, drafting.patch_skill, 'run-tests', 'make test', 'make check')\n"
        f"{SAID}\n"
        "note = make_note(store, 'goes on')\n"
    )
    try:
        said = run_as(code, project, nobody=True)
    finally:
        (store.places.skills / "run-tests").chmod(0o755)
    assert said.startswith("Blocked 1 cannot use"), said
    assert store.read("skills/run-tests/SKILL.md") == before
    state = store.state()
    assert len(state.undone) == 1 and state.unfinished is None
    assert "goes on" in (store.read("memory/MEMORY.md") or "")


def test_reading_makes_nothing(tmp_path: Path):
    store = new_store(tmp_path)
    shelf = Desk(store).look()
    assert shelf.skills() == [] and shelf.notes("MEMORY") == [] and store.state().seen == {}
    with Desk(store, "dry-run").at_work() as (shelf, put):
        put(drafting.create_skill(shelf, Maker(), "run-tests", DESCRIPTION, BODY))
    assert tree(tmp_path) == {} and list(tmp_path.iterdir()) == []


def test_places_are_values(tmp_path: Path):
    places = Places(tmp_path, tmp_path / ".agentlearn", tmp_path / "skills")
    with pytest.raises(Escapes):
        places.root("elsewhere/x")
    assert places.root("memory/MEMORY.md") == (Folder(tmp_path, ".agentlearn/memory"), "MEMORY.md")
