"""Every command has help that a newcomer understands, and a place in the README."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentlearn.cli.app import COMMANDS, app

README = (Path(__file__).parent.parent / "README.md").read_text()


@pytest.mark.parametrize("command", COMMANDS)
def test_command_is_in_the_readme_and_has_help(command: str):
    assert f"### {command}\n" in README
    assert f"$ agentlearn {command}" in README or f" agentlearn {command}" in README
    result = CliRunner().invoke(app, [command, "--help"])
    assert result.exit_code == 0
    assert "Usage: " in result.stdout
    options = [line.split()[0] for line in result.stdout.splitlines() if line.startswith("  --")]
    for option in options:
        assert f"{option} " in result.stdout


def test_the_readme_names_the_commands_that_set_up():
    assert "make demo" in README and "make test" in README


def test_the_six_lines_of_library_use_run(capsys: pytest.CaptureFixture[str], monkeypatch):
    code = README.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(Path(__file__).parent.parent)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("The totals on the invoice page")
