"""How far a run is: a bar on a terminal, a plain line an event in a pipe, nothing in the result."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentlearn.cli.progress import LiveBar, plain_lines, show_progress
from agentlearn.events import Completion, Progress, ReviewStarted, Usage
from tests.commands import call
from tests.files import lines_file
from tests.reviews import session_lines

REPLIES = [
    {"calls": [{"name": "skill_list", "arguments": {}}], "usage": {"input_tokens": 1200}},
    {"text": "Nothing to do.", "usage": {"input_tokens": 1300, "output_tokens": 20}},
]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".agentlearn").mkdir()
    lines_file(tmp_path / "a.jsonl", session_lines(id="s-a"))
    lines_file(tmp_path / "b.jsonl", session_lines(id="s-b"))
    lines_file(tmp_path / "replies.jsonl", REPLIES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


MODEL = ("--model", "scripted:replies.jsonl", "--force")


def test_a_review_by_a_model_tells_each_event_in_a_pipe(project: Path):
    said = call("review", "a.jsonl", *MODEL).stderr.splitlines()
    assert said[1:4] == [
        "session s-a, by the model scripted",
        "asking, 1 of 6",
        "asking, 2 of 6, 1,200 tokens so far",
    ]
    assert said[4].startswith("review converged: 2 rounds, ")
    assert ", 2,500 tokens to scripted, 20 back, " in said[4]
    assert said[5:] == ["reviewed 1 of 1 sessions: 0 changes made"]


def test_one_session_by_the_rules_is_as_quiet_as_ever(project: Path):
    said = call("review", "a.jsonl", "--reviewer", "rules", "--force").stderr.splitlines()
    assert [line.split(":")[0] for line in said] == ["note", "reviewed 1 of 1 sessions"]


def test_several_sessions_by_the_rules_tell_how_far_they_are(project: Path):
    said = call("review", "a.jsonl", "b.jsonl", "--reviewer", "rules", "--force").stderr
    for line in ("reading, 1 of 2", "session s-a, by the rules", "reading, 2 of 2"):
        assert f"\n{line}\n" in said


def test_events_on_stderr_are_the_progress(project: Path):
    said = call("review", "a.jsonl", *MODEL, "--events", "-").stderr.splitlines()
    assert [json.loads(line)["type"] for line in said[1:-1]] == [
        "review_started", "progress", "progress", "completion",
    ]  # fmt: skip
    assert json.loads(said[3])["tokens"] == 1200


def test_events_in_a_file_and_lines_on_stderr(project: Path):
    said = call("review", "a.jsonl", *MODEL, "--events", "own.jsonl").stderr
    assert "asking, 1 of 6\n" in said
    assert len((project / "own.jsonl").read_text().splitlines()) == 4


def test_a_run_goes_on_where_nobody_listens(monkeypatch: pytest.MonkeyPatch):
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stderr", Closed())
    plain_lines()(Progress("t", 1, 2, "asking"))


def on_a_terminal(*words: str, output: Path) -> str:
    """What a terminal shows of stderr, while the result goes into a file."""
    import pty

    terminal, inside = pty.openpty()
    env = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100"}
    with output.open("wb") as out:
        command = [sys.executable, "-m", "agentlearn", *words]
        subprocess.run(command, stdout=out, stderr=inside, env=env, check=True, timeout=60)
    os.close(inside)
    shown = b""
    try:
        while piece := os.read(terminal, 65536):
            shown += piece
    except OSError:  # so a terminal ends
        pass
    os.close(terminal)
    return shown.decode()


def test_the_bar_comes_back_after_it_was_told_that_no_cheaper_model_is_named(project: Path):
    replies = [
        {"calls": [{"name": "look", "arguments": {"first": 1, "last": 3}}]},
        {"text": "Through make test [L8].", "sleep_seconds": 1.0},
    ]
    lines_file(project / "explores.jsonl", replies)
    words = ("distill", "a.jsonl", "--root-model", "scripted:explores.jsonl")
    shown = on_a_terminal(*words, output=project / "out.txt")
    _, told, after = shown.partition("no cheaper model is named")
    assert told and "asking, 2 of 15" in after and "━" in after
    assert "distill converged: 2 rounds" in after


def test_a_terminal_shows_a_bar_that_takes_nothing_from_the_result(project: Path):
    words = ("review", "a.jsonl", "b.jsonl", *MODEL, "--dry-run", "--json")
    (project / "replies.jsonl").write_text("".join(json.dumps(each) + "\n" for each in REPLIES * 2))
    shown = on_a_terminal(*words, output=project / "out.json")
    assert "reading, 1 of 2: asking, 2 of 6" in shown and "━" in shown
    assert "1,200 tokens  0:0" in shown
    assert "3,720 tokens  0:0" in shown  # of both sessions
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")  # the cursor is back
    assert shown.rstrip().endswith("reviewed 2 of 2 sessions: 0 changes that would be made")
    told = json.loads((project / "out.json").read_text())
    assert [each["id"] for each in told["sessions"]] == ["s-a", "s-b"]


def test_a_bar_knows_the_step_the_tokens_and_what_it_cannot_know():
    bar = LiveBar()
    try:
        bar(Progress("t1", 1, 2, "reading"))
        bar(ReviewStarted("t2", "s", "rules"))
        bar(Progress("t2", 1, 1, "reviewing"))  # over before it can be read
        assert (bar.batch, bar.step, bar.fraction) == ("reading, 1 of 2", "", 0.5)
        bar(Progress("t3", 3, 15, "searching", 40))
        assert (bar.step, bar.fraction) == ("searching, 3 of 15", 0.2)
        bar(Completion("t3", "converged", 3, 0, 1, 1, 1, usage=Usage(50, 5)))
        bar(Progress("t4", 7, 0, "asking", 5))
        assert (bar.step, bar.fraction) == ("asking, 7", None)
        assert bar.tokens == 60
        bar(Progress("t1", 2, 2, "asking"))  # the same run does something else
        assert (bar.batch, bar.step) == ("asking, 2 of 2", "")
    finally:
        bar.live.stop()


def test_a_terminal_that_cannot_move_gets_lines(monkeypatch: pytest.MonkeyPatch):
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    assert isinstance(show_progress(), LiveBar)
    monkeypatch.setenv("TERM", "dumb")
    assert not isinstance(show_progress(), LiveBar)
