"""List sessions: what was asked, by which agent, how long it took and how it ended.

With no SESSION, those of this project are found where Claude Code, Codex, Gemini CLI, Copilot
CLI, Pi and opencode keep them.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer

from agentlearn.cli import options
from agentlearn.cli.load import Loader
from agentlearn.cli.output import (
    CsvWriter,
    choose_format,
    json_line,
    short_id,
    write_bytes,
    write_json,
    write_table,
)
from agentlearn.cli.since import parse_since, since_option
from agentlearn.config import resolve
from agentlearn.errors import BadInput
from agentlearn.guard import one_line, plain
from agentlearn.sessions.text import parse_time, seconds_between
from agentlearn.sessions.values import Session

FORMATS = ("text", "json", "jsonl", "csv")
EARLIEST = datetime.min.replace(tzinfo=UTC)
COLUMNS = (
    "id", "dialect", "path", "agent", "model", "goal", "started_at", "ended_at",
    "duration_seconds", "messages", "calls", "results", "errors", "rejections", "interruptions",
    "turns", "outcome", "parent",
)  # fmt: skip


def main(
    sessions: options.Sessions = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every project's, not only this one's.")
    ] = False,
    since: Annotated[str | None, since_option("Only those that went on since then")] = None,
    agent: Annotated[
        str | None,
        typer.Option(
            "--agent",
            metavar="NAME",
            help="Only this agent's: claude-code, codex, …",
            show_default=False,
        ),
    ] = None,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
    latest: options.Latest = False,
    strict: options.Strict = None,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    settings = resolve(strict=strict)
    after = parse_since(since) if since else None
    loader = _loader(sessions, every, agent, latest, settings.strict)
    if after is not None:
        loader.leave_out_older(after.timestamp())
    rows: list[dict[str, Any]] = []
    projects: list[str] = []
    shown = 0
    agents: set[str] = set()
    for session in loader.sessions():
        agents.add(session.agent or session.dialect)
        if _is_wanted(session, after, agent):
            shown += 1
            row = as_dict(session)
            if chosen == "jsonl":
                write_bytes(json_line(row))
            else:
                rows.append(row)
                projects.append(Path(session.cwd).name if session.cwd else "–")
    if chosen == "json":
        write_json(rows)
    elif chosen == "csv":
        writer = CsvWriter(COLUMNS)
        for row in rows:
            writer.row(row[column] for column in COLUMNS)
    elif chosen == "text":
        _print_table(rows, projects if every else None)
    if loader.read and not shown:
        print(f"note: {_none_fits(loader.read, agent, since, agents)}", file=sys.stderr)
    loader.finish()


def _none_fits(read: int, agent: str | None, since: str | None, agents: set[str]) -> str:
    wanted = [f"--agent {agent}"] if agent else []
    wanted += [f"--since {since}"] if since else []
    known = f"; they are by {', '.join(sorted(agents))}" if agent else ""
    return plain(f"none of {read} sessions fits {' and '.join(wanted)}{known}")


def _loader(
    names: list[str] | None, every: bool, agent: str | None, latest: bool, strict: bool
) -> Loader:
    if not every:
        return Loader(names, latest, strict)
    if names:
        raise BadInput("--all takes no SESSION: it finds every project's own")
    from agentlearn.sessions.discover import agents, discover

    known = agents()
    found = discover(None, agent if agent in known else None)
    if not found:
        raise BadInput(f"no sessions were found; looked for those of {', '.join(known)}")
    if latest:
        found = found[-1:]
    loader = Loader.of_files([item.path for item in found], strict)
    return loader


def as_dict(session: Session) -> dict[str, Any]:
    counts = session.counts()
    return {
        "id": session.id,
        "dialect": session.dialect,
        "path": session.path,
        "agent": session.agent,
        "model": session.model,
        "goal": session.goal,
        "started_at": session.started_at,
        "ended_at": session.ended_at,
        "duration_seconds": seconds_between(session.started_at, session.ended_at),
        "messages": counts.messages,
        "calls": counts.calls,
        "results": counts.results,
        "errors": counts.errors,
        "rejections": counts.rejections,
        "interruptions": counts.interruptions,
        "turns": len(session.turns()),
        "outcome": session.outcome,
        "parent": session.parent,
        "warnings": [
            {"line": warning.line, "reason": warning.reason} for warning in session.warnings
        ],
    }


def _is_wanted(session: Session, after: datetime | None, agent: str | None) -> bool:
    if agent is not None and agent not in (session.agent, session.dialect):
        return False
    if after is None:
        return True
    last = parse_time(session.ended_at or session.started_at)
    return last is not None and last >= after


def _print_table(rows: list[dict[str, Any]], projects: list[str] | None) -> None:
    """Oldest first; with every project's sessions, each with its own."""
    shown = []
    began = [parse_time(row["started_at"]) for row in rows]
    for place in sorted(range(len(rows)), key=lambda place: began[place] or EARLIEST):
        row = rows[place]
        shown.append(
            [
                short_id(row["id"]),
                *([one_line(projects[place], 20)] if projects else []),
                row["dialect"],
                _minute(row["started_at"]),
                _duration(row["duration_seconds"]),
                str(row["turns"]),
                str(row["calls"]),
                str(row["errors"]),
                str(row["rejections"] + row["interruptions"]),
                row["outcome"],
                row["goal"] or "",
            ]
        )
    columns = ["session", *(["project"] if projects else []), "dialect", "started", "took"]
    columns += ["turns", "calls", "errors", "stopped", "outcome", "goal"]
    write_table(
        columns,
        shown,
        stretch=len(columns) - 1,
        droppable=("dialect", "calls", "errors", "started"),
    )


def _minute(time: str | None) -> str:
    moment = parse_time(time)
    return f"{moment:%Y-%m-%d %H:%M}" if moment else "–"


def _duration(seconds: float | None) -> str:
    if seconds is None or seconds < 0:
        return "–"
    if seconds < 120:
        return f"{seconds:.0f}s"
    if seconds < 7200:
        return f"{seconds / 60:.0f}m"
    return f"{seconds / 3600:.0f}h" if seconds < 172_800 else f"{seconds / 86_400:.0f}d"
