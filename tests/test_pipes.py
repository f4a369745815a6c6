"""Sessions from a pipe: printed while it is open, with the ids and hashes that a file gives."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zstandard

from agentlearn.sessions.evidence import gather_evidence
from agentlearn.sessions.read import read_sessions
from agentlearn.sessions.source import Source
from tests.commands import HEAD, json_of, native_file, started
from tests.files import lines_file, read_all
from tests.memory import MB, PROGRAM, peak_mb_of

CHATS = [
    {"messages": [{"role": "user", "content": f"chat {n} " + "word " * 300}]} for n in range(400)
]
TURN = {"type": "turn", "action": "a", "observation": "o", "reward": 1}


class Running:
    """A command whose stdin stays open until it is told otherwise."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def write(self, *values: Any) -> None:
        self.write_bytes(b"".join(json.dumps(value).encode() + b"\n" for value in values))

    def write_bytes(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def line(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def end(self) -> list[Any]:
        """Close the pipe; what is printed after that."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        return [json.loads(line) for line in self.process.stdout]


@contextlib.contextmanager
def running(*args: str) -> Iterator[Running]:
    command = [sys.executable, "-m", "agentlearn", *args]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        killer = threading.Timer(30, process.kill)  # a line that never comes ends the test
        killer.start()
        try:
            yield Running(process)
        finally:
            killer.cancel()
            process.kill()


def test_a_small_session_is_printed_when_the_next_one_begins() -> None:
    with running("returns", "--format", "jsonl") as command:
        command.write({**HEAD, "id": "one"}, TURN, {"type": "outcome", "outcome": "success"})
        # What comes after an outcome still belongs to the session: only the next one ends it.
        command.write(TURN, {**HEAD, "id": "two"})
        first = command.line()
        assert (first["id"], first["outcome"], first["turns"]) == ("one", "success", 2)
        command.write(TURN, {**HEAD, "id": "three"}, TURN)
        assert command.line()["id"] == "two"
        assert [(each["id"], each["turns"]) for each in command.end()] == [("three", 1)]
        assert command.process.wait() == 0


def test_a_line_may_come_in_pieces() -> None:
    data = b"".join(
        json.dumps(value).encode() + b"\n"
        for value in ({**HEAD, "id": "one", "goal": "größer"}, TURN, {**HEAD, "id": "two"}, TURN)
    )
    with running("returns", "--format", "jsonl") as command:
        for start in range(0, len(data), 7):
            command.write_bytes(data[start : start + 7])
        assert command.line()["goal"] == "größer"
        assert [each["id"] for each in command.end()] == ["two"]


@pytest.mark.parametrize("packed", [gzip.compress, zstandard.compress])
def test_a_packed_pipe_that_comes_in_pieces(packed: Any) -> None:
    one, two = (
        packed(b"".join(json.dumps(v).encode() + b"\n" for v in ({**HEAD, "id": name}, TURN)))
        for name in ("one", "two")
    )
    with running("returns", "--format", "jsonl") as command:
        for start in range(len(one + two)):
            command.write_bytes((one + two)[start : start + 1])
        assert [each["id"] for each in command.end()] == ["one", "two"]


def test_a_session_that_is_one_object_on_a_line(tmp_path: Path) -> None:
    """It may say which schema it follows, and is a document all the same."""
    turns = [{"action": "a", "observation": "o", "reward": {"Positive": 0.5}}]
    path = lines_file(tmp_path / "a.json", [{**HEAD, "id": "s", "goal": "g", "turns": turns}])
    (session,) = json_of("returns", path)["sessions"]
    assert (session["id"], session["turns"]) == ("s", 1)


@pytest.mark.parametrize("words", [[], ["--explain"]])
def test_many_sessions_without_ids_have_those_of_the_file(tmp_path: Path, words: list[str]) -> None:
    path = lines_file(tmp_path / "chats.jsonl", CHATS)
    ids = [session.id for session in read_all(path)]
    assert len(set(ids)) == len(CHATS)
    assert path.stat().st_size > 500_000
    for data in (path.read_bytes(), gzip.compress(path.read_bytes())):
        done = started("returns", "--json", *words, input=data)
        sessions = json.loads(done.stdout)["sessions"]
        assert [session["id"] for session in sessions] == ids
        assert sessions[-1]["goal"] == CHATS[-1]["messages"][0]["content"]


def test_native_sessions_without_ids_have_those_of_the_file(tmp_path: Path) -> None:
    for count in (1, 3):
        path = native_file(tmp_path / "a.jsonl", *[{"goal": "g", "rewards": [1]}] * count)
        ids = [session.id for session in read_all(path)]
        piped = json_of("returns", "-", stdin=path.read_bytes())["sessions"]
        assert [session["id"] for session in piped] == ids


def evidence_of(*args: str | Path, **options: Any) -> list[dict[str, Any]]:
    sessions = json_of("returns", *args, "--explain", **options)["sessions"]
    return [reason["evidence"] for session in sessions for reason in session["evidence"]]


def test_evidence_from_a_pipe_has_the_hash_of_the_file(tmp_path: Path) -> None:
    path = native_file(
        tmp_path / "a.jsonl",
        *({"id": f"s{n}", "rewards": [1, -1] * 200} for n in range(5)),
        {"rewards": [1]},  # its id needs the whole pipe
        {"id": "last", "rewards": [0.5] * 200},
    )
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    expected = [{**item, "path": "-"} for item in evidence_of(path)]
    assert len(expected) == 2201
    assert all(item["sha256"] for item in expected)
    for data in (path.read_bytes(), gzip.compress(path.read_bytes())):
        assert evidence_of("-", stdin=data) == expected
    done = started("returns", "--json", "--explain", input=path.read_bytes())
    found = [s["evidence"] for s in json.loads(done.stdout)["sessions"]]
    assert [reason["evidence"] for each in found for reason in each] == expected


def test_evidence_is_there_while_the_pipe_is_open(tmp_path: Path) -> None:
    path = native_file(
        tmp_path / "a.jsonl", {"id": "one", "rewards": [1]}, {"id": "two", "rewards": [1]}
    )
    with running("returns", "--format", "jsonl", "--explain") as command:
        command.write_bytes(path.read_bytes())
        printed = [command.line(), *command.end()]
    hashes = [reason["evidence"]["sha256"] for each in printed for reason in each["evidence"]]
    assert hashes == [item["sha256"] for item in evidence_of(path)]


def test_evidence_from_a_pipe_with_a_name(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [1, 2]})
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(path.read_bytes(),))
    writer.start()
    found = evidence_of(pipe)
    writer.join()
    assert found == [{**item, "path": str(pipe)} for item in evidence_of(path)]


def test_nothing_is_kept_unless_hashes_are_asked_for(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [1]})
    for keep in (False, True):
        with Source(None, io.BytesIO(path.read_bytes()), keep=keep) as source:
            (session,) = read_sessions(source)
        assert (session.kept is not None) == keep
        assert (gather_evidence(session, [(2, 2)])[0].sha256 is not None) == keep
    with Source(path, keep=True) as source:  # a file can be read again
        assert source.kept is None


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak")
@pytest.mark.parametrize("words", [[], ["--explain"]])
def test_a_pipe_of_many_sessions_needs_no_more_than_one(tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "chats.jsonl"
    row = json.dumps({"messages": [{"role": "user", "content": "word " * 200_000}]}) + "\n"
    with path.open("w") as file:
        for _ in range(200):
            file.write(row)
    assert path.stat().st_size > 200 * MB
    with path.open("rb") as file:
        assert peak_mb_of(PROGRAM, "returns", "-", "--format", "jsonl", *words, stdin=file) < 100
