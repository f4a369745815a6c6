"""Workspaces: copies that share nothing with the original, and protected files that come back."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from agentlearn.errors import AgentlearnError
from agentlearn.reflexion.copying import remove
from agentlearn.reflexion.workspace import (
    Workspace,
    Workspaces,
    shown_name,
    workspaces_folder,
)
from tests.commands import names_in
from tests.reflexions import digest_of


def git(folder: Path, *args: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    return subprocess.run(
        ["git", *who, *args], cwd=folder, capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with a commit, changes that are not committed, links and tests."""
    made = tmp_path / "repo"
    (made / "tests").mkdir(parents=True)
    (made / "code.py").write_text("one\n")
    (made / "tests" / "test_code.py").write_text("check\n")
    (made / "run.sh").write_text("#!/bin/sh\n")
    (made / "run.sh").chmod(0o755)
    git(made, "init", "-q")
    git(made, "add", "-A")
    git(made, "commit", "-qm", "first")
    (made / "code.py").write_text("two\n")
    (made / "untracked.txt").write_text("new\n")
    (made / "absolute").symlink_to(made / "code.py")
    (made / "relative").symlink_to("code.py")
    (made / ".agentlearn" / "runs").mkdir(parents=True)
    (made / ".agentlearn" / "runs" / "solution").write_text("the solution")
    return made


def fresh(repo: Path, *protect: str) -> Workspace:
    among = Workspaces("r1", repo, protect)
    among.make_base()
    return among.fresh(0)


def test_a_copy_has_all_but_earlier_solutions(repo: Path):
    before = digest_of(repo)
    copy = fresh(repo).path
    assert names_in(copy) == sorted({*names_in(repo)} - {".agentlearn"})
    assert (copy / "code.py").read_text() == "two\n"
    assert os.access(copy / "run.sh", os.X_OK)
    assert git(copy, "log", "--format=%s") == "first\n"
    assert "untracked.txt" in git(copy, "status", "--short")
    assert digest_of(repo) == before


def test_nothing_that_happens_in_a_copy_touches_the_original(repo: Path):
    copy = fresh(repo).path
    before = digest_of(repo)
    (copy / "absolute").write_text("evil\n")
    (copy / "relative").write_text("evil\n")
    git(copy, "add", "-A")
    git(copy, "commit", "-qm", "evil")
    git(copy, "branch", "evil")
    git(copy, "gc", "-q", "--prune=now")
    remove(copy)
    assert digest_of(repo) == before


def test_a_work_tree_is_not_shared(repo: Path, tmp_path: Path):
    """Its `.git` is a file that leads to the refs and settings of the other."""
    git(repo, "worktree", "add", "-q", "../tree")
    tree = tmp_path / "tree"
    (tree / "mine.txt").write_text("mine\n")
    before = digest_of(tmp_path)
    copy = fresh(tree).path
    assert (copy / ".git").is_dir() and git(copy, "log", "--format=%s") == "first\n"
    assert git(copy, "status", "--short") == "?? mine.txt\n"
    git(copy, "commit", "-q", "--allow-empty", "-m", "evil")
    git(copy, "config", "evil.setting", "1")
    assert digest_of(tmp_path) == before


def test_settings_that_lead_back_are_forgotten(repo: Path):
    git(repo, "config", "core.worktree", str(repo))
    copy = fresh(repo).path
    before = digest_of(repo)
    git(copy, "checkout", "-q", "-f", "HEAD", "--", "code.py")
    assert (copy / "code.py").read_text() == "one\n" and digest_of(repo) == before


