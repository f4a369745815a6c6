"""`returns`: numbers that anyone can check by hand, and what may not spoil them."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.commands import HEAD, HOSTILE, assert_harmless, call, json_of, native_file, started
from tests.files import lines_file

DEMO = {
    "id": "s1",
    "goal": "Find and fix the bug",
    "rewards": [0.1, -0.2, 0, {"kind": "terminal", "value": 1.0}],
    "outcome": "success",
}


def test_the_numbers_of_the_issue(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "ones", "rewards": [1, 1, 1]})
    (session,) = json_of("returns", path, "--gamma", "0.9")["sessions"]
    assert session["return"] == pytest.approx(2.71)
    assert session["returns"] == [1 + 0.9 * (1 + 0.9 * 1.0), 1 + 0.9 * 1.0, 1.0]
    (session,) = json_of("returns", path, "--gamma", "0.5")["sessions"]
    assert session["return"] == 1.75
    demo = native_file(tmp_path / "b.jsonl", DEMO)
    (session,) = json_of("returns", demo, "--gamma", "1")["sessions"]
    assert session["total_reward"] == 0.9
    assert session["rewards"] == [0.1, -0.2, 0.0, 1.0]


def test_json_has_what_the_issue_lists_and_nothing_else(tmp_path: Path) -> None:
    path = native_file(
        tmp_path / "a.jsonl",
        DEMO,
        {"id": "s2", "rewards": [-1], "outcome": "failure"},
        {"id": "s3", "rewards": [], "outcome": "in_progress"},
    )
    found = json_of("returns", path, "--gamma", "0.5")
    assert list(found) == ["gamma", "sessions", "summary"]
    assert found["sessions"][0] == {
        "id": "s1",
        "path": str(path),
        "dialect": "native",
        "goal": "Find and fix the bug",
        "outcome": "success",
        "turns": 4,
        "total_reward": 0.9,
        "return": 0.125,
        "rewards": [0.1, -0.2, 0.0, 1.0],
        "returns": [0.125, 0.04999999999999999, 0.5, 1.0],
        "sources": {"stated": 0.9, "verdict": 0.0, "person": 0.0, "shaped": 0.0},
    }
    assert (found["sessions"][2]["return"], found["sessions"][2]["returns"]) == (0.0, [])
    assert found["summary"] == {
        "sessions": 3,
        "turns": 5,
        "mean_return": pytest.approx((0.125 - 1) / 3),
        "std_return": pytest.approx(_std([0.125, -1.0, 0.0])),
        "min_return": -1.0,
        "max_return": 0.125,
        "success_rate": 0.5,
    }


def _std(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))


def test_success_rate_is_null_without_a_verdict(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [1], "outcome": "unknown"})
    assert json_of("returns", path)["summary"]["success_rate"] is None
    assert "success rate unknown" in call("returns", path).stdout


def test_the_default_gamma_is_told(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [0, 1]})
    found = json_of("returns", path)
    assert found["gamma"] == 0.99
    assert found["sessions"][0]["returns"] == [0.99, 1.0]


@pytest.mark.parametrize("gamma", ["-0.1", "1.0001", "nan", "inf", "1e999"])
def test_gamma_outside_its_range(tmp_path: Path, gamma: str) -> None:
    path = native_file(tmp_path / "a.jsonl", DEMO)
    result = call("returns", path, "--gamma", gamma, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("error: --gamma must be between 0 and 1, not ")


def test_gamma_that_is_no_number(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", DEMO)
    result = call("returns", path, "--gamma", "much", code=2)
    assert result.stderr.splitlines() == [
        "error: invalid value for '--gamma': 'much' is not a valid float",
        "hint: agentlearn returns --help shows what it takes",
    ]


def test_jsonl_is_a_session_a_line_as_it_is_read(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", DEMO, {"id": "s2", "rewards": [2]})
    lines = call("returns", path, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["s1", "s2"]
    assert json_of("returns", path)["sessions"] == [json.loads(line) for line in lines]


def test_json_lines_come_before_the_pipe_ends() -> None:
    command = [sys.executable, "-m", "agentlearn", "returns", "-", "--format", "jsonl"]
    big = "x" * 200_000
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        for number in range(12):
            process.stdin.write(json.dumps({**HEAD, "id": f"s{number}"}).encode() + b"\n")
            turn = {"type": "turn", "action": big, "observation": big, "reward": 1}
            process.stdin.write(json.dumps(turn).encode() + b"\n")
        process.stdin.flush()
        killer = threading.Timer(30, process.kill)
        killer.start()
        ids = [json.loads(process.stdout.readline())["id"] for _ in range(6)]
        assert ids == [f"s{number}" for number in range(6)]
        process.stdin.close()
        assert len(process.stdout.readlines()) == 6
        assert process.wait() == 0
        killer.cancel()


def test_csv_of_sessions(tmp_path: Path) -> None:
    goal = '=cmd("x")\nsecond, "line"\rthird'
    path = native_file(tmp_path / "a.jsonl", {**DEMO, "goal": goal}, {"id": "-2", "rewards": [-1]})
    result = call("returns", path, "--format", "csv", "--gamma", "0.5")
    rows = list(csv.DictReader(io.StringIO(result.stdout_bytes.decode(), newline="")))
    assert [row["id"] for row in rows] == ["s1", "'-2"]
    assert rows[0]["goal"] == "'" + goal
    assert rows[1]["goal"] == ""
    assert rows[1]["total_reward"] == "-1.0"
    assert float(rows[0]["return"]) == 0.125
    assert list(rows[0]) == [
        "id", "path", "dialect", "goal", "outcome", "turns", "total_reward", "return",
        "stated", "verdict", "person", "shaped",
    ]  # fmt: skip


def test_csv_without_a_session_has_its_head(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing\n")
    result = call("returns", tmp_path, "--format", "csv", code=2)
    assert result.stdout.startswith("id,path,")
    assert "error: no session was found in what was named" in result.stderr


def test_the_table_for_a_person(tmp_path: Path) -> None:
    demo = {**DEMO, "goal": "Find the bug"}
    path = native_file(tmp_path / "a.jsonl", demo, {"id": "s2", "goal": "Read", "rewards": [-1]})
    shown = call("returns", path, "--gamma", "0.5").stdout
    assert shown.splitlines() == [
        "session  dialect  outcome      turns  reward  return  stated  returns  goal",
        "s1       native   success          4    0.90    0.12    0.90  ▂▁▄█     Find the bug",
        "s2       native   in_progress      1   -1.00   -1.00   -1.00  ▄        Read",
        "",
        "2 sessions, 5 turns, gamma 0.5",
        "return mean -0.44, std 0.56, min -1.00, max 0.12",
        "success rate 100 %: 1 of 1 that succeeded or failed",
    ]


def test_per_turn_and_explain(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", DEMO)
    shown = call("returns", path, "--gamma", "0.5", "--per-turn").stdout.splitlines()
    assert shown[0] == "s1  native  success  Find and fix the bug"
    assert shown[1].split() == ["turn", "reward", "return", "action", "observation"]
    assert shown[3].split() == ["1", "-0.20", "0.050", "do", "1", "saw", "1"]
    reasons = call("returns", path, "--explain").stdout
    assert "  turn 1  -0.20  stated: negative  s1#L3\n" in reasons
    assert "      [L3] tool_call: do 1\n" in reasons


def test_explain_in_json_gives_evidence(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [0.5]})
    (session,) = json_of("returns", path, "--explain")["sessions"]
    expected = subprocess.run(
        f"sed -n 2,2p '{path}' | sha256sum", shell=True, capture_output=True, check=True
    )
    assert session["evidence"] == [
        {
            "turn": 0,
            "value": 0.5,
            "source": "stated",
            "rule": "positive",
            "evidence": {
                "session": "s",
                "path": str(path),
                "start": 2,
                "end": 2,
                "unit": "line",
                "sha256": expected.stdout.decode().split()[0],
            },
        }
    ]


def test_hostile_text_in_every_table(tmp_path: Path) -> None:
    path = lines_file(
        tmp_path / "a.jsonl",
        [
            {**HEAD, "id": HOSTILE, "goal": HOSTILE, "started_at": HOSTILE, "agent": HOSTILE},
            {"type": "message", "role": "user", "text": HOSTILE, "at": HOSTILE},
            {"type": "turn", "action": HOSTILE, "observation": HOSTILE, "reward": 1},
            {"type": "signal", "kind": "verdict", "text": HOSTILE, "value": 1},
            {"type": HOSTILE},
            {"type": "message", "role": HOSTILE},
        ],
    )
    for args in (["returns"], ["returns", "--per-turn", "--explain"], ["sessions"], ["render"]):
        result = call(*args, path)
        assert_harmless(result.stdout)
        assert_harmless(result.stderr)
        assert "\\u202e" in result.stdout + result.stderr
    verbatim = json_of("returns", path)["sessions"][0]
    assert verbatim["goal"] == HOSTILE
    assert verbatim["id"] == HOSTILE
    advantage = call("returns", path, path, "--advantage", "grpo")
    assert_harmless(advantage.stdout)


def test_wide_characters_keep_the_columns_straight(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    goals = ["バグを見つけて直してください" * 6, "e\u0301" * 90, "plain words " * 20]
    path = native_file(
        tmp_path / "a.jsonl",
        *({"id": f"日本{n}", "goal": goal, "rewards": [1]} for n, goal in enumerate(goals)),
    )
    from agentlearn.cli.output import cells

    head, *rows = call("returns", path).stdout.splitlines()[:4]
    start = cells(head[: head.index("goal")])
    for row, goal in zip(rows, goals, strict=True):
        assert cells(row) <= 100
        shown = row[row.index(goal[:2]) :]
        assert cells(row) - cells(shown) == start
        assert shown.endswith("…")


@pytest.mark.parametrize(
    ("rewards", "gamma", "total"),
    [
        ([1e308, 1e308, -1e308], "1", 1e308),
        ([1e308, 1e308, -1e308, -1e308, -1e308], "1", -1e308),
        ([1e308, 1e308], "1", None),
        ([-1e308, -1e308], "0.99", None),
        ([5e-324, 0, 5e-324], "1", 1e-323),
        ([1.7e308, -1.7e308], "0", 0.0),
        ([1e200, -1e200, 3], "0.5", 3.0),
    ],
)
def test_huge_and_tiny_rewards(
    tmp_path: Path, rewards: list[float], gamma: str, total: float | None
) -> None:
    one = {"id": "a", "goal": "g", "rewards": rewards}
    path = native_file(tmp_path / "a.jsonl", one, {**one, "id": "b"}, {"id": "c", "rewards": [1]})
    found = json_of("returns", path, "--gamma", gamma)
    assert found["sessions"][0]["total_reward"] == total
    assert found["sessions"][0]["rewards"] == rewards
    for format in ("text", "csv", "jsonl"):
        call("returns", path, "--gamma", gamma, "--format", format)
    for method in ("grpo", "rloo"):
        advantages = json_of("returns", path, "--gamma", gamma, "--advantage", method)
        for session in advantages["sessions"]:
            if found["sessions"][0]["return"] is not None:
                assert session["advantage"] == pytest.approx(0.0)


def test_advantages_of_huge_returns_keep_sign_and_size(tmp_path: Path) -> None:
    path = native_file(
        tmp_path / "a.jsonl",
        {"id": "a", "goal": "g", "rewards": [1e300]},
        {"id": "b", "goal": "g", "rewards": [-1e300]},
    )
    found = json_of("returns", path, "--advantage", "rloo")
    assert [s["advantage"] for s in found["sessions"]] == pytest.approx([2e300, -2e300])
    found = json_of("returns", path, "--advantage", "grpo")
    assert [s["advantage"] for s in found["sessions"]] == pytest.approx([2**-0.5, -(2**-0.5)])
    assert found["summary"]["mean_return"] == 0.0
    assert found["summary"]["std_return"] == pytest.approx(1e300)


@pytest.mark.parametrize(
    "reward",
    ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", '{"kind":"positive","value":-1}',
     '{"kind":"negative","value":1e999}', '"1"', "true", "[1]", '{"Positive":NaN}'],
)  # fmt: skip
def test_impossible_rewards_are_bad_lines_and_never_numbers(tmp_path: Path, reward: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(
        json.dumps({**HEAD, "id": "s"})
        + "\n"
        + '{"type":"turn","action":"a","observation":"b","reward":' + reward + "}\n"
        + '{"type":"turn","action":"c","observation":"d","reward":0.5}\n'
    )  # fmt: skip
    result = call("returns", path, "--format", "json")
    (session,) = json.loads(result.stdout)["sessions"]
    assert session["rewards"] == [0.5]
    assert result.stderr.startswith(f"warning: {path}: 1 line skipped (2): ")
    strict = call("returns", path, "--strict", "--format", "json", code=2)
    assert json.loads(strict.stdout)["sessions"] == [session]
    assert strict.stderr.splitlines()[-1] == "error: --strict: 1 line could not be read"


def test_one_bad_file_never_ends_a_folder(tmp_path: Path) -> None:
    native_file(tmp_path / "a.jsonl", DEMO)
    (tmp_path / "b.jsonl").write_bytes(b"\x00\x01\x02 binary")
    (tmp_path / "c.json").write_text("[1, 2")
    (tmp_path / "d.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00garbage")
    (tmp_path / "e.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfdgarbage")
    (tmp_path / "f.eval").write_bytes(b"PK\x03\x04garbage")
    (tmp_path / "g.db").write_bytes(b"SQLite format 3\x00" + b"\x00" * 90)
    (tmp_path / "h.txt").write_text("hello\n")
    (tmp_path / "i").write_bytes(b"")
    (tmp_path / "link.jsonl").symlink_to("nowhere")
    native_file(tmp_path / "z.jsonl", {"id": "last", "rewards": [1]})
    result = call("returns", tmp_path, "--format", "jsonl", code=5)
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["s1", "last"]
    assert "Traceback" not in result.stderr
    assert "note: passed over " in result.stderr
    assert "error: " in result.stderr


def test_exit_codes_and_their_order(tmp_path: Path) -> None:
    good = native_file(tmp_path / "good.jsonl", DEMO)
    text = tmp_path / "notes.txt"
    text.write_text("hello\n")
    (tmp_path / "gone.jsonl").symlink_to("nowhere")
    gone = tmp_path / "gone.jsonl"
    assert call("returns", good).exit_code == 0
    result = call("returns", text, code=2)
    assert result.stderr.startswith(
        f"error: {text} is no transcript that is read: it looks like plain text\nhint: read are: "
    )
    assert result.stdout == ""
    call("returns", gone, code=2)
    call("returns", good, gone, code=5)
    call("returns", good, text, code=2)
    call("returns", good, text, gone, code=2)
    call("returns", good, "--labels", tmp_path / "none.csv", code=2)
    call("returns", tmp_path / "missing.jsonl", code=2)
    call("returns", good, "--advantage", "ppo", code=2)
    call("returns", good, "--group-by", "colour", code=2)
    call("returns", good, "--format", "yaml", code=2)
    call("returns", good, "--jobs", "0", code=2)
    call("returns", good, "--evaluator", " ", code=2)


def test_strict_goes_before_a_broken_file(tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps({**HEAD, "id": "s"}) + "\n{oops\n")
    (tmp_path / "gone.jsonl").symlink_to("nowhere")
    call("returns", bad, tmp_path / "gone.jsonl", code=5)
    call("returns", bad, tmp_path / "gone.jsonl", "--strict", code=2)


def test_a_session_from_a_pipe(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", DEMO)
    for args in (["-"], []):
        done = started("returns", *args, "--format", "json", input=path.read_bytes())
        assert done.returncode == 0
        assert done.stderr == b""
        (session,) = json.loads(done.stdout)["sessions"]
        assert (session["id"], session["path"]) == ("s1", "-")
    with path.open("rb") as file:
        done = started("returns", "--json", stdin=file)
    assert json.loads(done.stdout)["sessions"][0]["id"] == "s1"


@pytest.mark.slow
def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    small = native_file(tmp_path / "s.jsonl", DEMO)
    large = native_file(
        tmp_path / "l.jsonl", *({"id": f"s{n}", "rewards": [1] * 20} for n in range(3000))
    )
    here = f"{sys.executable} -m agentlearn"
    for command in (
        f"{here} returns '{small}' | true",
        f"{here} returns '{large}' | head -1",
        f"{here} returns '{large}' --format jsonl | head -1",
        f"{here} returns '{large}' --format csv | head -1",
        f"{here} trajectory '{large}' | head -1",
        f"{here} convert '{large}' | head -1",
        f"{here} render '{large}' --max-chars 100 2>/dev/null | head -1",
        f"{here} sessions '{large}' | head -1",
        f"{here} --help | true",
    ):
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command], capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, b""), command


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_an_error(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", DEMO)
    for args in (["returns"], ["returns", "--json"], ["trajectory"], ["render"]):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [sys.executable, "-m", "agentlearn", *args, str(path)],
                stdout=full, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
        assert done.returncode == 1
        assert done.stderr == b"error: cannot write the result: No space left on device\n"


def test_ctrl_c_gives_130() -> None:
    import signal
    import time

    command = [sys.executable, "-m", "agentlearn", "returns", "-"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        time.sleep(0.6)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, b"", b"interrupted\n")


def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/b\xff.jsonl"))
    native_file(path, DEMO)
    done = started("returns", path, "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["sessions"][0]["path"].endswith("b\\udcff.jsonl")
    for args in (["sessions"], ["returns", "--format", "csv"], ["convert"], ["render"]):
        assert started(*args, path).returncode == 0


def test_any_locale_will_do(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", {**DEMO, "goal": "größer 日本"})
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    for args in (["returns"], ["sessions"], ["render"], ["returns", "--format", "csv"]):
        done = started(*args, path, env=environment)
        assert (done.returncode, done.stderr) == (0, b"")


def test_stdout_may_be_closed(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", DEMO)
    command = f"{sys.executable} -m agentlearn returns '{path}' >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


def test_labels_and_evaluator_give_verdicts(tmp_path: Path) -> None:
    path = native_file(
        tmp_path / "a.jsonl",
        {"id": "s1", "rewards": [0.5, 0.25]},
        {"id": "s2", "rewards": [0.5]},
        {"id": "s3", "rewards": [1], "outcome": "aborted"},
    )
    labels = tmp_path / "labels.csv"
    labels.write_text("session,outcome\ns1,success\ns2,failure\nelsewhere,success\n")
    result = call("returns", path, "--labels", labels, "--json", "--gamma", "1")
    found = json.loads(result.stdout)["sessions"]
    assert [s["outcome"] for s in found] == ["success", "failure", "aborted"]
    assert [s["rewards"] for s in found] == [[0.5, 1.25], [0.5], [1.0]]
    assert found[0]["sources"] == {"stated": 0.75, "verdict": 1.0, "person": 0.0, "shaped": 0.0}
    assert result.stderr == "note: 1 label names no session that was read\n"
    score = json_of("returns", path, "--evaluator", "echo 0.25", "--gamma", "1")["sessions"]
    assert [s["outcome"] for s in score] == ["failure"] * 3
    assert [s["sources"]["verdict"] for s in score] == [0.25] * 3


def test_labels_go_before_the_evaluator(tmp_path: Path) -> None:
    path = native_file(
        tmp_path / "a.jsonl", {"id": "s1", "rewards": [0]}, {"id": "s2", "rewards": [0]}
    )
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"id":"s1","score":0.5}\n')
    found = json_of("returns", path, "--labels", labels, "--evaluator", "echo 2")["sessions"]
    assert [s["rewards"] for s in found] == [[0.5], [2.0]]


def test_an_evaluator_may_call_this_program(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "s1", "rewards": [0.5]})
    inner = f"{sys.executable} -m agentlearn returns --format jsonl >/dev/null"
    (session,) = json_of("returns", path, "--evaluator", inner)["sessions"]
    assert session["outcome"] == "success"


def test_advantage_compares_within_the_task(tmp_path: Path) -> None:
    path = native_file(
        tmp_path / "a.jsonl",
        {"id": "a", "goal": "x", "rewards": [3], "metadata": {"task": "t"}, "agent": "m"},
        {"id": "b", "goal": "y", "rewards": [1], "metadata": {"task": "t"}, "agent": "n"},
        {"id": "c", "goal": "x", "rewards": [5], "agent": "m"},
    )
    result = call("returns", path, "--advantage", "rloo", "--json")
    found = json.loads(result.stdout)["sessions"]
    assert [(s["group"], s["advantage"]) for s in found] == [("t", 2.0), ("t", -2.0), ("x", 0.0)]
    assert result.stderr == "warning: 1 of the tasks have one session only: its advantage is 0\n"
    by_agent = json_of("returns", path, "--advantage", "rloo", "--group-by", "agent")["sessions"]
    assert [(s["group"], s["advantage"]) for s in by_agent] == [("m", -2.0), ("n", 0.0), ("m", 2.0)]
    lines = call("returns", path, "--advantage", "rloo", "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["advantage"] for line in lines] == [2.0, -2.0, 0.0]
    rows = csv.DictReader(
        io.StringIO(call("returns", path, "--advantage", "rloo", "--format", "csv").stdout)
    )
    assert [row["advantage"] for row in rows] == ["2.0", "-2.0", "0.0"]


def test_group_by_without_advantage_is_told(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", {"id": "a", "rewards": [3], "outcome": "success"})
    note = "note: --group-by has no effect without --advantage\n"
    result = call("returns", path, "--group-by", "agent")
    assert (result.stdout, result.stderr) == (call("returns", path).stdout, note)
    assert call("returns", path, "--group-by", "goal", "--advantage", "rloo").stderr != note


def test_rewards_that_cancel_out_have_their_column(tmp_path: Path) -> None:
    def command(id: str) -> dict[str, object]:
        return {"type": "call", "id": id, "tool": "Bash", "arguments": {"command": "ls"}}

    rows = [
        {**HEAD, "id": "s"},
        {"type": "message", "role": "user", "text": "go"},
        command("a"),
        {"type": "signal", "kind": "interruption"},
        {"type": "message", "role": "user", "text": "look again"},
        command("b"),
        {"type": "message", "role": "assistant", "text": "Done"},
        {"type": "message", "role": "user", "text": "Thanks, that works perfectly!"},
    ]
    path = lines_file(tmp_path / "s.jsonl", rows)
    (session,) = json_of("returns", path)["sessions"]
    assert sorted(session["rewards"]) == [-0.5, 0.0, 0.5]
    shown = call("returns", path).stdout.splitlines()
    assert "person" in shown[0].split()
    stated = native_file(
        tmp_path / "t.jsonl", {"id": "t", "rewards": [0.5, -0.5], "outcome": "success"}
    )
    columns = call("returns", stated).stdout.splitlines()[0].split()
    assert "stated" in columns and "verdict" not in columns


def test_rewards_native_takes_only_what_is_stated(tmp_path: Path) -> None:
    path = lines_file(
        tmp_path / "a.jsonl",
        [
            {**HEAD, "id": "s"},
            {"type": "call", "id": "c", "tool": "Bash", "arguments": {"command": "false"}},
            {"type": "result", "call_id": "c", "text": "", "status": "error"},
            {"type": "signal", "kind": "verdict", "text": "score", "value": 1},
        ],
    )
    (session,) = json_of("returns", path)["sessions"]
    assert session["sources"] == {"stated": 0.0, "verdict": 1.0, "person": 0.0, "shaped": -0.1}
    (session,) = json_of("returns", path, "--rewards", "native")["sessions"]
    assert session["rewards"] == [0.0]


@pytest.mark.parametrize("command", ["sessions", "returns", "trajectory", "render", "convert",
                                     "record", "audit", "config"])  # fmt: skip
def test_every_command_has_help(command: str) -> None:
    for option in ("--help", "-h"):
        shown = call(command, option).stdout
        assert shown.startswith(f"Usage: agentlearn {command} [OPTIONS]")
        assert "<str>" not in shown
    assert command in call("--help").stdout


def test_wrong_words_are_told_like_every_error() -> None:
    result = call("retruns", code=2)
    assert result.stdout == ""
    assert result.stderr == "error: no such command 'retruns'\nhint: did you mean 'returns'?\n"
    result = call("returns", "--gama", "1", code=2)
    assert result.stderr == "error: no such option: --gama\nhint: did you mean --gamma?\n"
