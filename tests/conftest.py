"""Every test has a home and settings of its own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    import os

    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith("AGENTLEARN_") and name != "AGENTLEARN_SAMPLES":
            monkeypatch.delenv(name)
    for name in ("CODEX_HOME", "CLAUDE_CONFIG_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("AGENTLEARN_HOME", str(home / "agentlearn"))
    return home
