"""A command that runs on after its call returned is judged once, where it ends, as what it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentlearn.rewards.rules import Rules
from agentlearn.rewards.worth import score_session
from agentlearn.sessions.native_write import native_lines
from agentlearn.sessions.values import Call, Session
from tests.commands import HEAD
from tests.files import SAMPLES, lines_file, read_one, sample
from tests.test_read_codex import Writer

CHUNK = "Chunk ID: 1f\nWall time: 9.1 seconds\n"
SCRIPT = {"type": "input_text", "text": "Script completed\nWall time 0.2 seconds\nOutput:\n"}


class Commands(Writer):
    def runs(self, id: str, session: int, text: str = "") -> None:
        self.output(id, f"{CHUNK}Process running with session ID {session}\nOutput:\n{text}")

    def ends(self, id: str, code: int, text: str = "") -> None:
        self.output(id, f"{CHUNK}Process exited with code {code}\nOutput:\n{text}")

    def poll(self, id: str, session: Any, chars: str = "") -> None:
        arguments = json.dumps({"session_id": session, "chars": chars, "yield_time_ms": 1000})
        self.item("function_call", name="write_stdin", arguments=arguments, call_id=id)

    def script(self, id: str, code: str) -> None:
        self.item("custom_tool_call", name="exec", input=code, call_id=id)

    def wait(self, id: str, cell: str) -> None:
        arguments = json.dumps({"cell_id": cell, "yield_time_ms": 1000})
        self.item("function_call", name="wait", arguments=arguments, call_id=id)

    def cell(self, id: str, cell: str) -> None:
        kind = "custom_tool_call_output"
        self.item(kind, call_id=id, output=f"Script running with cell ID {cell}\nOutput:\n")

    def printed(self, id: str, text: str) -> None:
        output = [SCRIPT, {"type": "input_text", "text": text}]
        self.item("custom_tool_call_output", call_id=id, output=output)


def rules_of(session: Session) -> list[list[str]]:
    """The rules by which each turn was judged."""
    return [[drawn.rule for drawn in each] for each in score_session(session, Rules(), 1.0).drawn]


def linked(session: Session) -> dict[str, str | None]:
    return {entry.id: entry.continues for entry in session.entries if isinstance(entry, Call)}


def converted(session: Session, tmp_path: Path) -> Session:
    path = tmp_path / "converted.jsonl"
    path.write_bytes(b"".join(native_lines(session)))
    again = read_one(path)
    assert b"".join(native_lines(again)) == path.read_bytes()
    return again


@pytest.mark.parametrize(
    ("command", "code", "text", "rule"),
    [
        ("pytest -q", 1, "", ["tests_failed"]),
        ("pytest -q", 0, "", ["tests_passed"]),
        ("pytest -q | tail", 0, "3 failed", ["tests_failed"]),
        ("make build", 2, "no rule", ["failed_call"]),
        ("make build", 0, "done", []),
        ("grep -r needle /", 1, "", []),
    ],
)
def test_the_end_is_judged_by_the_command_that_began(
    tmp_path: Path, command: str, code: int, text: str, rule: list[str]
) -> None:
    made = Commands()
    made.call("c1", command)
    made.runs("c1", 7, "2 failed so far")
    made.call("other", "ls")
    made.ends("other", 0)
    made.poll("c2", 7)
    made.runs("c2", 7, "3 failed so far")
    made.poll("c3", 7)
    made.ends("c3", code, text)
    session = made.read(tmp_path)
    assert linked(session) == {"c1": None, "other": None, "c2": "c1", "c3": "c2"}
    for each in (session, converted(session, tmp_path)):
        assert rules_of(each) == [[], [], [], rule]
    assert session.counts().errors == (1 if code else 0)


def test_one_that_never_ends_is_judged_by_what_it_said_last(tmp_path: Path) -> None:
    made = Commands()
    made.call("c1", "pytest -q")
    made.runs("c1", 7, "1 failed so far")
    assert rules_of(made.read(tmp_path)) == [["tests_failed"]]
    made.poll("c2", 7)
    made.runs("c2", 7, "5 passed")
    assert rules_of(made.read(tmp_path)) == [[], ["tests_passed"]]


def test_processes_are_kept_apart(tmp_path: Path) -> None:
    made = Commands()
    made.call("c1", "pytest -q")
    made.runs("c1", 7)
    made.call("c2", "make build")
    made.runs("c2", 8)
    made.poll("c3", 8)
    made.ends("c3", 1)
    made.poll("c4", 7)
    made.ends("c4", 1)
    made.poll("c5", 9)
    made.ends("c5", 1)
    session = made.read(tmp_path)
    assert linked(session) == {"c1": None, "c2": None, "c3": "c2", "c4": "c1", "c5": None}
    assert rules_of(session) == [[], [], ["failed_call"], ["tests_failed"], ["failed_call"]]


def test_only_the_harness_says_that_a_process_runs(tmp_path: Path) -> None:
    made = Commands()
    made.call("c1", "pytest -q")
    made.ends("c1", 0, "Process running with session ID 7")
    made.poll("c2", 7)
    made.ends("c2", 1)
    session = made.read(tmp_path)
    assert linked(session) == {"c1": None, "c2": None}
    assert rules_of(session) == [["tests_passed"], ["failed_call"]]


def test_a_poll_that_fails_is_no_failing_test(tmp_path: Path) -> None:
    made = Commands()
    made.call("c1", "pytest -q")
    made.runs("c1", 7)
    made.poll("c2", 7)
    made.output("c2", "write_stdin failed: unknown process id 7")
    assert rules_of(made.read(tmp_path)) == [[], ["failed_call"]]


def test_a_command_that_the_agent_stops_is_no_failing_test(tmp_path: Path) -> None:
    made = Commands()
    made.call("c1", "pytest -q")
    made.runs("c1", 7)
    made.poll("c2", 7, chars="\x03")
    made.ends("c2", 130)
    session = made.read(tmp_path)
    assert linked(session)["c2"] is None
    assert rules_of(session) == [[], ["failed_call"]]


@pytest.mark.parametrize("pretty", [False, True])
def test_code_mode_waits_for_scripts_and_processes(tmp_path: Path, pretty: bool) -> None:
    def given_back(**fields: Any) -> str:
        value = {"chunk_id": "a1", "wall_time_seconds": 30.2, **fields, "output": "text"}
        return json.dumps(value, indent=2) if pretty else json.dumps(value, separators=(",", ":"))

    made = Commands()
    made.script("c1", 'const r = await tools.exec_command({cmd: "pytest -q"});\ntext(r);')
    made.cell("c1", "30")
    made.wait("c2", "30")
    made.printed("c2", given_back(session_id=50255))
    made.script("c3", "const r = await tools.write_stdin({\n  session_id: 50255,\n  chars: ''});")
    made.cell("c3", "31")
    made.wait("c4", "31")
    made.printed("c4", given_back(exit_code=1))
    session = made.read(tmp_path)
    assert linked(session) == {"c1": None, "c2": "c1", "c3": "c2", "c4": "c3"}
    for each in (session, converted(session, tmp_path)):
        assert rules_of(each) == [[], [], [], ["tests_failed"]]


def test_a_script_that_starts_a_command_of_its_own_is_judged_by_that(tmp_path: Path) -> None:
    made = Commands()
    made.call("c1", "pytest -q")
    made.runs("c1", 7)
    for number, code in enumerate(
        (
            'await tools.write_stdin({session_id: 7}); await tools.exec_command({cmd: "ls"})',
            "await tools.write_stdin({session_id: 7}); await tools.write_stdin({session_id: 8})",
            "await tools.write_stdin({session_id: 7, chars: '\\u0003'})",
            "text('write_stdin session_id: 7')",
        )
    ):
        made.script(f"s{number}", code)
    assert set(linked(made.read(tmp_path)).values()) == {None}


def test_a_fork_goes_on_with_nothing_of_its_parent(tmp_path: Path) -> None:
    made = Commands("own")
    made.step = 0.0
    made.call("c1", "pytest -q")
    made.runs("c1", 7)
    made.meta("parent")
    made.step = 60.0
    made.poll("c2", 7)
    made.poll("c3", 7)
    made.ends("c3", 1)
    assert set(linked(made.read(tmp_path)).values()) == {None}


@pytest.mark.parametrize("continues", ["c2", "c1", "c9", 7, None])
def test_a_native_file_may_say_anything(tmp_path: Path, continues: Any) -> None:
    """Calls that go on with themselves, with later ones, or with none."""
    lines: list[Any] = [{**HEAD, "id": "s"}]
    for number in (1, 2):
        call = {"type": "call", "id": f"c{number}", "tool": "bash", "continues": continues}
        lines.append({**call, "arguments": {"command": "ls"}})
        lines.append({"type": "result", "call_id": f"c{number}", "text": "no", "exit_code": 1})
    session = read_one(lines_file(tmp_path / "a.jsonl", lines))
    assert rules_of(session) == [["failed_call"]] * 2


@pytest.mark.skipif(SAMPLES is None, reason="AGENTLEARN_SAMPLES is not set")
def test_tests_of_a_real_session_in_code_mode(tmp_path: Path) -> None:
    name = "codex/entireio__entire-graph__a3_b944375aa8_0_full.jsonl"
    session = read_one(sample(name))
    found = {
        drawn.start: drawn.rule
        for each in score_session(session, Rules(), 1.0).drawn
        for drawn in each
    }
    # `mise run test:ci` ended in a wait, and twice in a later script that polled the process.
    assert {line: found.get(line) for line in (207, 238, 466)} == {
        207: "tests_passed", 238: "tests_passed", 466: "tests_passed",
    }  # fmt: skip
    assert rules_of(session) == rules_of(converted(session, tmp_path))
