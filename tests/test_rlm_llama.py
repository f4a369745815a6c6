"""A session explored with a real model server: llama.cpp, with a model too small to be wise.

What is tested is the protocol: the loop ends with an outcome, one completion has the tokens that
the server counted, and every place in the answer exists.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentlearn.cli.app import app
from tests.explorers import long_lines
from tests.files import lines_file
from tests.llama import llama_server

pytestmark = pytest.mark.llama


def test_a_real_server_explores_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("AGENTLEARN_MODEL_TIMEOUT_SECONDS", "600")
    session = lines_file(tmp_path / "long.jsonl", long_lines(turns=8))
    with llama_server() as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        result = CliRunner().invoke(app, [
            "distill", str(session), "--root-model", "smollm2", "--subcall-model", "smollm2",
            "--max-iterations", "1", "--question", "Who speaks?", "--format", "json",
        ])  # fmt: skip
    assert result.exit_code in (0, 1), result.stderr
    found = json.loads(result.stdout)
    assert found["completion"]["outcome"] in ("converged", "exhausted")
    assert found["completion"]["usage"]["input_tokens"] > 100
    assert found["completion"]["usage"]["output_tokens"] > 0
    assert all(1 <= place["start"] <= place["end"] <= 18 for place in found["citations"])
    log = (tmp_path / ".agentlearn" / "events.jsonl").read_text().splitlines()
    completions = [one for one in map(json.loads, log) if one["type"] == "completion"]
    assert [one["usage"] for one in completions] == [found["completion"]["usage"]]
