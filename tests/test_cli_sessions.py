"""`sessions`: the list for a person, and the one for a program."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.commands import HEAD, call, json_of, native_file
from tests.files import lines_file

KEYS = [
    "id", "dialect", "path", "agent", "model", "goal", "started_at", "ended_at",
    "duration_seconds", "messages", "calls", "results", "errors", "rejections", "interruptions",
    "turns", "outcome", "parent", "warnings",
]  # fmt: skip


def full(tmp_path: Path) -> Path:
    return lines_file(
        tmp_path / "a.jsonl",
        [
            {**HEAD, "id": "s1", "goal": "Fix it", "agent": "demo", "model": "m", "parent": "p",
             "started_at": "2026-11-15T09:00:00Z"},
            {"type": "message", "role": "user", "text": "Fix it"},
            {"type": "call", "id": "a", "tool": "Bash", "arguments": {}},
            {"type": "result", "call_id": "a", "text": "", "exit_code": 1},
            {"type": "call", "id": "b", "tool": "Bash", "arguments": {}},
            {"type": "result", "call_id": "b", "text": "", "status": "rejected"},
            {"type": "call", "id": "c", "tool": "Bash", "arguments": {}},
            {"type": "result", "call_id": "c", "text": "", "status": "interrupted"},
            {"type": "call", "id": "d", "tool": "Bash", "arguments": {}},
            {"type": "signal", "kind": "interruption"},
            "no object",
            {"type": "outcome", "outcome": "aborted", "ended_at": "2026-11-15T09:01:30Z"},
        ],
    )  # fmt: skip


def test_every_field(tmp_path: Path) -> None:
    path = full(tmp_path)
    (found,) = json_of("sessions", path)
    assert list(found) == KEYS
    assert found == {
        "id": "s1", "dialect": "native", "path": str(path), "agent": "demo", "model": "m",
        "goal": "Fix it", "started_at": "2026-11-15T09:00:00Z", "ended_at": "2026-11-15T09:01:30Z",
        "duration_seconds": 90.0, "messages": 1, "calls": 4, "results": 3, "errors": 1,
        "rejections": 1, "interruptions": 1, "turns": 4, "outcome": "aborted", "parent": "p",
        "warnings": [{"line": 11, "reason": "not a JSON object"}],
    }  # fmt: skip


def test_the_table(tmp_path: Path) -> None:
    result = call("sessions", full(tmp_path))
    assert result.stdout.splitlines() == [
        "session  dialect  started           took  turns  calls  errors  stopped  outcome  goal",
        "s1       native   2026-11-15 09:00  90s       4      4       1        2  aborted  Fix it",
    ]


def test_the_other_formats(tmp_path: Path) -> None:
    path = full(tmp_path)
    lines = call("sessions", path, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line) for line in lines] == json_of("sessions", path)
    (row,) = csv.DictReader(io.StringIO(call("sessions", path, "--format", "csv").stdout))
    assert list(row) == KEYS[:-1]
    assert (row["id"], row["calls"]) == ("s1", "4")


def test_the_table_is_in_order_of_time(tmp_path: Path) -> None:
    path = native_file(
        tmp_path / "a.jsonl",
        {"id": "late", "started_at": "2026-11-02T00:00:00Z"},
        {"id": "early", "started_at": "2026-11-01T00:00:00Z"},
        {"id": "never"},
    )
    shown = [line.split()[0] for line in call("sessions", path).stdout.splitlines()]
    assert shown == ["session", "never", "early", "late"]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (7199, "120m"),
        (7200, "2h"),
        (200_000, "2d"),
        (-5, "–"),
    ],
)
def test_how_long_it_took(tmp_path: Path, seconds: int, shown: str) -> None:
    start = datetime(2026, 11, 1, tzinfo=UTC)
    end = (start + timedelta(seconds=seconds)).isoformat()
    head = {"id": "s", "started_at": start.isoformat(), "ended_at": end}
    path = native_file(tmp_path / "a.jsonl", head)
    row = call("sessions", path).stdout.splitlines()[1]
    assert row.split()[4] == shown


@pytest.mark.parametrize("time", ["yesterday", "\x1b[31m2026", "99999-01-01", "", "2026-13-01"])
def test_times_that_are_none(tmp_path: Path, time: str) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "started_at": time, "ended_at": time})
    row = call("sessions", path).stdout.splitlines()[1]
    assert row.split()[:4] == ["s", "native", "–", "–"]
    assert json_of("sessions", path)[0]["duration_seconds"] is None


def test_since_and_agent(tmp_path: Path) -> None:
    now = datetime.now(UTC)

    def head(name: str, days: float, agent: str) -> dict[str, str]:
        began = now - timedelta(days=days, hours=1)
        ended = now - timedelta(days=days)
        return {
            "id": name,
            "agent": agent,
            "started_at": began.isoformat(),
            "ended_at": ended.isoformat(),
        }

    path = native_file(
        tmp_path / "a.jsonl",
        head("now", 0, "x"),
        head("week", 6, "y"),
        head("old", 40, "x"),
        {"id": "none"},
    )

    def ids(*args: str) -> list[str]:
        return [session["id"] for session in json_of("sessions", path, *args)]

    assert ids("--since", "7d") == ["now", "week"]
    assert ids("--since", "30m") == ["now"]
    assert ids("--since", "8w") == ["now", "week", "old"]
    assert ids("--since", (now - timedelta(days=10)).date().isoformat()) == ["now", "week"]
    assert ids("--agent", "x") == ["now", "old"]
    assert ids("--agent", "native") == ["now", "week", "old", "none"]
    result = call("sessions", path, "--agent", "codx", "--json")
    assert json.loads(result.stdout) == []
    assert result.stderr == "note: none of 4 sessions fits --agent codx; they are by native, x, y\n"


@pytest.mark.parametrize("since", ["soon", "7", "d", "²d", "-3d", "100000d", "2026-99-01", "7y"])
def test_since_that_is_no_time(tmp_path: Path, since: str) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "s"})
    result = call("sessions", path, "--since", since, code=2)
    assert result.stderr.splitlines() == [
        f"error: --since {since} is no time",
        "hint: for example --since 7d or --since 2026-11-01",
    ]


def test_all_takes_no_name(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "s"})
    result = call("sessions", "--all", path, code=2)
    assert result.stderr == "error: --all takes no SESSION: it finds every project's own\n"


def test_one_sentence_for_many_lost_lines(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "s"})
    path.write_text(path.read_text() + "{oops\n" * 8)
    result = call("sessions", path)
    assert result.stderr.startswith(
        f"warning: {path}: 8 lines skipped (2, 3, 4, 5, 6, …): not JSON"
    )
    assert len(result.stderr.splitlines()) == 1


def test_what_was_passed_over(tmp_path: Path) -> None:
    native_file(tmp_path / "a.jsonl", {"id": "s"})
    (tmp_path / "notes.md").write_text("# notes\n")
    (tmp_path / "data.json").write_text('{"a": 1}')
    result = call("sessions", tmp_path, "--format", "jsonl")
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["s"]
    assert result.stderr == "note: passed over 2 files without a session\n"


def test_every_project_is_named(own_home: Path) -> None:
    line = {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s1", "cwd": "/w/shop"}
    rows = [{**line, "message": {"role": "user", "content": "hello"}}]
    lines_file(own_home / ".claude" / "projects" / "-w-shop" / "s1.jsonl", rows)
    head, row = call("sessions", "--all").stdout.splitlines()
    assert head.split()[:3] == ["session", "project", "dialect"]
    assert row.split()[:3] == ["s1", "shop", "claude-code"]


def test_pitfall_11_a_session_that_stands_in_several_files_is_told(tmp_path: Path) -> None:
    """Stores keep a session as it grows: each file is read, and that they are one is said."""
    one = native_file(tmp_path / "a.jsonl", {"id": "s1", "rewards": [1]})
    two = native_file(tmp_path / "b.jsonl", {"id": "s1", "rewards": [1, 1]})
    native_file(tmp_path / "c.jsonl", {"id": "s2", "rewards": [1]})
    result = call("sessions", tmp_path, "--json")
    assert [found["id"] for found in json.loads(result.stdout)] == ["s1", "s1", "s2"]
    assert result.stderr == f"note: the same session counts once a file: s1 in {one} and {two}\n"