def test_a_git_hook_does_not_lead_back(repo: Path, monkeypatch: pytest.MonkeyPatch):
    """Called from a hook, git's own variables point at the original."""
    from agentlearn.reflexion.environment import environment

    monkeypatch.setenv("GIT_DIR", str(repo / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(repo / ".git" / "index"))
    before = digest_of(repo)
    copy = fresh(repo).path
    env = environment({})
    assert not {"GIT_DIR", "GIT_INDEX_FILE"} & set(env)
    subprocess.run(["git", "add", "-A"], cwd=copy, env=env, check=True)
    assert digest_of(repo) == before


@pytest.mark.parametrize("part", [False, True])
def test_a_folder_without_git_gets_one(tmp_path: Path, repo: Path, part: bool):
    folder = repo / "tests" if part else tmp_path / "plain"
    folder.mkdir(exist_ok=True)
    (folder / "a.txt").write_text("a\n")
    copy = fresh(folder).path
    assert git(copy, "log", "--format=%s") == "The task as it was given\n"
    assert git(copy, "status", "--short") == ""
    assert git(copy, "rev-parse", "--show-toplevel").strip() == str(copy)


def test_the_patch_is_what_was_changed(repo: Path, tmp_path: Path):
    workspace = fresh(repo)
    (workspace.path / "code.py").write_text("three\n")
    (workspace.path / "raw.bin").write_bytes(bytes(range(256)))
    (workspace.path / "run.sh").unlink()
    (workspace.path / "tests" / "__pycache__").mkdir()
    (workspace.path / "tests" / "__pycache__" / "x.pyc").write_bytes(b"x")
    git(workspace.path, "commit", "-qam", "the agent commits, too")
    assert workspace.write_patch(tmp_path / "p.diff") == (["code.py", "raw.bin", "run.sh"], [])
    subprocess.run(["git", "apply", tmp_path / "p.diff"], cwd=repo, check=True)
    assert (repo / "code.py").read_text() == "three\n" and not (repo / "run.sh").exists()
    assert (repo / "raw.bin").read_bytes() == bytes(range(256))


def test_a_workspace_that_was_removed_is_a_patch_too(repo: Path, tmp_path: Path):
    workspace = fresh(repo, "tests/")
    remove(workspace.path)
    workspace.make_real()
    assert workspace.put_back() == ["tests"]
    assert (workspace.path / "tests" / "test_code.py").read_text() == "check\n"
    assert "code.py" in workspace.write_patch(tmp_path / "p.diff")[0]


def change(path: Path) -> None:
    path.write_text("true\n")


def swap_for_link(path: Path) -> None:
    remove(path.parent)
    path.parent.symlink_to("/tmp")


def take_rights(path: Path) -> None:
    path.chmod(0)
    path.parent.chmod(0o500)


@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        (change, "tests/test_code.py"),
        (lambda path: path.unlink(), "tests/test_code.py"),
        (lambda path: (path.parent / "conftest.py").write_text("x"), "tests/conftest.py"),
        (lambda path: (path.parent / "new").mkdir(), "tests/new"),
        (lambda path: (path.unlink(), path.symlink_to("/etc/passwd")), "tests/test_code.py"),
        (lambda path: path.chmod(0o755), "tests/test_code.py"),
        (swap_for_link, "tests"),
        (lambda path: remove(path.parent), "tests"),
        (lambda path: (remove(path.parent), path.parent.write_text("x")), "tests"),
    ],
)
def test_protected_files_come_back(repo: Path, tamper: object, told: str):
    workspace = fresh(repo, "tests/", "pytest.ini")
    before = digest_of(workspace.path / "tests")
    tamper(workspace.path / "tests" / "test_code.py")  # type: ignore[operator]
    assert workspace.put_back() == [told]
    assert digest_of(workspace.path / "tests") == before
    assert workspace.put_back() == []


def test_rights_that_were_taken_are_taken_back(repo: Path):
    workspace = fresh(repo, "tests/")
    take_rights(workspace.path / "tests" / "test_code.py")
    workspace.put_back()
    assert (workspace.path / "tests" / "test_code.py").read_text() == "check\n"


def test_a_protected_file_that_was_not_there_is_removed(repo: Path):
    workspace = fresh(repo, "pytest.ini", "**/conftest.py")
    (workspace.path / "pytest.ini").write_text("[pytest]\n")
    (workspace.path / "tests" / "conftest.py").write_text("x\n")
    assert workspace.put_back() == ["pytest.ini", "tests/conftest.py"]
    assert not (workspace.path / "pytest.ini").exists()
    assert not (workspace.path / "tests" / "conftest.py").exists()


@pytest.mark.parametrize("name", ["tests/test_code.py", "code.py"])
def test_a_base_that_was_changed_is_noticed(repo: Path, name: str):
    """Also if the times of the file are set to what they were."""
    among = Workspaces("r1", repo, ("tests/",))
    digest = among.make_base()
    among.check_base()
    path = among.base / name
    before = path.stat()
    path.write_bytes(b"#" * before.st_size)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(AgentlearnError, match="was changed by the attempt"):
        among.check_base()
    assert among.find_base() != digest


def test_a_workspace_that_became_a_link_is_not_followed(repo: Path, tmp_path: Path):
    workspace = fresh(repo, "tests/")
    victim = tmp_path / "victim"
    (victim / "tests").mkdir(parents=True)
    (victim / "tests" / "mine.txt").write_text("mine\n")
    before = digest_of(victim)
    remove(workspace.path)
    workspace.path.symlink_to(victim)
    workspace.make_real()
    workspace.put_back()
    workspace.write_patch(tmp_path / "p.diff")
    assert digest_of(victim) == before
    assert (workspace.path / "tests" / "test_code.py").is_file()


def test_settings_of_a_work_tree_do_not_lead_back(repo: Path):
    git(repo, "config", "extensions.worktreeConfig", "true")
    git(repo, "config", "--worktree", "core.worktree", str(repo))
    copy = fresh(repo).path
    before = digest_of(repo)
    git(copy, "reset", "-q", "--hard", "HEAD")
    assert digest_of(repo) == before


