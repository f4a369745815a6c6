"""A whole review with a real model server: llama.cpp, with a model too small to be wise.

What is tested is that the protocol works from end to end: the loop ends with an outcome, usage is
recorded, and whatever the model did, the store is valid. `make llama` installs what it needs.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import call
from tests.llama import llama_server
from tests.reviews import Project
from tests.stores import assert_whole

pytestmark = pytest.mark.llama


def test_a_real_server_reviews_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = Project(tmp_path / "project")
    monkeypatch.chdir(project.folder)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    prompt = tmp_path / "prompt.md"
    prompt.write_text("Review the transcript. Call skill_list, then stop.")
    events = tmp_path / "events.jsonl"
    with llama_server() as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        result = call(
            "review", project.path, "--model", "smollm2", "--max-iterations", "2", "--max-chars",
            "1500", "--prompt", prompt, "--events", events, "--format", "json",
        )  # fmt: skip
    (session,) = json.loads(result.stdout)["sessions"]
    assert session["outcome"] in ("converged", "exhausted")
    assert session["reviewer"] == "model"
    assert session["usage"]["input_tokens"] > 100
    assert session["usage"]["output_tokens"] > 0
    completions = [
        event
        for event in map(json.loads, events.read_text().splitlines())
        if event["type"] == "completion"
    ]
    assert [event["outcome"] for event in completions] == [session["outcome"]]
    assert completions[0]["usage"] == session["usage"]
    assert completions[0]["root_model"] == "smollm2"
    assert_whole(project.store)
    assert call("check").exit_code == 0
