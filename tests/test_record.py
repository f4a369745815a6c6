"""`agentlearn record`: a line per call, from several processes at once, nothing lost or glued."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentlearn.cli.app import app
from tests.files import read_all


def record(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["record", *words])
    return result.exit_code, result.stdout, result.stderr


def test_a_session_from_a_script(tmp_path: Path):
    file = str(tmp_path / "run.jsonl")
    code, out, err = record(file, "--goal", "Fix the bug", "--agent", "me", "--task", "t1")
    session_id = out.strip()
    assert (code, err, len(session_id)) == (0, "", 12)
    for reward in ("+0.1", "-0.2", "0", "terminal:1"):
        assert record(file, "--action", "do", "--observation", "done", "--reward", reward)[0] == 0
    assert record(file, "--outcome", "aborted:no time") == (0, "", "")
    (session,) = read_all(Path(file))
    assert (session.id, session.goal, session.agent) == (session_id, "Fix the bug", "me")
    assert (session.outcome, session.reason, session.metadata) == (
        "aborted",
        "no time",
        {"task": "t1"},
    )
    result = CliRunner().invoke(app, ["returns", file, "--gamma", "1", "--json"])
    (found,) = json.loads(result.stdout)["sessions"]
    assert (found["rewards"], found["total_reward"]) == ([0.1, -0.2, 0.0, 1.0], 0.9)


@pytest.mark.parametrize(
    ("reward", "why"),
    [
        ("much", "it is no number"),
        ("nan", "a reward is a finite number"),
        ("1e999", "a reward is a finite number"),
        ("positive:-1", "a positive reward has a value of 0 or more, not -1"),
        ("bonus:1", "reward kind 'bonus' is none of positive, negative, neutral, terminal"),
    ],
)
def test_a_reward_that_is_none_records_nothing(tmp_path: Path, reward: str, why: str):
    file = tmp_path / "run.jsonl"
    record(str(file), "--goal", "g")
    before = file.read_bytes()
    code, out, err = record(str(file), "--action", "a", "--reward", reward)
    assert (code, out) == (2, "")
    assert err.splitlines()[0] == f"error: --reward {reward}: {why}"
    assert file.read_bytes() == before


def test_which_session_is_meant(tmp_path: Path):
    file = str(tmp_path / "run.jsonl")
    first = record(file, "--goal", "one")[1].strip()
    second = record(file, "--goal", "two")[1].strip()
    code, _, err = record(file, "--action", "a")
    assert code == 2 and f"2 open sessions: {first}, {second}" in err
    assert record(file, "--action", "a", "--session", first)[0] == 0
    assert record(file, "--outcome", "success", "--session", first)[0] == 0
    assert record(file, "--action", "b")[0] == 0, "one is left, so it is meant"
    assert "has ended already" in record(file, "--action", "c", "--session", first)[2]
    assert "has no session nobody" in record(file, "--action", "c", "--session", "nobody")[2]
    one, two = read_all(Path(file))
    assert [t.action for t in one.turns()] == ["a"]
    assert [t.action for t in two.turns()] == ["b"]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--goal", "g", "--action", "a"],
        ["--action", "a", "--outcome", "success"],
        ["--observation", "o"],
        ["--outcome", "won"],
        ["--outcome", "success:because"],
    ],
)
def test_words_that_do_not_fit(tmp_path: Path, words: list[str]):
    file = tmp_path / "run.jsonl"
    record(str(file), "--goal", "g")
    before = file.read_bytes()
    code, out, err = record(str(file), *words)
    assert (code, out) == (2, "") and err.startswith("error: ")
    assert file.read_bytes() == before


def test_no_file_no_turn(tmp_path: Path):
    code, _, err = record(str(tmp_path / "no.jsonl"), "--action", "a")
    assert code == 2 and "does not exist" in err and "--goal" in err
    assert not (tmp_path / "no.jsonl").exists()


def test_a_line_that_a_killed_program_left_is_not_glued_to_the_next(tmp_path: Path):
    file = tmp_path / "run.jsonl"
    record(str(file), "--goal", "g")
    with file.open("ab") as out:
        out.write(b'{"type":"turn","acti')
    assert record(str(file), "--action", "whole")[0] == 0
    (session,) = read_all(file)
    assert [t.action for t in session.turns()] == ["whole"]
    assert [warning.line for warning in session.warnings] == [2]


@pytest.mark.slow
def test_many_processes_at_once_lose_nothing(tmp_path: Path):
    file = tmp_path / "run.jsonl"
    session_id = record(str(file), "--goal", "g")[1].strip()
    code = (
        "import sys; from pathlib import Path; from agentlearn.sessions.record import add_turn\n"
        "for n in range(25): add_turn(Path(sys.argv[1]), sys.argv[2], "
        "sys.argv[3] + str(n), 'x' * 20_000, '+0.1')"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(file), session_id, f"w{worker}-"])
        for worker in range(8)
    ]
    assert [process.wait() for process in running] == [0] * 8
    (session,) = read_all(file)
    assert session.warnings == []
    actions = [t.action for t in session.turns()]
    assert sorted(actions) == sorted(f"w{w}-{n}" for w in range(8) for n in range(25))
    for worker in range(8):
        own = [action for action in actions if action.startswith(f"w{worker}-")]
        assert own == [f"w{worker}-{n}" for n in range(25)], "each process's lines stay in order"
    assert [path.name for path in tmp_path.iterdir()] == ["run.jsonl"], "nothing lies beside it"


@pytest.mark.parametrize(
    "content",
    [
        b'{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","message":{}}\n',
        b"PAR1\x00\x00binary",
        b"notes of mine\n",
        b'{"type":"session","id":"x","cwd":"/w"}\n',
    ],
)
def test_a_file_of_somebody_else_is_never_written(tmp_path: Path, content: bytes):
    file = tmp_path / "theirs.jsonl"
    file.write_bytes(content)
    for words in (["--goal", "g"], ["--action", "a"], ["--outcome", "success"]):
        code, out, err = record(str(file), *words)
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {file} is no file of recorded sessions\n")
    assert file.read_bytes() == content


def test_a_folder_that_is_not_there(tmp_path: Path):
    code, _, err = record(str(tmp_path / "no" / "run.jsonl"), "--goal", "g")
    assert (code, err) == (2, f"error: the folder {tmp_path / 'no'} does not exist\n")


HEADS = '{{"type":"session","schema":"agentlearn-session/1","id":"{}","goal":"g"}}\n'
TURN = '{"type":"turn","action":"a","observation":"o","reward":0.5}\n'


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (
            HEADS.format("s1") + TURN + HEADS.format("s2") + TURN,
            "takes no more lines: another begins after it, and its own lines carry no session_id",
        ),
        (
            HEADS.format("s1") + TURN + '{"type":"outcome","outcome":"failure"}\n',
            "has ended already",
        ),
        (
            HEADS.format("s1")
            + '{"type":"outcome","outcome":"success","session_id":"s1"}\n'
            + HEADS.format("s2"),
            "has ended already",
        ),
    ],
)
def test_what_every_reader_would_skip_is_not_recorded(tmp_path: Path, content: str, why: str):
    file = tmp_path / "two.jsonl"
    file.write_text(content)
    hint = f'hint: start one: agentlearn record {file} --goal "…"\n'
    for words in (["--action", "late"], ["--outcome", "success"]):
        code, out, err = record(str(file), "--session", "s1", *words)
        assert (code, out, err) == (2, "", f"error: session s1 {why}\n{hint}")
    assert file.read_text() == content


def test_a_head_without_lines_takes_a_turn_after_the_next_head(tmp_path: Path):
    file = tmp_path / "two.jsonl"
    file.write_text(HEADS.format("s1") + HEADS.format("s2") + TURN)
    assert record(str(file), "--session", "s1", "--action", "late")[0] == 0
    assert {s.id: len(s.turns()) for s in read_all(file)} == {"s1": 1, "s2": 1}
