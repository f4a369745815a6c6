"""`agentlearn review` with a model on a server that misbehaves on purpose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.commands import call
from tests.model_server import (
    Behaviour,
    ModelServer,
    answer,
    called,
    half_a_body,
    hang,
    model_server,
    status,
)
from tests.reviews import PERSON, WISH, Project

KEY = "key-" + "of-the-test-" * 3
NOTE = json.dumps({"action": "add", "target": "MEMORY", "text": WISH, "evidence": [PERSON]})
DONE = answer("Nothing more to save.")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path / "project")
    monkeypatch.chdir(made.folder)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    return made


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pauses between tries are of no interest here."""
    import agentlearn.models.openai_client as client

    made = client.OpenAIModel

    def impatient(name: str, **more: Any) -> Any:
        return made(name, backoff_seconds=0.001, **more)

    monkeypatch.setattr(client, "OpenAIModel", impatient)
    yield


def reviewed(
    project: Project, monkeypatch: pytest.MonkeyPatch, *behaviours: Behaviour, code: int = 0
) -> tuple[Any, ModelServer, Any]:
    with model_server(*behaviours) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        args = ["review", project.path, "--model", "m-1", "--format", "json"]
        result = call(*args, code=code)
    assert KEY not in result.stdout + result.stderr
    for path in project.folder.rglob("*"):
        assert not path.is_file() or KEY not in path.read_text(errors="replace")
    return json.loads(result.stdout)["sessions"][0], server, result


def test_a_review_over_the_wire(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    first = answer(None, [called("memory", NOTE)], "tool_calls")
    session, server, _ = reviewed(project, monkeypatch, first, DONE)
    assert (session["outcome"], session["model"], session["iterations"]) == ("converged", "m-1", 2)
    assert session["usage"] == {"input_tokens": 22, "output_tokens": 10}
    assert WISH in project.memory()
    asked, again = server.chats
    assert [tool["function"]["name"] for tool in asked["tools"]] == [
        "skill_list", "skill_view", "skill_manage", "memory",
    ]  # fmt: skip
    assert again["messages"][-1]["role"] == "tool"
    assert again["messages"][-1]["content"].startswith("done: ")
    assert again["messages"][-1]["tool_call_id"] == "c1"


def test_a_wrong_key_says_so_at_once_and_nothing_is_written(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    session, server, result = reviewed(project, monkeypatch, status(401), code=4)
    assert session["outcome"] == "failed"
    assert len(server.chats) == 1
    assert "key" in result.stderr
    assert project.files() == []


@pytest.mark.parametrize("trouble", [status(429), status(500), status(503), half_a_body])
def test_trouble_that_passes(
    project: Project, monkeypatch: pytest.MonkeyPatch, trouble: Behaviour
) -> None:
    session, server, _ = reviewed(project, monkeypatch, trouble, trouble, DONE)
    assert session["outcome"] == "converged"
    assert len(server.chats) == 3


def test_trouble_that_stays(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    session, server, _ = reviewed(project, monkeypatch, status(500), code=4)
    assert session["outcome"] == "failed"
    assert len(server.chats) == 5


def test_a_server_that_hangs(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTLEARN_MODEL_TIMEOUT_SECONDS", "0.3")
    session, _, result = reviewed(project, monkeypatch, hang, code=4)
    assert session["outcome"] == "failed"
    assert "error: " in result.stderr


def test_what_was_written_before_the_trouble_stays(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = answer(None, [called("memory", NOTE)], "tool_calls")
    session, _, _ = reviewed(project, monkeypatch, first, status(400, "too long"), code=4)
    assert session["outcome"] == "failed"
    assert WISH in project.memory()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("memory", '{"action": "add", "tar'),
        ("run_shell", '{"command": "rm -rf /"}'),
        ("../../x", "{}"),
        ("skill_view", '{"name": "../../../etc/passwd"}'),
        ("skill_manage", json.dumps({"action": "create", "name": "../../x"})),
        ("memory", "null"),
        (None, None),
    ],
)
def test_calls_that_make_no_sense_get_a_sentence_back(
    project: Project, monkeypatch: pytest.MonkeyPatch, name: Any, arguments: Any
) -> None:
    odd = answer(None, [called(name, arguments)], "tool_calls")
    session, server, _ = reviewed(project, monkeypatch, odd, DONE)
    assert session["outcome"] == "converged"
    if len(server.chats) > 1:
        assert server.chats[1]["messages"][-1]["content"].startswith("error: ")
    assert project.files() == []


def test_twenty_calls_at_once(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    many = [
        called("memory", NOTE.replace("Run the", f"Case {number}: run the"), f"c{number}")
        for number in range(20)
    ]
    session, server, _ = reviewed(project, monkeypatch, answer(None, many), DONE)
    assert session["outcome"] == "converged"
    assert len(session["changes"]) == 20
    answers = [said for said in server.chats[1]["messages"] if said["role"] == "tool"]
    assert [said["tool_call_id"] for said in answers] == [f"c{number}" for number in range(20)]


def test_a_reply_that_never_stops_calling(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = answer(None, [called("skill_list", "{}")], "tool_calls")
    session, server, _ = reviewed(project, monkeypatch, again)
    assert (session["outcome"], session["iterations"]) == ("exhausted", 6)
    assert len(server.chats) == 6


def test_nothing_listens(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with model_server(DONE) as server:
        url = server.url
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    result = call("review", project.path, "--model", "m-1", code=4)
    assert result.stderr.count("error: ") == 1
    assert project.files() == []


def test_without_a_key(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("OPENAI_BASE_URL", "https://models.example/v1")
    result = call("review", project.path, "--model", "m-1", code=4)
    assert "OPENAI_API_KEY" in result.stderr
    assert project.files() == []
