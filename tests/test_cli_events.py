"""`agentlearn events`: the log as people and programs read it, also while it is written."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from agentlearn.events import (
    ChangeMade,
    Completion,
    EpisodeJudged,
    EpisodeStarted,
    Event,
    EventLog,
    Progress,
    ReflectionGenerated,
    ReviewStarted,
    SessionSkipped,
    SubcallFallback,
    Usage,
)
from agentlearn.events.read import KINDS, kind_of
from tests.commands import HOSTILE, assert_harmless, call, json_of, started
from tests.memory import MB, PROGRAM, peak_mb_of

ENDED = Completion("t2", "exhausted", 6, 2, 900, 30, 1200, "max_iterations", "big", "small")
EVERY: list[tuple[Event, str]] = [
    (Progress("t1", 2, 6, "asking", 1234), "asking, 2 of 6, 1,234 tokens so far"),
    (Progress("t1", 1, 0, "searching"), "searching, 1"),
    (
        ENDED,
        "exhausted (max iterations): 6 rounds, 2 sub-calls, 900 tokens of session, 30 of result, "
        "0 tokens to big and small, 0 back, 1.2 s",
    ),
    (
        Completion("t3", "converged", 1, 0, 0, 0, 50, usage=Usage(9, 1), command="review"),
        "review converged: 1 round, 0.1 s",
    ),
    (SubcallFallback("t2", "small", "big", "unknown_model"), "big instead of small: unknown model"),
    (ReviewStarted("t3", "s-1", "rules"), "session s-1, by the rules"),
    (ReviewStarted("t3", "s-1", "model", "gpt-5"), "session s-1, by the model gpt-5"),
    (SessionSkipped("t3", "s-1", "few_calls"), "session s-1 passed over: few calls"),
    (ChangeMade("t3", "78afa32d", "memory", "add", "applied"), "memory add, applied 78afa32d"),
    (ChangeMade("t3", None, "skill", "write_file", "refused"), "skill write file, refused"),
    (EpisodeStarted("t4", "r-1", 0, 4), "run r-1, attempt 1 of 4"),
    (
        EpisodeJudged("t4", "r-1", 0, True, 0.5, True, 300, 1),
        "run r-1, attempt 1 passed, score 0.5, changed protected files, 1 token, 0.3 s",
    ),
    (
        EpisodeJudged("t4", "r-1", 1, False, None, False, 2000),
        "run r-1, attempt 2 not passed, 2.0 s",
    ),
    (
        ReflectionGenerated("t4", "r-1", 0, "episodes/0/reflection.md"),
        "run r-1, attempt 1, episodes/0/reflection.md",
    ),
]


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> EventLog:
    """The log of a project in which the command is called."""
    (tmp_path / ".agentlearn").mkdir()
    monkeypatch.chdir(tmp_path)
    return EventLog(tmp_path / ".agentlearn" / "events.jsonl")


def write_all(log: EventLog) -> None:
    for event, _ in EVERY:
        log(event)


def at(day: str, event: Event) -> str:
    """The line of an event on another day."""
    line = json.loads(event.line())
    return json.dumps({**line, "at": f"{day}T12:00:00.000Z"}) + "\n"


def test_every_kind_is_told_in_words(log: EventLog):
    write_all(log)
    told = [line.split(maxsplit=4) for line in call("events").stdout.splitlines()]
    assert [words[2:] for words in told] == [
        [kind_of(event), event.trace_id, words] for event, words in EVERY
    ]
    assert {kind_of(event) for event, _ in EVERY} == set(KINDS)


def test_one_plain_line(log: EventLog):
    log.path.write_text(at("2026-11-16", ReviewStarted("3f2a9c0d11223344", "s-1", "rules")))
    assert call("events").stdout == (
        "2026-11-16 12:00:00  review_started        3f2a9c0d  session s-1, by the rules\n"
    )


def test_programs_get_the_lines_as_they_were_kept(log: EventLog):
    write_all(log)
    assert call("events", "--format", "jsonl").stdout == log.path.read_text()
    lines = [json.loads(line) for line in log.path.read_text().splitlines()]
    assert json_of("events") == lines


def test_what_is_asked_for(log: EventLog):
    write_all(log)
    assert len(call("events", "--kind", "completion").stdout.splitlines()) == 2
    both = call("events", "--kind", "completion", "--kind", "progress").stdout
    assert len(both.splitlines()) == 4
    assert {each["trace_id"] for each in json_of("events", "--trace", "t2")} == {"t2"}
    log(Progress("f00d1234", 1, 2, "asking"))
    assert [each["type"] for each in json_of("events", "--trace", "f00d")] == ["progress"]
    with log.path.open("a") as file:
        file.write(at("2001-01-01", ENDED))
    assert len(json_of("events", "--kind", "completion")) == 3
    assert len(json_of("events", "--kind", "completion", "--since", "2w")) == 2
    assert len(json_of("events", "--since", "2001-01-02")) == len(EVERY) + 1


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--kind", "reviews"], "--kind reviews is none of progress, completion, subcall_fallback"),
        (["--trace", ""], "--trace needs the beginning"),
        (["--since", "yesterday"], "--since yesterday is no time"),
        (["--follow", "--json"], "--follow has no end"),
        (["--format", "csv"], "--format csv is none of text, json, jsonl"),
        (["--file", "none.jsonl"], "there is no file none.jsonl"),
        (["--file", "none.jsonl", "--follow"], "there is no file none.jsonl"),
        (["--file", "."], "cannot read .: Is a directory"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(log: EventLog, words: list[str], says: str):
    result = call("events", *words, code=2)
    assert result.stderr.startswith(f"error: {says}") and result.stdout == ""


def test_no_events_are_no_error(log: EventLog):
    none = "note: there are no events in .agentlearn/events.jsonl\n"
    assert call("events").stderr == none
    result = call("events", "--json")
    assert (result.stdout, result.stderr) == ("[]\n", none)
    log(ENDED)
    assert call("events", "--trace", "zz").stderr == (
        "note: there are no events that fit in .agentlearn/events.jsonl\n"
    )


def test_ones_own_store(log: EventLog, own_home: Path):
    (own_home / "agentlearn").mkdir()
    EventLog(own_home / "agentlearn" / "events.jsonl")(ENDED)
    assert [each["trace_id"] for each in json_of("events", "--user")] == ["t2"]
    assert json_of("events") == []


def test_a_real_run_is_told(log: EventLog):
    demo = Path(__file__).parent.parent / "fixtures" / "demo-claude.jsonl"
    call("review", demo)
    assert [each["type"] for each in json_of("events")] == [
        "review_started", "progress", "change_made", "change_made", "completion",
    ]  # fmt: skip


FOREIGN = [
    b"garbage",
    b"[1, 2]",
    b"null",
    b'{"type":"progress","at":"2026-11-16T09:00:00Z"}',
    b'{"type":"telepathy","at":"2026-11-16T09:00:00Z","trace_id":"t"}',
    b'{"type":"progress","at":"now","trace_id":"t","iteration":1,"max_iterations":2,"status":"x"}',
    b'{"type":"progress","trace_id":"t","iteration":1,"max_iterations":2,"status":"asking"}',
    b'{"type":"session_skipped","at":"0001-01-01T00:00:00+10:00","trace_id":"t","session":"s",'
    b'"reason":"gate"}',
    b'{"type":"session_skipped","at":"2026-11-16T09:00:00Z","trace_id":5,"session":"s",'
    b'"reason":"gate"}',
    b"\xff\xfe\x00",
    b'{"type":"progress","at":"2026-11-16T09:00:00Z","x":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
    b"x" * 3_000_000,
]


def test_lines_that_are_no_events_are_counted_and_told_once(log: EventLog):
    write_all(log)
    with log.path.open("ab") as file:
        file.write(b"\n".join([*FOREIGN, b"", b"  ", b'{"type":"prog']))
    result = call("events")
    assert len(result.stdout.splitlines()) == len(EVERY)
    first = len(EVERY) + 1
    numbers = ", ".join(str(number) for number in range(first, first + 5))
    assert result.stderr == (
        f"warning: .agentlearn/events.jsonl: {len(FOREIGN) + 1} lines are no events "
        f"({numbers}, …)\n"
    )


def test_what_another_version_added_is_left_out_and_what_somebody_wrote_is_harmless(log: EventLog):
    line = {**json.loads(ReviewStarted("t", "s", "rules").line()), "note": "x"}
    hostile = {
        key: HOSTILE if key in ("trace_id", "session", "reviewer") else line[key] for key in line
    }
    log.path.write_text(json.dumps(line) + "\n" + json.dumps({**hostile, "note": HOSTILE}))
    for form in ("text", "json", "jsonl"):
        said = call("events", "--format", form).stdout
        assert_harmless(said)
        assert "note" not in said and "red" not in said


def test_a_link_or_a_pipe_in_a_project_is_not_read(log: EventLog, tmp_path: Path):
    elsewhere = tmp_path / "elsewhere.jsonl"
    EventLog(elsewhere)(ENDED)
    log.path.symlink_to(elsewhere)
    assert "is a link" in call("events", code=2).stderr
    assert "is a link" in call("events", "--follow", code=2).stderr
    assert len(json_of("events", "--file", log.path)) == 1  # the person named it
    log.path.unlink()
    os.mkfifo(log.path)
    assert "is no file" in call("events", code=2).stderr


def test_stdin(log: EventLog):
    write_all(log)
    result = call("events", "--file", "-", "--format", "jsonl", stdin=log.path.read_text())
    assert result.stdout == log.path.read_text()
    assert call("events", "--file", "-", "--follow", stdin=ENDED.line()).stdout.count("\n") == 1


class Following:
    """A command that follows the log, and the lines it prints."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdout is not None
        self.stdout: IO[bytes] = process.stdout

    def next(self) -> Any:
        return json.loads(self.stdout.readline())

    def end(self) -> tuple[int, str]:
        """Ctrl-C; the exit code and what was said."""
        self.process.send_signal(signal.SIGINT)
        _, said = self.process.communicate(timeout=30)
        return self.process.returncode, said.decode()


