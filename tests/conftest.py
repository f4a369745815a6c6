"""Every test has a home and settings of its own."""

from pathlib import Path
from typing import Any

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


@pytest.fixture(autouse=True)
def every_skill_passes_the_reference_validator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a test writes through the store, other readers of the format must take it."""
    from agentlearn.store.store import Pen

    commit = Pen.commit

    def checked(self: Pen, change: Any) -> None:
        commit(self, change)
        for edit in change.edits:
            if edit.path.endswith("/SKILL.md") and edit.after is not None:
                from skills_ref.validator import validate

                name = edit.path.split("/")[1]
                assert validate(self.store.places.skills / name) == []

    monkeypatch.setattr(Pen, "commit", checked)
