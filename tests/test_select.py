"""The ways to name a SESSION, and where agents keep theirs, in a made-up home."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
import zstandard

from agentlearn.errors import BadInput
from agentlearn.sessions.discover import agents, discover
from agentlearn.sessions.select import Candidate, select
from tests.commands import call, json_of, native_file, started
from tests.files import lines_file

UUIDS = {
    "claude": "11111111-aaaa-4bbb-8ccc-000000000001",
    "claude-sub": "22222222-aaaa-4bbb-8ccc-000000000002",
    "other": "33333333-aaaa-4bbb-8ccc-000000000003",
    "codex": "44444444-aaaa-7bbb-8ccc-000000000004",
    "cold": "55555555-aaaa-7bbb-8ccc-000000000005",
    "gemini": "66666666-aaaa-4bbb-8ccc-000000000006",
    "copilot": "77777777-aaaa-4bbb-8ccc-000000000007",
    "pi": "88888888-aaaa-4bbb-8ccc-000000000008",
    "child": "99999999-aaaa-4bbb-8ccc-000000000009",
}


def claude(home: Path, folder: Path, id: str, name: str | None = None) -> Path:
    line = {
        "type": "user", "uuid": "u1", "parentUuid": None, "sessionId": id, "cwd": str(folder),
        "timestamp": "2026-11-01T09:00:00Z", "message": {"role": "user", "content": f"do {id[:2]}"},
    }  # fmt: skip
    place = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(folder))
    return lines_file(home / ".claude/projects" / place / (name or f"{id}.jsonl"), [line])


def codex(root: Path, folder: Path, id: str) -> Path:
    lines = [
        {"timestamp": "2026-11-01T09:00:00Z", "type": "session_meta",
         "payload": {"id": id, "cwd": str(folder), "timestamp": "2026-11-01T09:00:00Z"}},
        {"timestamp": "2026-11-01T09:00:01Z", "type": "event_msg",
         "payload": {"type": "user_message", "message": "go"}},
    ]  # fmt: skip
    name = f"rollout-2026-11-01T09-00-00-{id}.jsonl"
    return lines_file(root / "sessions/2026/11/01" / name, lines)


def gemini(home: Path, folder_name: str, id: str, below: str = "") -> Path:
    lines = [
        {"sessionId": id, "projectHash": "x", "startTime": "2026-11-01T09:00:00Z",
         "lastUpdated": "2026-11-01T09:00:00Z", "kind": "subagent" if below else "main"},
        {"id": "m1", "timestamp": "2026-11-01T09:00:01Z", "type": "user", "content": "go"},
    ]  # fmt: skip
    chats = home / ".gemini/tmp" / folder_name / "chats"
    name = f"{below}/{id}.jsonl" if below else f"session-2026-11-01T09-00-{id[:8]}.jsonl"
    return lines_file(chats / name, lines)


def copilot(home: Path, folder: Path, id: str) -> Path:
    start = {
        "type": "session.start", "id": "e1", "parentId": None, "timestamp": "2026-11-01T09:00:00Z",
        "data": {"sessionId": id, "copilotVersion": "1", "context": {"cwd": str(folder)}},
    }  # fmt: skip
    return lines_file(home / ".copilot/session-state" / id / "events.jsonl", [start])


def pi(home: Path, folder: Path, id: str) -> Path:
    head = {"type": "session", "version": 3, "id": id, "timestamp": "2026-11-01T09:00:00Z",
            "cwd": str(folder)}  # fmt: skip
    place = home / ".pi/agent/sessions" / "--w-app--" / f"2026-11-01T09-00-00_{id}.jsonl"
    return lines_file(place, [head])


def opencode(home: Path, *sessions: tuple[str, Path, int]) -> Path:
    path = home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    made = sqlite3.connect(path)
    made.executescript(
        """
        CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT,
            version TEXT, time_created INTEGER, time_updated INTEGER);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT,
            time_created INTEGER, data TEXT);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, data TEXT);
        """
    )
    for id, folder, at in sessions:
        made.execute(
            "INSERT INTO session VALUES (?, NULL, ?, 'title', '1', ?, ?)", (id, str(folder), at, at)
        )
        message = json.dumps({"role": "user", "time": {"created": at}})
        made.execute("INSERT INTO message VALUES (?, ?, ?, ?)", (f"m-{id}", id, at, message))
        part = json.dumps({"type": "text", "text": f"do {id}"})
        made.execute("INSERT INTO part VALUES (?, ?, ?, ?)", (f"p-{id}", f"m-{id}", id, part))
    made.commit()
    made.close()
    return path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "w" / "app"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def ids(*args: Any, **options: Any) -> list[str]:
    done = started("sessions", *args, "--format", "json", **options)
    assert done.returncode == 0, done.stderr
    return sorted(session["id"] for session in json.loads(done.stdout))


# Where agents keep theirs


def test_claude_code_by_the_name_of_the_folder(own_home: Path, project: Path) -> None:
    own = claude(own_home, project, UUIDS["claude"])
    below = claude(own_home, project / "sub dir", UUIDS["claude-sub"])
    near = claude(own_home, project.with_name("app-2"), UUIDS["other"])
    sub = claude(own_home, project, UUIDS["child"], f"{UUIDS['claude']}/subagents/agent-a1.jsonl")
    assert {found.path for found in discover(project)} == {own, below, sub}
    assert {found.path for found in discover(None)} == {own, below, sub, near}
    assert {found.agent for found in discover(None)} == {"claude-code"}


def test_codex_by_its_head_also_when_compressed(own_home: Path, project: Path) -> None:
    own = codex(own_home / ".codex", project / "sub", UUIDS["codex"])
    codex(own_home / ".codex", project.parent, UUIDS["other"])
    warm = codex(own_home / ".codex", project, UUIDS["cold"])
    cold = own_home / ".codex/archived_sessions" / f"{warm.name}.zst"
    cold.parent.mkdir()
    cold.write_bytes(zstandard.compress(warm.read_bytes()))
    warm.unlink()
    assert {found.path for found in discover(project)} == {own, cold}
    assert ids() == [UUIDS["codex"], UUIDS["cold"]]


def test_codex_home_moves_it(
    own_home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "elsewhere"))
    own = codex(tmp_path / "elsewhere", project, UUIDS["codex"])
    codex(own_home / ".codex", project, UUIDS["other"])
    assert [found.path for found in discover(project)] == [own]


def test_gemini_by_hash_by_name_and_by_file(own_home: Path, project: Path) -> None:
    hashed = gemini(own_home, hashlib.sha256(str(project).encode()).hexdigest(), UUIDS["gemini"])
    assert [found.path for found in discover(project)] == [hashed]
    named = gemini(own_home, "app", UUIDS["other"])
    assert [found.path for found in discover(project)] == [hashed]
    (own_home / ".gemini/projects.json").write_text(json.dumps({"projects": {str(project): "app"}}))
    assert {found.path for found in discover(project)} == {hashed, named}
    told = gemini(own_home, "told", UUIDS["pi"])
    (own_home / ".gemini/tmp/told/.project_root").write_text(f"{project}\n")
    child = gemini(own_home, "told", UUIDS["child"], below=UUIDS["pi"])
    assert {found.path for found in discover(project)} == {hashed, named, told, child}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"projects":[]}', '{"projects":{"x":1}}', "\xff"])
def test_gemini_with_a_broken_list_of_projects(own_home: Path, project: Path, text: str) -> None:
    gemini(own_home, "app", UUIDS["gemini"])
    (own_home / ".gemini/projects.json").write_text(text, encoding="latin-1")
    (own_home / ".gemini/tmp/app/.project_root").write_bytes(b"\xff\xfe")
    assert discover(project) == []


def test_copilot_and_pi(own_home: Path, project: Path) -> None:
    first = copilot(own_home, project, UUIDS["copilot"])
    old = lines_file(
        own_home / ".copilot/session-state" / f"{UUIDS['other']}.jsonl",
        [json.loads(first.read_text())],
    )
    copilot(own_home, project.parent, UUIDS["child"])
    second = pi(own_home, project, UUIDS["pi"])
    assert {found.path for found in discover(project)} == {first, old, second}
    assert ids("--agent", "pi") == [UUIDS["pi"]]


def test_opencode_only_the_projects_own(own_home: Path, project: Path) -> None:
    opencode(
        own_home,
        ("ses_a", project, 1_793_523_600_000),
        ("ses_b", project.parent / "app2", 1_793_523_700_000),
        ("ses_c", project / "sub", 1_793_523_800_000),
    )
    assert ids() == ["ses_a", "ses_c"]
    assert ids("--all") == ["ses_a", "ses_b", "ses_c"]
    assert ids("ses_b") == ["ses_b"]
    assert ids("--latest") == ["ses_c"]


def test_the_log_of_a_database_tells_when_it_changed(own_home: Path, project: Path) -> None:
    path = opencode(own_home, ("ses_a", project, 1_793_523_600_000))
    newer = codex(own_home / ".codex", project, UUIDS["codex"])
    os.utime(path, (1, 1))
    os.utime(newer, (1000, 1000))
    assert ids("--latest") == [UUIDS["codex"]]
    log = path.with_name("opencode.db-wal")
    log.write_bytes(b"")
    os.utime(log, (2000, 2000))
    assert ids("--latest") == ["ses_a"]


def test_every_agent_at_once(own_home: Path, project: Path) -> None:
    claude(own_home, project, UUIDS["claude"])
    codex(own_home / ".codex", project, UUIDS["codex"])
    gemini(own_home, hashlib.sha256(str(project).encode()).hexdigest(), UUIDS["gemini"])
    copilot(own_home, project, UUIDS["copilot"])
    pi(own_home, project, UUIDS["pi"])
    opencode(own_home, ("ses_a", project, 1_793_523_600_000))
    codex(own_home / ".codex", project.parent, UUIDS["other"])
    own = sorted(
        [*(UUIDS[name] for name in ("claude", "codex", "gemini", "copilot", "pi")), "ses_a"]
    )
    assert ids() == own
    assert ids("--all") == sorted([*own, UUIDS["other"]])
    assert ids("--all", "--agent", "codex") == [UUIDS["other"], UUIDS["codex"]]
    assert agents() == ["claude-code", "codex", "gemini-cli", "copilot-cli", "pi", "opencode"]
    (project / "deep/down").mkdir(parents=True)
    assert ids(cwd=project / "deep/down") == own


def test_odd_files_where_sessions_are_kept(own_home: Path, project: Path) -> None:
    good = codex(own_home / ".codex", project, UUIDS["codex"])
    folder = good.parent
    (folder / "rollout-empty.jsonl").write_bytes(b"")
    (folder / "rollout-broken.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfdbroken")
    (folder / "rollout-odd.jsonl").write_bytes(b'{"cwd":"\\ud800"}\n{"cwd": "\\q"}')
    (folder / "rollout-gone.jsonl").symlink_to("nowhere")
    (folder / "rollout-folder.jsonl").mkdir()
    (own_home / ".claude").write_text("a file, not a folder")
    (own_home / ".gemini").mkdir()
    (own_home / ".gemini/tmp").write_text("a file")
    assert ids() == [UUIDS["codex"]]


def test_nothing_anywhere(project: Path) -> None:
    done = started("sessions")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().splitlines() == [
        f"error: no sessions of {project} were found where agents keep them",
        "hint: name a transcript, or see every project's: agentlearn sessions --all",
    ]
    done = started("sessions", "--all")
    assert done.returncode == 2
    assert done.stderr.decode().startswith("error: no sessions were found; looked for those of ")


# Names


def test_path_folder_glob_and_stdin(tmp_path: Path, project: Path) -> None:
    a = native_file(tmp_path / "d/a.jsonl", {"id": "a"})
    b = native_file(tmp_path / "d/e/b.jsonl", {"id": "b"})
    native_file(tmp_path / "d/.hidden/c.jsonl", {"id": "c"})
    native_file(tmp_path / "d/.c.jsonl", {"id": "c"})
    native_file(tmp_path / "d/node_modules/c.jsonl", {"id": "c"})
    folder = str(tmp_path / "d")
    assert select([str(a)], project) == [Candidate(a)]
    assert select([folder], project) == [Candidate(a, named=False), Candidate(b, named=False)]
    assert select([f"{folder}/*.jsonl"], project) == [Candidate(a)]
    assert select([f"{folder}/**/[ab].jsonl"], project) == [Candidate(a), Candidate(b)]
    assert select([f"{tmp_path}/d*"], project) == select([folder], project)
    assert select(["-"], project) == [Candidate(None)]
    assert select(["-", str(a)], project) == [Candidate(None), Candidate(a)]


def test_each_once_however_it_is_named(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a = native_file(tmp_path / "a.jsonl", {"id": "a"})
    monkeypatch.chdir(tmp_path)
    chosen = select(["a.jsonl", "./a.jsonl", str(a), "*.jsonl", "-", "-"], project)
    assert chosen == [Candidate(Path("a.jsonl")), Candidate(None)]
    (tmp_path / "d").mkdir()
    (tmp_path / "d/notes.txt").write_text("no transcript")
    assert select(["d", "d/notes.txt"], project) == [Candidate(Path("d/notes.txt"))]


def test_a_name_with_brackets_is_a_file_first(tmp_path: Path, project: Path) -> None:
    odd = native_file(tmp_path / "[a].jsonl", {"id": "a"})
    native_file(tmp_path / "a.jsonl", {"id": "b"})
    assert select([str(odd)], project) == [Candidate(odd)]


def test_links_are_read_and_folders_behind_links_are_not(tmp_path: Path, project: Path) -> None:
    real = native_file(tmp_path / "real/a.jsonl", {"id": "a"})
    (tmp_path / "d").mkdir()
    (tmp_path / "d/link.jsonl").symlink_to(real)
    (tmp_path / "d/round").symlink_to(tmp_path / "d")
    (tmp_path / "d/gone.jsonl").symlink_to("nowhere")
    chosen = select([str(tmp_path / "d")], project)
    names = [tmp_path / "d/gone.jsonl", tmp_path / "d/link.jsonl"]
    assert chosen == [Candidate(name, named=False) for name in names]
    result = call("sessions", tmp_path / "d", "--json", code=5)
    assert [found["id"] for found in json.loads(result.stdout)] == ["a"]
    assert "gone.jsonl: No such file or directory" in result.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "a SESSION is an empty word"),
        ("missing.jsonl", "missing.jsonl does not exist"),
        ("no/such/thing", "no/such/thing does not exist"),
        ("*.nothing", "nothing matches *.nothing"),
        ("empty", "empty is a folder without files"),
        ("zzz", "zzz is no file, and no session has this id"),
        ("x" * 5000, "cannot be read: File name too long"),
        ("file/inside", "file/inside cannot be read: Not a directory"),
    ],
)
def test_names_that_stand_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput) as caught:
        select([name], tmp_path)
    assert caught.value.message.endswith(message)


def test_the_latest(tmp_path: Path, project: Path) -> None:
    old = native_file(tmp_path / "new.jsonl", {"id": "old"})
    new = native_file(tmp_path / "old.jsonl", {"id": "new"})
    os.utime(old, (1000, 1000))
    os.utime(new, (2000, 2000))
    (tmp_path / "gone.jsonl").symlink_to("nowhere")
    assert ids(old, new, "--latest") == ["new"]
    assert ids(tmp_path / "*.jsonl", "--latest") == ["new"]
    with pytest.raises(BadInput) as caught:
        select(["-"], project, latest=True)
    assert caught.value.message == "--latest needs files to choose from, not stdin"


def test_the_latest_of_a_project_ignores_a_pipe(own_home: Path, project: Path) -> None:
    claude(own_home, project, UUIDS["claude"])
    assert ids("--latest", input=b"not a transcript") == [UUIDS["claude"]]


@pytest.mark.parametrize("name", ["claude", "codex", "cold", "gemini", "copilot", "pi"])
@pytest.mark.parametrize("length", [4, 8, 13, 36])
def test_an_id_or_its_beginning(own_home: Path, project: Path, name: str, length: int) -> None:
    claude(own_home, project, UUIDS["claude"])
    codex(own_home / ".codex", project.parent, UUIDS["codex"])
    warm = codex(own_home / ".codex", project, UUIDS["cold"])
    warm.with_name(warm.name + ".zst").write_bytes(zstandard.compress(warm.read_bytes()))
    warm.unlink()
    gemini(own_home, "app", UUIDS["gemini"])
    copilot(own_home, project, UUIDS["copilot"])
    pi(own_home, project, UUIDS["pi"])
    (chosen,) = select([UUIDS[name][:length]], project)
    assert chosen.path is not None
    kept = UUIDS[name][: 8 if name == "gemini" else 36]
    assert kept in str(chosen.path)


def test_the_id_that_the_table_shows_names_the_session(own_home: Path, project: Path) -> None:
    gemini(own_home, "app", UUIDS["gemini"])
    twin = UUIDS["gemini"][:8] + "-ffff-4bbb-8ccc-000000000000"
    done = started("sessions", "--all")
    shown = done.stdout.decode().splitlines()[1].split()[0]
    assert shown == UUIDS["gemini"][:13]
    assert ids(shown) == [UUIDS["gemini"]]
    done = started("sessions", twin)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: no session was found in what was named\n")


def test_an_id_that_fits_several(own_home: Path, project: Path) -> None:
    claude(own_home, project, "abcd1111-0000-4000-8000-000000000000")
    claude(own_home, project.parent / "else", "abcd2222-0000-4000-8000-000000000000")
    # The project's own goes before the others'.
    assert ids("abcd") == ["abcd1111-0000-4000-8000-000000000000"]
    claude(own_home, project, "abcd3333-0000-4000-8000-000000000000")
    with pytest.raises(BadInput) as caught:
        select(["abcd"], project)
    assert caught.value.message.startswith("abcd fits 2 sessions: abcd1111-")
    assert caught.value.hint == "give more of the id"


@pytest.mark.parametrize("name", ["aaaa", "4bbb", "8ccc", "0000", "01T09", "09-00"])
def test_the_middle_of_an_id_or_of_a_date_names_nothing(
    own_home: Path, project: Path, name: str
) -> None:
    claude(own_home, project, UUIDS["claude"])
    claude(own_home, project, UUIDS["child"], f"{UUIDS['claude']}/subagents/agent-a17.jsonl")
    codex(own_home / ".codex", project, "12345678-aaaa-7bbb-8ccc-000000000004")
    gemini(own_home, "app", UUIDS["gemini"])
    copilot(own_home, project, UUIDS["copilot"])
    pi(own_home, project, UUIDS["pi"])
    with pytest.raises(BadInput) as caught:
        select([name], project)
    assert caught.value.message == f"{name} is no file, and no session has this id"
    (helper,) = select(["a17"], project)
    assert helper.path is not None and helper.path.name == "agent-a17.jsonl"
    (rollout,) = select(["123"], project)
    assert rollout.path is not None and rollout.path.name.startswith("rollout-")


def test_an_id_that_is_nearly_right(own_home: Path, project: Path) -> None:
    claude(own_home, project, UUIDS["claude"])
    wrong = UUIDS["claude"].replace("aaaa", "aaab")
    with pytest.raises(BadInput) as caught:
        select([wrong], project)
    assert caught.value.message == f"{wrong} is no file, and no session has this id"
    assert caught.value.hint == f"did you mean {UUIDS['claude']}?"


def test_process_substitution(tmp_path: Path) -> None:
    import sys

    path = tmp_path / "chat.json"
    path.write_text('{"messages":[{"role":"user","content":"hello"}]}')
    command = f"{sys.executable} -m agentlearn sessions <(cat '{path}') --json"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    expected = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    assert json.loads(done.stdout)[0]["id"] == expected


def test_a_closed_stdin() -> None:
    import sys

    command = f"{sys.executable} -m agentlearn sessions - <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr == b"error: there is nothing on stdin: it is closed\n"


def test_a_name_that_is_nothing_does_not_cost_the_others(tmp_path: Path) -> None:
    path = native_file(tmp_path / "good.jsonl", {"id": "s1", "rewards": [1]})
    result = call("returns", path, tmp_path / "missing.jsonl", "--format", "jsonl", code=2)
    assert json.loads(result.stdout)["id"] == "s1"
    assert result.stderr.startswith(f"error: {tmp_path / 'missing.jsonl'} does not exist\n")


def test_a_session_whose_file_has_another_name_is_found_by_its_id(own_home: Path) -> None:
    """A resumed session keeps its lines in the file of the one that it goes on with."""
    folder = own_home / ".claude" / "projects" / "-w-app"
    line = {"type": "user", "uuid": "u1", "parentUuid": None, "cwd": "/w/app"}
    said = {"role": "user", "content": "hello"}
    rows = [{**line, "sessionId": "4931d45a-d447", "message": said}]
    lines_file(folder / "2a8af1a8-f8cc.jsonl", rows)
    (found,) = json_of("sessions", "4931d")
    assert found["id"] == "4931d45a-d447"
