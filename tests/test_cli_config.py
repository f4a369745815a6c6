"""Settings: where each value comes from, and what cannot be one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentlearn.config import find_project, load_settings, resolve, user_config_file
from agentlearn.errors import BadInput
from tests.commands import HOSTILE, assert_harmless, call, json_of, native_file, started

DEFAULTS = {
    "gamma": 0.99,
    "rewards": None,
    "max_chars": 12000,
    "keep": "tail",
    "jobs": 1,
    "strict": False,
    "model": None,
    "long": "evidence",
    "reviewer": "auto",
    "nudge_interval": 10,
    "max_iterations": 6,
    "max_tokens": 200_000,
    "model_timeout_seconds": 120.0,
    "root_model": None,
    "subcall_model": None,
    "distill_max_iterations": 15,
    "distill_max_subcalls": 50,
    "distill_max_tokens": 1_000_000,
    "distill_timeout": 900.0,
    "skills_dir": ".agents/skills",
    "memory_chars": 2200,
    "user_chars": 1375,
    "relevance_threshold": 0.3,
    "max_context_items": 5,
    "auto_persist": True,
    "hooks_reviewer": "rules",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def user_file(text: str) -> Path:
    path = user_config_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_settings_of_hooks_may_stand_in_a_table(project: Path) -> None:
    (project / "agentlearn.toml").write_text('[hooks]\nreviewer = "model"\n')
    assert json_of("config")["hooks_reviewer"]["value"] == "model"


def test_the_defaults(project: Path) -> None:
    found = json_of("config")
    assert found == {name: {"value": value, "from": "default"} for name, value in DEFAULTS.items()}


def test_who_wins(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user = user_file("gamma = 0.1\njobs = 2\nkeep = 'ends'\nmax_chars = 10\n")
    own = project / "agentlearn.toml"
    own.write_text("gamma = 0.2\njobs = 3\nkeep = 'evidence'\n")
    monkeypatch.setenv("AGENTLEARN_GAMMA", "0.3")
    monkeypatch.setenv("AGENTLEARN_JOBS", "4")
    found = json_of("config")
    assert found["gamma"] == {"value": 0.3, "from": "AGENTLEARN_GAMMA"}
    assert found["jobs"] == {"value": 4, "from": "AGENTLEARN_JOBS"}
    assert found["keep"] == {"value": "evidence", "from": str(own)}
    assert found["max_chars"] == {"value": 10, "from": str(user)}
    assert found["strict"] == {"value": False, "from": "default"}
    path = native_file(project / "a.jsonl", {"id": "s", "rewards": [0, 1]})
    assert json_of("returns", path)["gamma"] == 0.3
    assert json_of("returns", path, "--gamma", "0.4")["gamma"] == 0.4
    assert load_settings({"gamma": 0.4})["gamma"].origin == "--gamma"


def test_the_table(project: Path) -> None:
    own = project / "agentlearn.toml"
    own.write_text("gamma = 0.5\n")
    shown = call("config").stdout.splitlines()
    assert shown[0].split() == ["setting", "value", "from"]
    assert shown[1].split() == ["gamma", "0.5", str(own)]
    assert shown[2].split() == ["rewards", "–", "default"]
    assert shown[-3:-1] == [str(own), f"{user_config_file()}  (not there)"]
    assert shown[-1].endswith("defaults.yaml  (rules for rewards, to copy)")
    assert Path(shown[-1].split("  ")[0]).is_file()


def test_the_project_is_found_from_below(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "agentlearn.toml").write_text("gamma = 0.5\nrewards = 'rules.yaml'\n")
    (project / "rules.yaml").write_text("person: {thanks: 3}\n")
    below = project / "deep/down"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert find_project() == project
    assert resolve().gamma == 0.5
    # A file that is named in the settings stands beside them, wherever the command is run.
    assert resolve().rewards == str(project / "rules.yaml")
    path = native_file(below / "a.jsonl", {"id": "s", "rewards": [1]})
    call("returns", path)


def test_rewards_native_is_no_file(project: Path) -> None:
    (project / "agentlearn.toml").write_text("rewards = 'native'\n")
    assert resolve().rewards == "native"


def test_a_project_may_have_its_own_mark(tmp_path: Path) -> None:
    (tmp_path / "a/.agentlearn").mkdir(parents=True)
    (tmp_path / "a/b/c").mkdir(parents=True)
    (tmp_path / "a/b/.git").write_text("gitdir: elsewhere")
    assert find_project(tmp_path / "a/b/c") == tmp_path / "a/b"
    assert find_project(tmp_path / "a") == tmp_path / "a"
    (tmp_path / "a/b/c/agentlearn.toml").write_text("gamma = 0.5\n")
    (tmp_path / "a/b/c/d").mkdir()
    assert find_project(tmp_path / "a/b/c/d") == tmp_path / "a/b/c"
    (tmp_path / "alone").mkdir()
    assert find_project(tmp_path / "alone") == tmp_path / "alone"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gama = 1", "unknown setting: gama in "),
        ("[returns]\ngamma = 1", "unknown setting: returns in "),
        ("gamma = 2.0", "gamma must be between 0 and 1, not 2.0 (from "),
        ("gamma = nan", "gamma must be between 0 and 1, not nan (from "),
        ("gamma = 'x'", "gamma from "),
        ("jobs = 1.5", "jobs from "),
        ("jobs = 0", "jobs must be between 1 and 64, not 0 (from "),
        ("max_chars = 0", "max_chars must be at least 1, not 0 (from "),
        ("keep = 'middle'", "keep from "),
        ("strict = 'perhaps'", "strict from "),
        ("gamma = ", " cannot be read: "),
        ("gamma = 1\ngamma = 1", " cannot be read: "),
    ],
)
def test_files_that_cannot_be(project: Path, text: str, message: str) -> None:
    (project / "agentlearn.toml").write_text(text)
    result = call("config", code=2)
    assert result.stdout == ""
    assert message in result.stderr
    assert "agentlearn.toml" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_wrong_name_gets_a_near_one(project: Path) -> None:
    (project / "agentlearn.toml").write_text("gama = 1\n")
    result = call("config", code=2)
    assert result.stderr.splitlines()[-1] == "hint: did you mean gamma?"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("AGENTLEARN_GAMMA", "high", "gamma from AGENTLEARN_GAMMA: "),
        (
            "AGENTLEARN_GAMMA",
            "1.5",
            "gamma must be between 0 and 1, not 1.5 (from AGENTLEARN_GAMMA)",
        ),
        ("AGENTLEARN_GAMA", "1", "unknown setting: AGENTLEARN_GAMA"),
        ("AGENTLEARN_JOBS", "65", "jobs must be between 1 and 64, not 65 (from AGENTLEARN_JOBS)"),
    ],
)
def test_variables_that_cannot_be(
    project: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(BadInput) as caught:
        resolve()
    assert caught.value.message.startswith(message)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("name", "value", "setting", "expected"),
    [
        ("AGENTLEARN_STRICT", "1", "strict", True),
        ("AGENTLEARN_STRICT", "false", "strict", False),
        ("AGENTLEARN_MAX_CHARS", "500", "max_chars", 500),
        ("AGENTLEARN_GAMMA", "", "gamma", 0.99),
        ("AGENTLEARN_SESSION_ID", "s1", "gamma", 0.99),
        ("AGENTLEARN_SESSION_PATH", "a.jsonl", "gamma", 0.99),
    ],
)
def test_variables(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    setting: str,
    expected: Any,
) -> None:
    monkeypatch.setenv(name, value)
    assert getattr(resolve(), setting) == expected


def test_strict_from_the_settings(project: Path) -> None:
    (project / "agentlearn.toml").write_text("strict = true\n")
    path = native_file(project / "a.jsonl", {"id": "s", "rewards": [1]})
    path.write_text(path.read_text() + "{oops\n")
    call("returns", path, code=2)


def test_hostile_values(project: Path) -> None:
    (project / "agentlearn.toml").write_text(f"rewards = {json.dumps(HOSTILE)}\n")
    result = call("config")
    assert_harmless(result.stdout)
    path = native_file(project / "a.jsonl", {"id": "s", "rewards": [1]})
    result = call("returns", path, code=2)
    assert_harmless(result.stderr)


def test_where_the_users_file_is(
    own_home: Path, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert user_config_file() == own_home / "agentlearn/config.toml"
    monkeypatch.delenv("AGENTLEARN_HOME")
    assert user_config_file() == own_home / ".config/agentlearn/config.toml"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert user_config_file() == tmp_path / "xdg/agentlearn/config.toml"


def test_a_run_without_settings_loads_no_parser(project: Path) -> None:
    import subprocess
    import sys

    path = native_file(project / "a.jsonl", {"id": "s", "rewards": [1]})
    code = (
        "import sys; sys.argv = ['agentlearn', 'returns', sys.argv[1]]\n"
        "from agentlearn.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'openai', 'pydantic', 'rich', 'yaml', 'tomllib'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, check=True)
    assert done.stderr == b"[]\n"


def test_the_version() -> None:
    from agentlearn import __version__

    done = started("--version")
    assert (done.returncode, done.stdout.decode()) == (0, f"agentlearn {__version__}\n")
    assert call("--version").stdout == f"agentlearn {__version__}\n"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("reviewer = 'nobody'", "reviewer"),
        ("nudge_interval = -1", "must be at least 0"),
        ("max_tokens = 0", "must be at least 1"),
        ("memory_chars = 10", "must be at least 100"),
        ("model_timeout_seconds = 0", "must be over 0"),
        ("skills_dir = ' '", "must name a folder"),
    ],
)
def test_settings_of_reviews_that_cannot_be(project: Path, line: str, says: str) -> None:
    (project / "agentlearn.toml").write_text(line + "\n")
    assert says in call("config", code=2).stderr
