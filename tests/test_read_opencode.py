"""opencode: exports, the lines of `run`, and the database."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from agentlearn.errors import BadInput
from agentlearn.rewards.rules import Rules
from agentlearn.rewards.worth import score_session
from agentlearn.sessions.opencode import read_document, read_lines, read_sqlite
from agentlearn.sessions.read import NotATranscript
from agentlearn.sessions.source import Source
from tests.files import SAMPLES, bent, brief, document_file, lines_file, read_all, read_one, sample

BEGAN = 1793000000000
INFO = {
    "id": "ses_1",
    "directory": "/w",
    "title": "tests",
    "version": "1.2.26",
    "time": {"created": BEGAN, "updated": BEGAN + 90_000},
}


def message(id: str, role: str, parts: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    time = {"created": BEGAN + 1000 * int(id[-1])}
    return {"info": {"id": id, "role": role, "time": time, **more}, "parts": parts}


def text(words: str, **more: Any) -> dict[str, Any]:
    return {"id": "prt_t", "type": "text", "text": words, **more}


def tool(id: str, name: str = "bash", status: str = "completed", **state: Any) -> dict[str, Any]:
    time = {"start": BEGAN + 5000, "end": BEGAN + 6000}
    return {
        "id": f"prt_{id}",
        "type": "tool",
        "callID": id,
        "tool": name,
        "state": {"status": status, "input": {"command": "make"}, "time": time, **state},
    }


def export(path: Path, messages: list[dict[str, Any]], **info: Any) -> Path:
    return document_file(path, {"info": INFO | info, "messages": messages})


def test_export(tmp_path):
    path = export(
        tmp_path / "s.json",
        [
            message("m1", "user", [text("run the tests")]),
            message(
                "m2",
                "assistant",
                [
                    {"type": "step-start"},
                    {"type": "reasoning", "text": "hm"},
                    text("Running."),
                    tool("c1", output="1 failed", metadata={"exit": 1}),
                    {"type": "step-finish", "reason": "tool-calls"},
                    {"type": "patch", "files": []},
                ],
                modelID="some-model",
            ),
            message("m3", "assistant", [text("One test fails.")]),
        ],
    )
    session = read_one(path)
    assert (session.id, session.dialect, session.agent, session.unit) == (
        "ses_1", "opencode", "opencode", "entry",
    )  # fmt: skip
    assert (session.model, session.version, session.cwd) == ("some-model", "1.2.26", "/w")
    assert (session.goal, session.parent) == ("run the tests", None)
    assert session.metadata == {"title": "tests"}
    assert session.started_at == "2026-10-26T07:33:20.000Z"
    assert session.ended_at == "2026-10-26T07:34:50.000Z"
    assert brief(session) == [
        ("user", "run the tests", 1),
        ("assistant", "Running.", 2),
        ("call", "c1", "bash", '{"command":"make"}', 2),
        ("result", "c1", "1 failed", "ok", 1, 2),
        ("assistant", "One test fails.", 3),
    ]
    assert [entry.step for entry in session.entries if hasattr(entry, "step")] == [
        None, "m2", "m2", "m3",
    ]  # fmt: skip
    assert session.entries[3].at == "2026-10-26T07:33:26.000Z"
    assert len(session.raws) == 3
    assert [turn.lines for turn in session.turns()] == [(2, 2), (3, 3)]
    assert session.warnings == []


def test_pitfall_14_completed_with_exit_code_opencode(tmp_path):
    parts = [
        tool("c1", output="", metadata={"exit": 2}),
        tool("c2", output="", metadata={"exit": 0}),
        tool("c3", output="killed", metadata={"exit": None}),
        tool("c4", output="runs on", metadata={"exit": -1}),
    ]
    session = read_one(export(tmp_path / "s.json", [message("m1", "assistant", parts)]))
    results = [entry for entry in brief(session) if entry[0] == "result"]
    assert [(entry[3], entry[4]) for entry in results] == [
        ("ok", 2), ("ok", 0), ("ok", None), ("ok", None),
    ]  # fmt: skip
    assert session.counts().errors == 1


def test_pitfall_07_rejected_and_interrupted_opencode(tmp_path):
    said_no = "The user rejected permission to use this specific tool call"
    parts = [
        tool("c1", status="error", error=said_no + "."),
        tool("c2", status="error", error=said_no + " with the following feedback: use make check"),
        tool("c3", status="error", error="Tool execution aborted"),
        tool("c4", status="error", error="Error: no such file"),
        tool("c5", status="running"),
        tool("c6", status="error", error="The user has specified a rule which prevents you"),
    ]
    error = {"name": "MessageAbortedError", "data": {"message": "The operation was aborted."}}
    path = export(tmp_path / "s.json", [message("m1", "assistant", parts, error=error)])
    session = read_one(path)
    kept = [entry for entry in brief(session) if entry[0] != "call"]
    assert [(entry[0], entry[1], entry[3]) for entry in kept if entry[0] == "result"] == [
        ("result", "c1", "rejected"),
        ("result", "c2", "rejected"),
        ("result", "c3", "interrupted"),
        ("result", "c4", "error"),
        ("result", "c6", "error"),
    ]
    assert kept[2] == ("rejection", "use make check", 1)
    assert kept[-1] == ("interruption", "", 1)
    counts = session.counts()
    assert (counts.calls, counts.results, counts.errors) == (6, 5, 2)
    assert (counts.rejections, counts.interruptions) == (2, 1)


ABORTED = {"status": "error", "error": "Tool execution aborted"}


@pytest.mark.parametrize(
    ("name", "interruptions"), [(None, 1), ("MessageAbortedError", 1), ("ProviderError", 0)]
)
def test_pitfall_07_an_aborted_call_is_an_interruption_once_opencode(tmp_path, name, interruptions):
    more = {"error": {"name": name}} if name else {}
    path = export(
        tmp_path / "s.json",
        [
            message("m1", "user", [text("run")]),
            message("m2", "assistant", [tool("c1", **ABORTED), tool("c2", **ABORTED)], **more),
            message("m3", "user", [text("look at the log")]),
            message("m4", "assistant", [tool("c3", output="fine")]),
        ],
    )
    session = read_one(path)
    assert session.counts().interruptions == interruptions
    worth = score_session(session, Rules(), 1.0).worth
    assert worth.rewards == [0.0, Rules().person.interruption * interruptions, 0.0]


def test_pitfall_07_an_aborted_call_at_the_end_of_a_run_opencode(tmp_path):
    error = {"type": "error", "sessionID": "ses_1", "error": {"name": "MessageAbortedError"}}
    for more in ([], [error]):
        lines = [run_line("tool_use", tool("c1", **ABORTED)), *more]
        session = read_one(lines_file(tmp_path / "run.jsonl", lines))
        assert session.counts().interruptions == 1


def test_provider_failures(tmp_path):
    error = {"name": "APIError", "data": {"message": "overloaded", "isRetryable": True}}
    parts = [{"type": "retry", "attempt": 1, "error": error}]
    path = export(tmp_path / "s.json", [message("m1", "assistant", parts, error={"name": "Odd"})])
    assert brief(read_one(path)) == [
        ("api_error", "APIError: overloaded", 1),
        ("api_error", "Odd", 1),
    ]


def test_pitfall_06_synthetic_words_opencode(tmp_path):
    image = {"type": "file", "mime": "image/png", "url": "data:image/png;base64," + "A" * 400}
    parts = [
        text("look at this"),
        text("contents of the file", synthetic=True),
        text("not sent", ignored=True),
        image,
    ]
    session = read_one(export(tmp_path / "s.json", [message("m1", "user", parts)]))
    assert brief(session) == [
        ("user", "look at this\n<image image/png 300 bytes>", 1),
        ("system", "contents of the file", 1),
    ]


def test_pitfall_05_compaction_opencode(tmp_path):
    messages = [
        message("m1", "user", [{"type": "compaction", "auto": True}]),
        message("m2", "assistant", [text("We did this and that.")], summary=True),
        message("m3", "user", [text("Continue if you have next steps", synthetic=True)]),
    ]
    session = read_one(export(tmp_path / "s.json", messages))
    assert brief(session) == [
        ("compaction", "", 1),
        ("system", "We did this and that.", 2),
        ("system", "Continue if you have next steps", 3),
    ]
    assert session.turns() == []


def test_child_session_has_a_parent_and_no_person(tmp_path):
    path = export(tmp_path / "s.json", [message("m1", "user", [text("find it")])], parentID="ses_0")
    session = read_one(path)
    assert (session.parent, session.goal) == ("ses_0", "find it")
    assert brief(session) == [("system", "find it", 1)]


def test_result_names_the_child(tmp_path):
    part = tool("c1", "task", output="found", metadata={"sessionId": "ses_9"})
    session = read_one(export(tmp_path / "s.json", [message("m1", "assistant", [part])]))
    assert session.entries[1].child == "ses_9"


def test_pitfall_10_reverted_messages_opencode(tmp_path):
    messages = [
        message("m1", "user", [text("one")]),
        message("m2", "assistant", [text("done")]),
        message("m3", "user", [text("two")]),
        message("m4", "assistant", [tool("c1", output="x")]),
    ]
    session = read_one(export(tmp_path / "s.json", messages, revert={"messageID": "m3"}))
    assert brief(session)[-1] == ("rollback", 3, 4)
    assert [turn.undone for turn in session.turns()] == [0, 1]


def test_unknown_parts_are_named_once(tmp_path):
    parts = [{"type": "hologram"}, {"type": "hologram"}, text("hi")]
    session = read_one(export(tmp_path / "s.json", [message("m1", "assistant", parts)]))
    assert [(w.line, w.reason, w.lost) for w in session.warnings] == [
        (1, "unknown part type 'hologram'", False)
    ]


def run_line(kind: str, part: dict[str, Any], session: str = "ses_1") -> dict[str, Any]:
    return {"type": kind, "timestamp": BEGAN, "sessionID": session, "part": part}


def test_lines_of_run(tmp_path):
    lines = [
        run_line("step_start", {"type": "step-start", "messageID": "m1"}),
        run_line("text", text("Working.", messageID="m1")),
        run_line("tool_use", tool("c1", output="", metadata={"exit": 3}) | {"messageID": "m1"}),
        run_line("tool_use", tool("d1", output="child") | {"messageID": "x"}, "ses_2"),
        run_line("tool_use", tool("c1", output="") | {"messageID": "m1"}),
        {"type": "error", "timestamp": BEGAN, "sessionID": "ses_1", "error": {"name": "APIError"}},
    ]
    first, second = read_all(lines_file(tmp_path / "run.jsonl", lines))
    assert (first.id, second.id, first.unit) == ("ses_1", "ses_2", "line")
    assert brief(first) == [
        ("assistant", "Working.", 2),
        ("call", "c1", "bash", '{"command":"make"}', 3),
        ("result", "c1", "", "ok", 3, 3),
        ("api_error", "APIError", 6),
    ]
    assert [entry[0:2] for entry in brief(second)] == [("call", "d1"), ("result", "d1")]
    assert len(first.turns()) == 1
    assert first.goal is None


def test_only_an_error(tmp_path):
    line = {"type": "error", "sessionID": "ses_1", "error": {"name": "ProviderAuthError"}}
    assert brief(read_one(lines_file(tmp_path / "run.jsonl", [line]))) == [
        ("api_error", "ProviderAuthError", 1)
    ]


def database(path: Path) -> sqlite3.Connection:
    made = sqlite3.connect(path)
    made.executescript(
        """
        CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, parent_id TEXT, slug TEXT,
            directory TEXT, title TEXT, version TEXT, revert TEXT,
            time_created INTEGER, time_updated INTEGER);
        CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT,
            time_created INTEGER, time_updated INTEGER, data TEXT);
        CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT,
            time_created INTEGER, time_updated INTEGER, data TEXT);
        """
    )
    return made


def add_session(made: sqlite3.Connection, id: str, parent: str | None, at: int) -> None:
    row = (id, "p", parent, "s", "/w", f"title of {id}", "1.4.0", None, at, at + 9)
    made.execute(f"INSERT INTO session VALUES ({', '.join('?' * 10)})", row)


def add_message(
    made: sqlite3.Connection, session: str, id: str, role: str, parts: list[dict[str, Any]]
) -> None:
    at = BEGAN + int(id[-1]) * 1000
    made.execute(
        "INSERT INTO message VALUES (?, ?, ?, ?, ?)",
        (id, session, at, at, json.dumps({"role": role})),
    )
    for number, part in enumerate(parts):
        data = json.dumps({key: value for key, value in part.items() if key != "id"})
        row = (f"{id}-prt{number}", id, session, BEGAN - number, 0, data)
        made.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)


def filled(path: Path) -> Path:
    made = database(path)
    add_session(made, "ses_child", "ses_1", BEGAN + 5)
    add_session(made, "ses_1", None, BEGAN)
    add_message(made, "ses_1", "m2", "assistant",
                [text("Trying."), tool("c1", output="no", metadata={"exit": 1})])  # fmt: skip
    add_message(made, "ses_1", "m1", "user", [text("fix it 🐛")])
    add_message(made, "ses_child", "n1", "user", [text("look")])
    made.commit()
    made.close()
    return path


def test_database(tmp_path):
    path = filled(tmp_path / "opencode.db")
    before = path.read_bytes()
    first, child = read_all(path)
    assert (first.id, first.unit, first.version, first.cwd) == ("ses_1", "entry", "1.4.0", "/w")
    assert (first.goal, first.parent) == ("fix it 🐛", None)
    assert first.metadata == {"title": "title of ses_1"}
    assert first.started_at == "2026-10-26T07:33:20.000Z"
    assert brief(first) == [
        ("user", "fix it 🐛", 2),
        ("assistant", "Trying.", 4),
        ("call", "c1", "bash", '{"command":"make"}', 5),
        ("result", "c1", "no", "ok", 1, 5),
    ]
    assert first.entries[0].at == "2026-10-26T07:33:21.000Z"
    assert len(first.raws) == 5
    assert json.loads(first.raws[0]) == {"role": "user"}
    assert json.loads(first.raws[4])["callID"] == "c1"
    assert (child.id, child.parent, child.goal) == ("ses_child", "ses_1", "look")
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["opencode.db"]


def test_database_in_a_folder_that_cannot_be_written(tmp_path):
    path = filled(tmp_path / "opencode.db")
    tmp_path.chmod(0o500)
    try:
        assert len(read_all(path)) == 2
    finally:
        tmp_path.chmod(0o700)


def test_database_with_a_write_ahead_log(tmp_path):
    """What opencode has not yet moved into the file itself is read too."""
    live = tmp_path / "live"
    live.mkdir()
    path = filled(live / "opencode.db")
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode=WAL")
    add_message(writer, "ses_1", "m3", "user", [text("and this")])
    writer.commit()
    assert [entry[1] for entry in brief(read_all(path)[0])][-1] == "and this"
    copied = tmp_path / "copied"
    shutil.copytree(live, copied)
    writer.close()
    (copied / "opencode.db-shm").unlink()
    assert [entry[1] for entry in brief(read_all(copied / "opencode.db")[0])][-1] == "and this"


def test_database_of_a_version_with_other_columns(tmp_path):
    made = sqlite3.connect(tmp_path / "opencode.db")
    made.executescript(
        """
        CREATE TABLE session (id TEXT, data TEXT);
        CREATE TABLE message (id TEXT, session_id TEXT, data BLOB);
        CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);
        """
    )
    info = {"parentID": "up", "directory": "/w", "time": {"created": BEGAN}}
    made.execute("INSERT INTO session VALUES ('s', ?)", (json.dumps(info),))
    made.execute("INSERT INTO message VALUES ('m', 's', ?)", (b'{"role":"assistant"}',))
    made.execute("INSERT INTO message VALUES ('n', 's', NULL)")
    made.execute("INSERT INTO part VALUES ('p', 'm', 's', '{\"type\":\"text\",\"text\":\"hi\"}')")
    made.commit()
    made.close()
    session = read_one(tmp_path / "opencode.db")
    assert (session.id, session.parent, session.cwd) == ("s", "up", "/w")
    assert session.started_at == "2026-10-26T07:33:20.000Z"
    assert brief(session) == [("assistant", "hi", 2)]
    assert [(w.line, w.reason) for w in session.warnings] == [
        (3, "not a JSON object"),
        (3, "unknown message role 'None'"),
    ]


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        ("CREATE TABLE ItemTable (key, value); CREATE TABLE cursorDiskKV (key, value)", "Cursor's"),
        ("CREATE TABLE sessions (id); CREATE TABLE messages (id)", "`hermes sessions export"),
        ("CREATE TABLE cats (name)", "not opencode's (its tables: cats)"),
    ],
)
def test_databases_of_others(tmp_path, tables, words):
    made = sqlite3.connect(tmp_path / "state.vscdb")
    made.executescript(tables)
    made.close()
    with pytest.raises(NotATranscript) as raised:
        read_all(tmp_path / "state.vscdb")
    assert words in raised.value.message


def test_database_from_a_pipe(tmp_path):
    path = filled(tmp_path / "opencode.db")
    with path.open("rb") as raw, pytest.raises(BadInput) as raised:
        list(read_sqlite(Source(None, raw)))
    assert raised.value.message == "a SQLite database cannot be read from a pipe"


def test_broken_database(tmp_path):
    path = filled(tmp_path / "opencode.db")
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(BadInput) as raised:
        read_all(path)
    assert "cannot be read" in raised.value.message


def test_hostile_shapes(tmp_path):
    error = {"name": "MessageAbortedError", "data": {"message": "x"}}
    made = [
        message("m1", "user", [text("a"), {"type": "file", "mime": "image/png", "url": "data:,"}]),
        message("m2", "assistant", [text("b"), tool("c1", output="x", metadata={"exit": 1})],
                modelID="m", model={"modelID": "m"}, path={"cwd": "/"}, error=error, summary=True),
    ]  # fmt: skip
    revert = {"messageID": "m1", "partID": "prt_c1"}
    path = tmp_path / "s"
    for odd in bent({"info": INFO | {"revert": revert}, "messages": made}):
        document_file(path, odd)
        with Source(path) as source:
            assert len(list(read_document(source))) == 1
    lines = [run_line("tool_use", tool("c1", error="x")), {"type": "error", "error": error}]
    for odd in bent(lines):
        lines_file(path, odd)
        with Source(path) as source:
            assert 1 <= len(list(read_lines(source))) <= 2


def test_hostile_rows(tmp_path):
    path = filled(tmp_path / "opencode.db")
    odd_values = [None, 7, 1.5, "", "[]", "{", '{"role":[]}', b"\xff\xfe", sys.maxsize]
    for table in ("session", "message", "part"):
        with sqlite3.connect(path) as made:
            columns = [row[1] for row in made.execute(f"PRAGMA table_info({table})")]
        for column in columns:
            for odd in odd_values:
                broken = tmp_path / "broken.db"
                shutil.copy(path, broken)
                made = sqlite3.connect(broken)
                made.execute(f"UPDATE OR IGNORE {table} SET {column} = ?", (odd,))
                made.commit()
                made.close()
                assert len(read_all(broken)) == 2


@pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")
def test_sample():
    session = read_one(sample("opencode/es617__claude-replay__fixture-opencode.jsonl"))
    counts = session.counts()
    assert (counts.calls, counts.results, counts.errors, len(session.turns())) == (3, 3, 1, 5)