def test_names_that_are_no_text_and_huge_files_break_nothing(repo: Path, tmp_path: Path):
    workspace = fresh(repo, "tests/")
    (Path(os.fsdecode(os.fsencode(workspace.path) + b"/a\xffb"))).write_text("x\n")
    with (workspace.path / "tests" / "test_code.py").open("wb") as file:
        file.truncate(10**11)
    with (workspace.path / "big").open("wb") as file:
        file.truncate(10**11)
    assert workspace.put_back() == ["tests/test_code.py"]
    changed, too_large = workspace.write_patch(tmp_path / "p.diff")
    assert too_large == ["big"] and [shown_name(name) for name in changed] == ["a\\xffb"]


def test_thousands_of_folders_in_each_other_are_removed(tmp_path: Path):
    here = os.getcwd()  # noqa: PTH109
    top = tmp_path / "top"
    top.mkdir()
    try:
        os.chdir(top)
        for _ in range(3000):
            os.mkdir("d")  # noqa: PTH102
            os.chdir("d")
    finally:
        os.chdir(here)
    remove(top)
    assert not top.exists()


def test_caches_are_removed_and_nobody_is_blamed(repo: Path):
    workspace = fresh(repo, "tests/")
    (workspace.path / "tests" / "__pycache__").mkdir()
    (workspace.path / "tests" / "__pycache__" / "test_code.cpython-311.pyc").write_bytes(b"evil")
    assert workspace.put_back() == []
    assert not (workspace.path / "tests" / "__pycache__").exists()


def test_a_protected_link_into_the_project_is_as_it_was(repo: Path, tmp_path: Path):
    (repo / "tests" / "data").symlink_to(repo / "code.py")
    workspace = fresh(repo, "tests/")
    assert workspace.put_back() == []
    (workspace.path / "tests" / "data").unlink()
    assert workspace.put_back() == ["tests/data"]
    assert (workspace.path / "tests" / "data").readlink() == workspace.path / "code.py"
    assert workspace.write_patch(tmp_path / "p.diff") == ([], [])


def test_nothing_that_is_done_to_our_git_folder_runs(repo: Path, tmp_path: Path):
    workspace = fresh(repo)
    (workspace.path / ".gitattributes").write_text("* filter=x\n")
    with (workspace.shadow / "config").open("a") as file:
        file.write(f'[filter "x"]\n\tclean = "touch {tmp_path}/pwned; cat"\n')
    hook = workspace.shadow / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\n")
    hook.chmod(0o755)
    (workspace.path / "code.py").write_text("three\n")
    assert "code.py" in workspace.write_patch(tmp_path / "p.diff")[0]
    assert not (tmp_path / "pwned").exists()


def test_a_patch_has_all_of_the_work(repo: Path, tmp_path: Path):
    """In a repository inside the repository, in ignored files that git knows, and renamed."""
    (repo / "inner").mkdir()
    git(repo / "inner", "init", "-q")
    (repo / "inner" / "lib.py").write_text("one\n")
    (repo / ".gitignore").write_text("*.log\n")
    (repo / "keep.log").write_text("one\n")
    git(repo, "add", "-f", "keep.log")
    git(repo, "commit", "-qm", "keep")
    workspace = fresh(repo)
    (workspace.path / "inner" / "lib.py").write_text("two\n")
    (workspace.path / "keep.log").write_text("two\n")
    (workspace.path / "run.sh").rename(workspace.path / "start.sh")
    (workspace.path / ".agentlearn").mkdir()
    (workspace.path / ".agentlearn" / "evil").write_text("evil")
    changed, _ = workspace.write_patch(tmp_path / "p.diff")
    assert changed == ["inner/lib.py", "keep.log", "run.sh", "start.sh"]
    assert (workspace.path / "inner" / ".git").is_dir()
    subprocess.run(["git", "apply", tmp_path / "p.diff"], cwd=repo, check=True)
    assert (repo / "inner" / "lib.py").read_text() == "two\n"


def test_a_home_that_is_reached_through_a_link_is_not_copied_into_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.txt").write_text("a\n")
    (tmp_path / "link").symlink_to(project)
    monkeypatch.setenv("AGENTLEARN_HOME", str(tmp_path / "link" / "home"))
    copy = fresh(project).path
    assert "workspaces" not in names_in(copy / "home")


def test_pipes_and_sockets_stay_behind(repo: Path):
    os.mkfifo(repo / "pipe")
    assert "pipe" not in names_in(fresh(repo).path)


def test_workspaces_lie_outside_of_the_project_and_go(repo: Path, own_home: Path):
    workspace = fresh(repo)
    assert workspace.path.is_relative_to(workspaces_folder())
    assert not workspace.path.is_relative_to(repo)
    workspace.among.remove()
    assert names_in(workspaces_folder()) == []
