"""An attempt as a session: the agent's own transcript if we can read it, else what it printed."""

from __future__ import annotations

import glob
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from msgspec import structs

from agentlearn.errors import AgentlearnError
from agentlearn.reflexion.evaluate import Evaluation
from agentlearn.reflexion.process import Ran
from agentlearn.sessions.draft import Draft
from agentlearn.sessions.native_write import native_lines
from agentlearn.sessions.read import read_sessions
from agentlearn.sessions.redacted import redacted
from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Call, Session, Signal, pack

SHOWN_CHARS = 40_000


def own_transcript(pattern: str | None, workspace: Path, log: Path, began: float) -> Session | None:
    """The session that the agent wrote itself: where the task says, else on its stdout."""
    paths = [path for path in _matches(pattern, workspace) if path.stat().st_mtime >= began - 1]
    paths.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in [*paths, log]:
        for session in _sessions_in(path):
            # One that worked somewhere else is another's, however new its file is.
            is_here = not session.cwd or Path(session.cwd).resolve() == workspace.resolve()
            if is_here and session.parent is None and session.turns():
                return session
    return None


def _matches(pattern: str | None, workspace: Path) -> Iterator[Path]:
    if pattern is None:
        return
    wanted = Path(pattern).expanduser()
    for name in glob.glob(str(workspace / wanted), recursive=True):
        path = Path(name)
        if path.is_file():
            yield path


def _sessions_in(path: Path) -> list[Session]:
    try:
        with Source(path) as source:
            return list(read_sessions(source))
    except (AgentlearnError, OSError, EOFError):
        return []


def from_output(prompt: str, command: str, ran: Ran) -> Session:
    """One call, the agent itself, and what it printed."""
    draft = Draft("native", None)
    draft.said("user", prompt, 1)
    call = draft.called("agent", "agent", {"command": command}, 2)
    text = ran.stdout.text()
    if errors := ran.stderr.text().strip():
        text = f"{text.rstrip()}\n{errors}" if text.strip() else errors
    if len(text) > SHOWN_CHARS:
        half = SHOWN_CHARS // 2
        text = f"{text[:half]}\n…({len(text) - 2 * half} characters left out)…\n{text[-half:]}"
    if ran.timed_out:
        draft.returned(call, f"{text}\n(it ran out of time)", 3, status="interrupted")
    else:
        draft.returned(call, text, 3, exit_code=ran.exit_code)
    return draft.finish("agent")


def judged(
    session: Session,
    id: str,
    goal: str,
    about: dict[str, object],
    verdict: Evaluation,
    began: float,
) -> Session:
    """The session with what the judge said of it, and without secrets."""
    said = f"evaluator: exit code {verdict.exit_code}"
    if verdict.timed_out or verdict.exit_code is None:
        said = f"evaluator: {verdict.reason}"
    if verdict.score is not None:
        said += f", score {verdict.score:g}"
    signal = Signal("verdict", pack(said), 0, value=verdict.reward)
    metadata = {**session.metadata, **about}
    if session.dialect != "native":
        metadata |= {"dialect": session.dialect, "agent_session": session.id}
    # What an agent claims to have earned is no reward: the judge alone gives one.
    entries = [
        structs.replace(entry, reward=None) if isinstance(entry, Call) else entry
        for entry in session.entries
        if not (isinstance(entry, Signal) and entry.kind == "verdict")
    ]
    complete = structs.replace(
        session,
        started_at=session.started_at or _iso(began),
        ended_at=session.ended_at or _iso(time.time()),
        id=id,
        goal=goal,
        entries=[*entries, signal],
        outcome="success" if verdict.passed else "failure",
        reason=None,
        metadata=metadata,
    )
    return redacted(complete)


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def session_bytes(session: Session) -> bytes:
    return b"".join(native_lines(session))
