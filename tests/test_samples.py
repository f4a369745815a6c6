"""Every real sample gives what its index expects: its dialect, a sidecar, or a refusal."""

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentlearn.cli.app import app
from agentlearn.rewards.rules import Rules
from agentlearn.rewards.worth import score_session
from agentlearn.sessions.native_write import native_lines
from agentlearn.sessions.read import NotATranscript, read_sessions
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Session

SAMPLES = Path(os.environ.get("AGENTLEARN_SAMPLES") or "nowhere")
pytestmark = pytest.mark.skipif(not SAMPLES.is_dir(), reason="AGENTLEARN_SAMPLES is not set")


def expected() -> list[tuple[str, str]]:
    if not SAMPLES.is_dir():
        return [("none", "none")]
    rows = [line.split("|") for line in (SAMPLES / "INDEX.md").read_text().splitlines()]
    found = [(row[1].strip(), row[2].strip()) for row in rows if len(row) > 8]
    return [(path, dialect) for path, dialect in found if (SAMPLES / path).is_file()]


def sessions_of(path: Path) -> list[Session]:
    with Source(path) as source:
        return list(read_sessions(source))


def facts(session: Session) -> tuple[object, ...]:
    turns = [(turn.action, turn.observation, turn.undone) for turn in session.turns()]
    head = (session.id, session.goal, session.outcome, session.started_at, session.ended_at)
    worth = score_session(session, Rules(), 0.9).worth
    return (*head, session.counts(), turns, worth.rewards, worth.returns, worth.sources)


def test_the_index_names_samples():
    assert len(expected()) > 70


@pytest.mark.parametrize(("path", "dialect"), expected())
def test_sample_is_what_the_index_says(path: str, dialect: str):
    if dialect in ("refused", "sidecar"):
        with pytest.raises(NotATranscript) as refusal:
            sessions_of(SAMPLES / path)
        assert refusal.value.sidecar == (dialect == "sidecar")
        return
    sessions = sessions_of(SAMPLES / path)
    assert {session.dialect for session in sessions} == {dialect}
    for session in sessions:
        assert session.id
        assert not [warning for warning in session.warnings if warning.lost]


@pytest.mark.parametrize(("path", "dialect"), expected())
def test_sample_converts_without_loss(path: str, dialect: str, tmp_path: Path):
    if dialect in ("refused", "sidecar"):
        return
    sessions = sessions_of(SAMPLES / path)
    once = tmp_path / "once.jsonl"
    once.write_bytes(b"".join(line for session in sessions for line in native_lines(session)))
    again = sessions_of(once)
    assert [facts(session) for session in again] == [facts(session) for session in sessions]
    assert b"".join(line for s in again for line in native_lines(s)) == once.read_bytes()


def test_commands_read_the_whole_folder():
    for command in ("sessions", "returns", "trajectory"):
        result = CliRunner().invoke(app, [command, str(SAMPLES), "--format", "json"])
        assert result.exit_code == 0, result.stderr
        assert "Traceback" not in result.stderr