@contextlib.contextmanager
def following(*words: str) -> Iterator[Following]:
    command = [
        sys.executable,
        "-m",
        "agentlearn",
        "events",
        "--follow",
        "--format",
        "jsonl",
        *words,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        killer = threading.Timer(40, process.kill)  # a line that never comes ends the test
        killer.start()
        try:
            yield Following(process)
        finally:
            killer.cancel()
            process.kill()


def numbered(number: int) -> Progress:
    return Progress("t", number, 9, "asking")


def test_following_begins_with_what_is_there_and_ends_with_ctrl_c(log: EventLog):
    log(numbered(1))
    with following() as command:
        assert command.next()["iteration"] == 1
        log(numbered(2))
        assert command.next()["iteration"] == 2
        assert command.end() == (130, "interrupted\n")


def test_a_log_that_is_not_there_yet_is_waited_for(log: EventLog):
    with following() as command:
        assert command.process.stderr is not None
        said = command.process.stderr.readline()
        assert said == b"note: waiting for .agentlearn/events.jsonl\n"
        log(numbered(1))
        assert command.next()["iteration"] == 1
        assert command.end()[0] == 130


def test_a_half_written_line_is_waited_for(log: EventLog):
    whole = numbered(2).line().encode() + b"\n"
    log(numbered(1))
    with following() as command, log.path.open("ab", buffering=0) as file:
        assert command.next()["iteration"] == 1
        for piece in (whole[:10], whole[10:40], whole[40:]):
            file.write(piece)
            time.sleep(0.5)
        assert command.next()["iteration"] == 2
        assert command.end() == (130, "interrupted\n")


def test_a_log_that_is_cut_short_moved_away_or_removed_is_followed_on(
    log: EventLog, tmp_path: Path
):
    log(numbered(1))
    log(numbered(2))
    with following() as command:
        assert [command.next()["iteration"] for _ in range(2)] == [1, 2]
        os.truncate(log.path, 0)
        log(numbered(3))
        assert command.next()["iteration"] == 3
        log.path.rename(tmp_path / "events.jsonl.1")
        log(numbered(4))
        assert command.next()["iteration"] == 4
        log.path.unlink()
        time.sleep(0.5)
        log(numbered(5))
        assert command.next()["iteration"] == 5
        assert command.end() == (130, "interrupted\n")


def test_nothing_is_lost_where_a_log_is_moved_away_again_and_again(log: EventLog, tmp_path: Path):
    log(numbered(0))
    with following() as command:
        assert command.next()["iteration"] == 0
        for turn in range(1, 200):
            log(numbered(turn))
            if turn % 40 == 0:
                time.sleep(0.5)  # as logs are moved: not twice between two looks
                log.path.rename(tmp_path / f"old.{turn}")
        assert [command.next()["iteration"] for _ in range(1, 200)] == list(range(1, 200))


def test_foreign_lines_are_told_when_following_ends(log: EventLog):
    with following() as command:
        log.path.write_bytes(b"garbage\nmore\n" + numbered(1).line().encode() + b"\n")
        assert command.next()["iteration"] == 1
        code, said = command.end()
        assert code == 130
        assert "warning: .agentlearn/events.jsonl: 2 lines are no events (1, 2)\n" in said


def test_nobody_reads_on(log: EventLog):
    """The pipe is closed: it ends without a word, also if no event comes any more."""
    log(numbered(1))
    with following() as command:
        assert command.next()["iteration"] == 1
        command.stdout.close()
        assert command.process.wait(timeout=20) == 0
        assert command.process.stderr is not None
        assert command.process.stderr.read() == b""


def test_head_ends_it_quietly(log: EventLog):
    for number in range(5000):
        log(numbered(number))
    command = f"{sys.executable} -m agentlearn events 2>&1 | head -1"
    said = subprocess.run(command, shell=True, capture_output=True, check=True, timeout=60).stdout
    assert len(said.splitlines()) == 1 and b"asking, 0 of 9" in said


def test_a_full_disk_is_an_error(log: EventLog):
    log(ENDED)
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        result = subprocess.run(
            [sys.executable, "-m", "agentlearn", "events"],
            stdout=full, stderr=subprocess.PIPE, check=False,
        )  # fmt: skip
    assert result.returncode == 1 and b"No space left" in result.stderr


def test_started_as_a_person_would(log: EventLog):
    write_all(log)
    result = started("events", "--kind", "subcall_fallback")
    assert result.returncode == 0 and result.stderr == b""
    assert result.stdout.endswith(b"  t2  big instead of small: unknown model\n")


def test_memory_does_not_grow_with_the_log(log: EventLog):
    line = (numbered(1).line() + "\n").encode()
    with log.path.open("wb") as file:
        for _ in range(40):
            file.write(line * (MB // len(line)))
        file.write(b"x" * 20 * MB)  # nor with a line
    for words in (["events", "--kind", "completion"], ["usage"]):
        assert peak_mb_of(PROGRAM, *words) < 70
