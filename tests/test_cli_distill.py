"""`agentlearn distill` and `review --long rlm`, as a person runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.commands import call, json_of, started
from tests.explorers import ANSWER, SECRET, long_lines, step, use
from tests.files import lines_file
from tests.model_server import Handler, answer, called, model_server, status
from tests.reviews import calls, note_call, review

FINAL = {"text": "Amounts are in cents [L12].", "citations": ["L12", "L77777"]}


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return lines_file(folder / "long.jsonl", long_lines())


def script(path: Path, *replies: Any, name: str = "replies") -> str:
    return f"scripted:{lines_file(path.parent / f'{name}.jsonl', list(replies))}"


def events_of(path: Path) -> list[Any]:
    text = (path.parent / ".agentlearn" / "events.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_the_answer_comes_with_its_places(session: Path) -> None:
    model = script(session, step(use("search", pattern="cents")), step(use("answer", **FINAL)))
    result = call("distill", session, "--root-model", model)
    assert result.stdout == "Amounts are in cents [L12].\n\nfrom:\n- long-1#L12\n"
    assert "1 place is not there that the model named" in result.stderr
    last = events_of(session)[-1]
    assert (last["type"], last["outcome"]) == ("completion", "converged")
    assert last["command"] == "distill"


def test_json_has_answer_citations_and_completion(session: Path) -> None:
    model = script(session, step(use("answer", **FINAL)))
    found = json_of("distill", session, "--root-model", model)
    assert found["answer"] == "Amounts are in cents [L12]."
    assert found["citations"] == [{"session": "long-1", "start": 12, "end": 12}]
    assert found["struck_out"] == 1
    assert found["completion"]["outcome"] == "converged"
    assert 0 < found["completion"]["compression_ratio"] < 1


def test_without_a_model_the_session_speaks_for_itself(session: Path) -> None:
    result = call("distill", session)
    assert "no model was used" in result.stderr
    assert "“No, amounts are kept in cents here, never in floats.” (long-1#L12)" in result.stdout
    assert SECRET not in result.stdout
    assert not (session.parent / ".agentlearn").exists()
    found = json_of("distill", session, "--no-model")
    assert {"session": "long-1", "start": 12, "end": 12} in found["citations"]
    assert found["completion"]["root_model"] is None


def test_a_limit_that_ends_it_is_exit_1_with_what_was_found(session: Path) -> None:
    more = [step(use("look", first=n, last=n + 1), text="Cents, so far.") for n in range(2, 6)]
    options = ("--root-model", script(session, *more), "--max-iterations", "2")
    result = call("distill", session, *options, code=1)
    assert result.stdout == "Cents, so far.\n"
    assert "2 rounds were used up (--max-iterations); this is what was found" in result.stderr


def test_a_model_that_fails_is_exit_4(session: Path) -> None:
    result = call("distill", session, "--root-model", script(session, {"fail": "gone"}), code=4)
    assert "error: gone" in result.stderr and result.stdout == ""
    assert events_of(session)[-1]["outcome"] == "failed"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--question", " "], "the question is empty"),
        (["--question", "q" * 2001], "2000 are the most"),
        (["--max-iterations", "0"], "--max-iterations must be at least 1"),
        (["--timeout", "0"], "--timeout must be over 0"),
        (["--root-model", "scripted:/nowhere"], "cannot read the script"),
    ],
)
def test_wrong_words_exit_2(session: Path, args: list[str], says: str) -> None:
    assert says in call("distill", session, *args, code=2).stderr


def test_an_empty_session_and_no_session(session: Path) -> None:
    empty = lines_file(session.parent / "empty.jsonl", long_lines()[:1])
    assert call("distill", empty, "--no-model").stdout == ""
    model = script(session, ANSWER)
    assert (
        "nothing in what was named" in call("distill", empty, "--root-model", model, code=2).stderr
    )
    assert call("distill", session.parent / "nowhere.jsonl", code=2).stdout == ""


def test_several_sessions_are_one_environment(session: Path) -> None:
    other = lines_file(session.parent / "other.jsonl", long_lines(20, "other-2"))
    look = step(use("look", first=12, last=12, session="other-2"), use("look", first=1, last=2))
    final = use("answer", text="Both.", citations=["long-1#L12", "other-2#L12", "L12"])
    model = script(session, look, step(final))
    found = json_of("distill", session, other, "--root-model", model)
    assert [place["session"] for place in found["citations"]] == ["long-1", "other-2"]
    assert found["struck_out"] == 1


# Over a real connection


def environment(url: str) -> dict[str, str]:
    return {**os.environ, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "sk-test"}


def tool(name: str, **arguments: Any) -> Any:
    return answer(calls=[called(name, json.dumps(arguments))], finish="tool_calls")


def test_a_server_is_explored_with_and_its_tokens_are_counted(session: Path) -> None:
    steps = (tool("search", pattern="cents"), tool("answer", **FINAL))
    with model_server(*steps) as server:
        result = started(
            "distill", session, "--root-model", "m", "--format", "json", "--no-cache",
            env=environment(server.url),
        )  # fmt: skip
    found = json.loads(result.stdout)
    assert (result.returncode, found["answer"]) == (0, "Amounts are in cents [L12].")
    assert found["completion"]["usage"] == {"input_tokens": 22, "output_tokens": 10}
    assert [tool["function"]["name"] for tool in server.chats[0]["tools"]] == [
        "outline", "look", "search", "ask", "ask_each", "answer",
    ]  # fmt: skip
    assert SECRET not in json.dumps(server.chats)


def by_model(behaviours: dict[str, list[Any]]) -> Any:
    """A behaviour that depends on the model that is asked."""

    def behave(handler: Handler) -> None:
        name = handler.server.asked[-1].body["model"]
        queue = behaviours[name]
        (queue.pop(0) if len(queue) > 1 else queue[0])(handler)

    return behave


@pytest.mark.parametrize(("code", "reason"), [(404, "unknown_model"), (403, "no_access")])
def test_a_cheaper_model_that_the_server_refuses_is_replaced(
    session: Path, code: int, reason: str
) -> None:
    root = [tool("search", pattern="cents"), tool("answer", **FINAL)]
    behaviour = by_model({"big": root, "small": [status(code, "no such model")]})
    with model_server(behaviour) as server:
        result = started(
            "distill", session, "--root-model", "big", "--subcall-model", "small",
            "--events", "-", env=environment(server.url),
        )  # fmt: skip
    assert result.returncode == 0, result.stderr
    told = [line for line in result.stderr.decode().splitlines() if "subcall_fallback" in line]
    assert len(told) == 1
    event = json.loads(told[0])
    assert (event["configured"], event["using"], event["reason"]) == ("small", "big", reason)


def test_a_server_that_dies_in_the_middle_leaves_a_true_record(session: Path) -> None:
    steps = (tool("search", pattern="cents"), status(400, "boom"))
    with model_server(*steps) as server:
        result = started("distill", session, "--root-model", "m", env=environment(server.url))
    assert result.returncode == 4 and b"boom" in result.stderr
    last = events_of(session)[-1]
    assert (last["outcome"], last["reason"]) == ("failed", "model")


def test_ctrl_c_in_the_middle_of_four_questions_leaves_nothing_behind(session: Path) -> None:
    parts = [f"L{n}-L{n + 3}" for n in range(2, 26, 4)]
    ask = tool("ask_each", question="What?", parts=parts)
    gone = threading.Semaphore(0)

    def wait(handler: Handler) -> None:
        """Until the client is gone, which is seen as the end of the stream."""
        handler.connection.settimeout(30)
        if handler.connection.recv(1) == b"":
            gone.release()

    with model_server(ask, wait) as server:
        command = [sys.executable, "-m", "agentlearn", "distill", str(session)]
        process = subprocess.Popen(
            [*command, "--root-model", "m"],
            env=environment(server.url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        until = time.monotonic() + 60
        while len(server.chats) < 5 and time.monotonic() < until:
            time.sleep(0.05)
        assert len(server.chats) == 5  # four of six parts, and the first question
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
        assert process.returncode == 130, said
        for _ in range(4):
            assert gone.acquire(timeout=30)  # no request outlives the command
    last = events_of(session)[-1]
    assert (last["type"], last["outcome"], last["reason"]) == (
        "completion", "aborted", "interrupted",
    )  # fmt: skip


def test_a_process_that_is_asked_to_end_says_so(session: Path) -> None:
    def wait(handler: Handler) -> None:
        handler.server.over.wait(30)

    with model_server(wait) as server:
        command = [sys.executable, "-m", "agentlearn", "distill", str(session)]
        process = subprocess.Popen(
            [*command, "--root-model", "m"],
            env=environment(server.url),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        until = time.monotonic() + 60
        while not server.chats and time.monotonic() < until:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert process.returncode == 143
    last = events_of(session)[-1]
    assert (last["outcome"], last["reason"]) == ("aborted", "interrupted")


def test_what_cannot_be_explored_has_its_record(session: Path) -> None:
    empty = lines_file(session.parent / "empty.jsonl", long_lines()[:1])
    call("distill", empty, "--root-model", script(session, ANSWER), code=2)
    last = events_of(session)[-1]
    assert (last["type"], last["outcome"], last["reason"]) == ("completion", "failed", "input")


def test_events_that_nobody_reads_end_no_run(session: Path) -> None:
    model = script(session, step(use("answer", **FINAL)))
    for target in ("/nowhere/x.jsonl", str(session.parent)):
        result = call("distill", session, "--root-model", model, "--events", target, code=2)
        assert "events cannot be written" in result.stderr
    result = call("distill", session, "--root-model", model, "--events", "/dev/full")
    assert "Amounts are in cents" in result.stdout and "warning: events" in result.stderr


# Review


def test_a_review_that_explores_first_sees_the_lines_that_were_named(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer = script(
        session, step(use("ask", question="What?", first=2, last=13)), {"text": "cents [L12]"},
        step(use("answer", text="The person wants cents.", citations=["L12"])), name="explorer",
    )  # fmt: skip
    head = "What a model says that looked into all of it"
    seen = {"match": rf"{head}(?s:.*)wants cents(?s:.*)\[L12\] user:"}
    note = note_call("Amounts are kept in cents here, never in floats.", evidence=["L12"])
    reviewer = script(session, {**seen, **calls(note)}, {"text": "Done."})
    options = ("--model", reviewer, "--long", "rlm", "--max-chars", "2000", "--force")
    monkeypatch.setenv("AGENTLEARN_ROOT_MODEL", explorer)
    result = review(session, *options)
    (one,) = result["sessions"]
    assert one["outcome"] == "converged", one
    assert [change["status"] for change in one["changes"]] == ["applied"]
    reading = one["reading"]
    assert reading["way"] == "rlm" and reading["subcalls"] == 1
    assert 0 < reading["chars"] < reading["of_chars"]
    journal = (session.parent / ".agentlearn" / "journal.jsonl").read_text()
    assert '"reading":{"way":"rlm"' in journal


def test_a_review_of_what_is_far_too_long_says_that_it_could(session: Path) -> None:
    model = script(session, {"text": "Nothing to save."})
    result = call("review", session, "--model", model, "--force", "--max-chars", "3000")
    assert "--long rlm --force lets a model read all of it first, which costs more" in result.stderr
    assert "% of it by evidence" in result.stdout
