"""`agentlearn init`: a project is made ready once, and nothing of a person's is lost."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from agentlearn.store.agents import AGENTS, MEMORY, line_for
from tests.commands import call, json_of
from tests.stores import make_skill, new_store, tree

LINE = line_for("CLAUDE.md")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def state(project: Path) -> dict[str, object]:
    links = {
        path.relative_to(project).as_posix(): str(path.readlink())
        for path in project.rglob("*")
        if path.is_symlink()
    }
    return {**tree(project), **links}


def test_the_folders(project: Path):
    assert call("init", "--dry-run").stdout == (
        "make .agents/skills\nwrite .agentlearn/.gitignore\nwrite .agentlearn/memory/MEMORY.md\n"
    )
    assert tree(project) == {} and not (project / ".agents").exists()
    assert call("init").stdout == (
        "made .agents/skills\nwrote .agentlearn/.gitignore\nwrote .agentlearn/memory/MEMORY.md\n"
    )
    assert (project / ".agents/skills").is_dir()
    assert (project / MEMORY).read_text() == "# Memory: this project\n"
    before = state(project)
    result = call("init")
    assert (result.stdout, result.stderr) == ("", "note: nothing to do, all of it is there\n")
    assert state(project) == before


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_finds_the_skills_and_the_memory(project: Path, agent: str):
    make_skill(new_store(project))
    call("init", "--agent", agent)
    reads = AGENTS[agent]
    assert any((project / folder / "run-tests/SKILL.md").is_file() for folder in reads.skills)
    file = project / reads.instructions[0]
    assert file.read_text() == f"{line_for(reads.instructions[0])}\n"
    for named in [word[1:] for word in file.read_text().split() if word.startswith("@")]:
        assert (file.parent / named).parent.is_dir()
    before = state(project)
    assert call("init", "--agent", agent).stdout == ""
    assert {step["status"] for step in json_of("init", "--agent", agent)} == {"there"}
    assert state(project) == before


def test_claude_gets_a_link_that_survives_a_clone(project: Path):
    shown = call("init", "--agent", "claude").stdout
    assert "linked .claude/skills -> ../.agents/skills\n" in shown
    assert f"added a line to CLAUDE.md: {LINE}\n" in shown
    assert str((project / ".claude/skills").readlink()) == "../.agents/skills"


@pytest.mark.parametrize("text", ["hello\r\nworld\r\n", "hello\r\nworld", "hello", "hello\n\n", ""])
def test_what_a_file_says_stays(project: Path, text: str):
    path = project / "AGENTS.md"
    path.write_bytes(text.encode())
    path.chmod(0o640)
    call("init", "--agent", "codex")
    found = path.read_bytes().decode()
    end = "\r\n" if "\r\n" in text else "\n"
    assert found.startswith(text) and found.endswith(f"{line_for('AGENTS.md')}{end}")
    assert found.count("\n") - found.count("\r\n") in (0, found.count("\n"))
    assert path.stat().st_mode & 0o777 == 0o640
    assert text == "" or f"{end}{end}Before" in found


def test_a_new_claude_file_does_not_hide_the_one_that_was_read(project: Path):
    """Claude Code reads AGENTS.md only where there is no CLAUDE.md."""
    (project / "AGENTS.md").write_text("# Rules\n")
    call("init", "--agent", "claude")
    assert (project / "CLAUDE.md").read_text() == f"@AGENTS.md\n\n{LINE}\n"
    assert (project / "AGENTS.md").read_text() == "# Rules\n"


@pytest.mark.parametrize("order", [["claude", "codex"], ["codex", "claude"]])
def test_the_memory_is_not_read_twice(project: Path, order: list[str]):
    (project / "AGENTS.md").write_text("# Rules\n")
    call("init", "--agent", order[0], "--agent", order[1])
    assert (project / "CLAUDE.md").read_text() == "@AGENTS.md\n"
    assert (project / "AGENTS.md").read_text().count(MEMORY) == 1
    before = state(project)
    assert call("init", "--agent", "claude", "--agent", "codex").stdout == ""
    assert state(project) == before


def test_the_other_place_of_claude(project: Path):
    (project / ".claude").mkdir()
    (project / ".claude/CLAUDE.md").write_text("# Rules\n")
    call("init", "--agent", "claude")
    assert not (project / "CLAUDE.md").exists()
    text = (project / ".claude/CLAUDE.md").read_text()
    assert f"@../{MEMORY}" in text
    assert (project / ".claude" / f"../{MEMORY}").is_file()


def test_one_file_with_two_names(project: Path):
    (project / "AGENTS.md").write_text("# Rules\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    call("init", "--agent", "claude", "--agent", "codex")
    assert (project / "CLAUDE.md").is_symlink()
    assert (project / "AGENTS.md").read_text() == f"# Rules\n\n{LINE}\n"


def test_no_link_leads_out_of_the_project(project: Path, tmp_path: Path):
    outside = tmp_path / "outside.md"
    outside.write_text("theirs\n")
    (project / "CLAUDE.md").symlink_to(outside)
    result = call("init", "--agent", "claude", code=2)
    assert "leads out of the project" in result.stderr and LINE in result.stderr
    assert outside.read_text() == "theirs\n" and not (project / ".agentlearn").exists()
    (project / "CLAUDE.md").unlink()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project / ".claude").symlink_to(elsewhere)
    call("init", "--agent", "claude", code=2)
    assert list(elsewhere.iterdir()) == []


def test_a_folder_of_skills_is_left_alone(project: Path):
    mine = project / ".claude/skills/mine/SKILL.md"
    mine.parent.mkdir(parents=True)
    mine.write_text("x")
    before = state(project)
    result = call("init", "--agent", "claude", code=2)
    assert "is a folder of its own, with 1 skill\n" in result.stderr
    assert 'skills_dir = ".claude/skills" in agentlearn.toml' in result.stderr
    assert state(project) == before and not (project / ".agentlearn").exists()
    (project / "agentlearn.toml").write_text('skills_dir = ".claude/skills"\n')
    call("init", "--agent", "claude", "--agent", "codex")
    assert mine.read_text() == "x"
    assert str((project / ".agents/skills").readlink()) == "../.claude/skills"


def test_a_link_to_elsewhere_is_left_alone(project: Path):
    (project / ".claude").mkdir()
    (project / ".claude/skills").symlink_to("../other")
    assert "is a link to ../other" in call("init", "--agent", "claude", code=2).stderr
    assert str((project / ".claude/skills").readlink()) == "../other"


@pytest.mark.parametrize("content", [b"caf\xe9\n", b"x" * (1024 * 1024 + 1)])
def test_a_file_that_is_no_text_is_left_alone(project: Path, content: bytes):
    (project / "AGENTS.md").write_bytes(content)
    call("init", "--agent", "codex", code=2)
    assert (project / "AGENTS.md").read_bytes() == content
    assert not (project / ".agentlearn").exists()


def test_names_that_are_none(project: Path):
    assert "did you mean claude?" in call("init", "--agent", "cluade", code=2).stderr
    assert "agents are: amp, " in call("init", "--agent", "zzz", code=2).stderr
    assert "--agent is for a project" in call("init", "--user", "--agent", "pi", code=2).stderr
    assert tree(project) == {}


def test_the_persons_own_store(project: Path, own_home: Path):
    shown = call("init", "--user").stdout
    assert f"your skills: {own_home / 'agentlearn/skills'}\n" in shown
    assert (own_home / "agentlearn/skills").is_dir() and tree(project) == {}
    assert "nothing to do" in call("init", "--user").stderr


def test_json(project: Path):
    found = json_of("init", "--agent", "claude", "--dry-run")
    assert found[3] == {
        "action": "link",
        "path": ".claude/skills",
        "status": "planned",
        "target": "../.agents/skills",
        "line": None,
    }
    assert {step["status"] for step in json_of("init", "--agent", "claude")} == {"done"}


HOOKED = {"claude": ".claude/settings.json", "codex": ".codex/hooks.json",
          "gemini": ".gemini/settings.json"}  # fmt: skip


@pytest.mark.parametrize(("agent", "name"), HOOKED.items())
def test_hooks_are_written_and_taken_out_again(project: Path, agent: str, name: str) -> None:
    call("init", "--agent", agent, "--hooks")
    path = project / name
    settings = json.loads(path.read_text())
    commands = [
        hook["command"]
        for groups in settings["hooks"].values()
        for group in groups
        for hook in group["hooks"]
    ]
    assert [command.rpartition(" ")[2] for command in commands] == [
        "session-start", "user-prompt", "session-end",
    ]  # fmt: skip
    before = path.read_text()
    assert "nothing to do" in call("init", "--agent", agent, "--hooks").stderr
    assert path.read_text() == before
    would = call("init", "--agent", agent, "--hooks", "--remove", "--dry-run").stdout
    assert (
        would
        == f"take the hooks out of {name}: the file has nothing else in it and goes with them\n"
    )
    call("init", "--agent", agent, "--hooks", "--remove")
    assert not path.exists()
    assert "none of it is there" in call("init", "--agent", agent, "--hooks", "--remove").stderr


def with_command(command: str) -> dict[str, object]:
    return {"hooks": {"SessionEnd": [{"hooks": [{"type": "command", "command": command}]}]}}


@pytest.mark.parametrize(
    "command",
    [
        "agentlearn hook session-end && notify",
        "agentlearn hook session-end; notify",
        "agentlearn hook session-end --quiet",
        "cd /tmp && agentlearn hook session-end",
        "notify;/usr/bin/agentlearn hook session-end",
        "DEBUG=1 agentlearn hook session-end",
        "python3 -c 'x' -P -m agentlearn hook session-end",
    ],
)
def test_a_command_that_a_person_made_of_ours_stays_and_is_told(
    project: Path, command: str
) -> None:
    path = project / ".claude" / "settings.json"
    path.parent.mkdir()
    text = json.dumps(with_command(command), indent=2) + "\n"
    path.write_text(text)
    call("init", "--agent", "claude", "--hooks")
    assert "SessionEnd" in path.read_text() and path.read_text().count("hook session-end") == 1
    result = call("init", "--agent", "claude", "--hooks", "--remove")
    assert path.read_text() == text
    assert f"note: .claude/settings.json still has {command}: that is not ours" in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        "agentlearn hook session-end",
        "/opt/my.tools/bin/agentlearn hook session-end",
        "/usr/bin/python3.11 -P -m agentlearn hook session-end",
        "'/my tools/python' -P -m agentlearn hook session-end",
        shlex.quote("/it's mine/python") + " -P -m agentlearn hook session-end",
    ],
)
def test_what_we_wrote_on_another_machine_is_taken_out(project: Path, command: str) -> None:
    path = project / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(json.dumps({"a": 1, **with_command(command)}))
    assert call("init", "--agent", "claude", "--hooks", "--remove").stderr == ""
    assert json.loads(path.read_text()) == {"a": 1}


def test_a_file_of_a_persons_stays_although_it_is_empty(project: Path) -> None:
    path = project / ".codex" / "hooks.json"
    path.parent.mkdir()
    path.write_text("{}\n")
    call("init", "--agent", "codex", "--hooks")
    call("init", "--agent", "codex", "--hooks", "--remove")
    assert path.read_text() == "{}\n"


def test_a_file_of_ours_stays_once_there_is_something_else_in_it(project: Path) -> None:
    call("init", "--agent", "codex", "--hooks")
    path = project / ".codex" / "hooks.json"
    path.write_text(path.read_text().removesuffix("\n}\n") + ',\n    "a": 1\n}\n')
    call("init", "--agent", "codex", "--hooks", "--remove")
    assert json.loads(path.read_text()) == {"a": 1}


def test_hooks_do_not_disturb_what_is_there(project: Path) -> None:
    path = project / ".claude" / "settings.json"
    path.parent.mkdir()
    mine = {
        "permissions": {"allow": ["Bash(ls:*)"]},
        "hooks": {
            "SessionStart": [
                {"matcher": "startup", "hooks": [{"type": "command", "command": "x"}]}
            ],
            "Stop": [{"hooks": [{"type": "command", "command": "notify"}]}],
        },
        "ä": 1.0,
    }
    text = json.dumps(mine, indent=4, ensure_ascii=False) + "\n"
    path.write_text(text)
    call("init", "--agent", "claude", "--hooks")
    settings = json.loads(path.read_text())
    assert settings["hooks"]["SessionStart"][0] == mine["hooks"]["SessionStart"][0]
    assert settings["hooks"]["Stop"] == mine["hooks"]["Stop"]
    assert list(settings) == list(mine) and settings["ä"] == 1.0
    call("init", "--agent", "claude", "--hooks", "--remove")
    assert path.read_text() == text


STYLES = {
    "two spaces": '{\n  "model": "x",\n  "allow": ["a", "b"]\n}\n',
    "four, and no last line end": '{\n    "n": 1e5,\n    "deep": {"a": {}}\n}',
    "tabs": '{\n\t"\\u00e4": 1.50\n}\n',
    "windows": '{\r\n  "a": 1\r\n}\r\n',
    "one line": '{"a": [1, 2], "b": null}\n',
    "nothing": "{}\n",
    "others between": '{\n  "hooks": {\n    "Stop": [ {"hooks": []} ],\n    "Z": []\n  }\n}\n',
}  # fmt: skip


@pytest.mark.parametrize("text", STYLES.values(), ids=STYLES)
def test_settings_keep_their_look(project: Path, text: str) -> None:
    path = project / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    call("init", "--agent", "claude", "--hooks")
    hooked = path.read_bytes().decode()
    kept = [line.rstrip(",") for line in text.splitlines() if line not in ("{}", "{", "}")]
    if "\n" in text.strip():
        assert [line for line in kept if line not in hooked] == []
        assert hooked.count("\r") == (hooked.count("\n") if "\r" in text else 0)
        assert "\n\t\t\t{" in hooked if "\t" in text else "\t" not in hooked
    settings = json.loads(hooked)
    before = json.loads(text)
    assert list(settings) == [*before, *([] if "hooks" in before else ["hooks"])]
    call("init", "--agent", "claude", "--hooks", "--remove")
    assert path.read_bytes().decode() == text


def test_hooks_have_the_names_and_the_time_that_each_agent_gives_them(project: Path) -> None:
    found = {}
    for agent, name in HOOKED.items():
        call("init", "--agent", agent, "--hooks")
        hooks = json.loads((project / name).read_text())["hooks"]
        assert all(list(group) == ["hooks"] for groups in hooks.values() for group in groups)
        found[agent] = {event: groups[0]["hooks"][0]["timeout"] for event, groups in hooks.items()}
    assert found == {
        "claude": {"SessionStart": 10, "UserPromptSubmit": 10, "SessionEnd": 10},
        "codex": {"SessionStart": 10, "UserPromptSubmit": 10, "SessionEnd": 3},
        "gemini": {"SessionStart": 10_000, "BeforeAgent": 10_000, "SessionEnd": 10_000},
    }


@pytest.mark.parametrize(
    "text",
    [
        "{ // mine\n}",
        '{"a": 1,}',
        '{"a": 1, "a": 2}',
        "[]",
        '{"hooks": []}',
        '{"hooks": {"SessionEnd": {}}}',
    ],
)
def test_settings_that_cannot_be_understood_are_not_touched(project: Path, text: str) -> None:
    path = project / ".codex" / "hooks.json"
    path.parent.mkdir()
    path.write_text(text)
    said = call("init", "--agent", "codex", "--hooks", code=2).stderr
    assert said.startswith("error: .codex/hooks.json ") and said.count("\n") <= 2
    assert path.read_text() == text
    assert not (project / "AGENTS.md").exists()


def test_hooks_say_what_they_need(project: Path) -> None:
    assert "needs an agent" in call("init", "--hooks", code=2).stderr
    assert "goes with --hooks" in call("init", "--agent", "claude", "--remove", code=2).stderr
    assert "not for amp" in call("init", "--agent", "amp", "--hooks", code=2).stderr
    assert "trust them" in call("init", "--agent", "codex", "--hooks").stderr
    call("init", "--agent", "claude", "--hooks", "--dry-run")
    assert not (project / ".claude").exists()


def test_hooks_do_not_leave_the_project(project: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (project / ".gemini").symlink_to(tmp_path / "elsewhere")
    said = call("init", "--agent", "gemini", "--hooks", code=2).stderr
    assert "leads out of the project: it is not touched\n" in said
    hint = said.splitlines()[1]
    assert hint.startswith('hint: put this under "hooks" in it yourself: {')
    assert list(json.loads(hint[hint.index("{") :])) == [
        "SessionStart",
        "BeforeAgent",
        "SessionEnd",
    ]
    said = call("init", "--agent", "gemini", "--hooks", "--remove", code=2).stderr
    assert "hint: take the commands with agentlearn hook out of it yourself\n" in said


def test_a_link_out_of_the_project_is_told_with_the_line_that_it_lacks(
    project: Path, tmp_path: Path
) -> None:
    (tmp_path / "RULES.md").write_text("# Rules\n")
    (project / "AGENTS.md").symlink_to(tmp_path / "RULES.md")
    (project / "CLAUDE.md").write_text("@AGENTS.md\n")
    said = call("init", "--agent", "claude", code=2).stderr
    assert f"add this line to it yourself: {line_for('AGENTS.md')}\n" in said
