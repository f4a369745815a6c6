"""The evidence of a verdict: the file that states it, the lines, and a hash anyone can compute."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlearn.sessions.locate import lines_within
from tests.commands import HEAD, HOSTILE, assert_harmless, call, json_of, native_file
from tests.files import SAMPLES, document_file, lines_file, sample

needs_samples = pytest.mark.skipif(not SAMPLES, reason="AGENTLEARN_SAMPLES is not set")


def verdict_of(path: Path | str, *options: str | Path) -> dict[str, Any]:
    """The one verdict of a file of one session, as `returns --explain` exports it."""
    (session,) = json_of("returns", path, "--explain", *options)["sessions"]
    (told,) = [each for each in session["evidence"] if each["source"] == "verdict"]
    assert list(told) == ["turn", "value", "source", "rule", "evidence"]
    assert list(told["evidence"]) == ["session", "path", "start", "end", "unit", "sha256"]
    assert told["evidence"]["session"] == session["id"]
    return told


def place_of(told: dict[str, Any]) -> tuple[str, str, int, int]:
    evidence = told["evidence"]
    return evidence["path"], evidence["unit"], evidence["start"], evidence["end"]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def by_sed(path: Path | str, start: int, end: int) -> str:
    command = f"sed -n '{start},{end}p' '{path}' | sha256sum"
    done = subprocess.run(command, shell=True, capture_output=True, check=True)
    return done.stdout.decode().split()[0]


def value_after(text: str, mark: str, since: int = 0) -> bytes:
    """The bytes of the value that stands after a mark, as they stand."""
    at = text.index(mark, since) + len(mark)
    at += len(text[at:]) - len(text[at:].lstrip(" :\n"))
    _, end = json.JSONDecoder().raw_decode(text, at)
    return text[at:end].encode()


# Inside the transcript


SCORED = {
    "id": 1,
    "epoch": 1,
    "messages": [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": "4"}],
    "scores": {"match": {"value": "C", "answer": "größer"}},
}
LOG = {"version": 2, "status": "success", "eval": {"eval_id": "e"}, "plan": {}, "samples": [SCORED]}


def test_scores_of_inspect_are_numbered_after_the_messages(tmp_path: Path) -> None:
    path = document_file(tmp_path / "log.json", LOG)
    told = verdict_of(path)
    assert place_of(told) == (str(path), "entry", 3, 3)
    assert told["evidence"]["sha256"] == sha256(value_after(path.read_text(), '"scores"'))
    shown = call("returns", path, "--explain").stdout
    assert "  turn 0  +1.00  verdict: match C  e_1_epoch_1#E3\n      [E3] system: (verd" in shown
    assert "[E3] system: (verdict 1): match C" in call("render", path, "--lines").stdout


def test_the_stop_of_an_operator_has_evidence_too(tmp_path: Path) -> None:
    stopped = {**SCORED, "limit": {"type": "operator", "limit": 1.0}}
    path = document_file(tmp_path / "log.json", {**LOG, "samples": [stopped]})
    (session,) = json_of("returns", path, "--explain")["sessions"]
    stop, verdict = (each["evidence"] for each in session["evidence"])
    assert (stop["start"], verdict["start"]) == (3, 4)
    assert stop["sha256"] == sha256(value_after(path.read_text(), '"limit"'))
    assert verdict["sha256"] == sha256(value_after(path.read_text(), '"scores"'))


@needs_samples
def test_real_inspect_logs() -> None:
    path = sample("inspect/UKGovernmentBEIS__inspect_ai__log_images_tc.json")
    text = path.read_text()
    told = verdict_of(path)
    assert place_of(told) == (str(path), "entry", 4, 4)
    scores = value_after(text, '"scores"', text.index('"messages"'))
    assert told["evidence"]["sha256"] == sha256(scores)
    for path in sample("inspect").glob("*.eval"):
        with zipfile.ZipFile(path) as archive:
            (name,) = [name for name in archive.namelist() if name.startswith("samples/")]
            text = archive.read(name).decode()
        told = verdict_of(path)
        messages = json.loads(text)["messages"]
        assert place_of(told) == (str(path), "entry", len(messages) + 1, len(messages) + 1)
        assert told["evidence"]["sha256"] == sha256(value_after(text, '"scores"'))


EPISODE = {"task_id": 7, "reward": 0.5, "traj": [{"role": "user", "content": "book"},
           {"role": "assistant", "content": "booked"}]}  # fmt: skip


def test_a_tau_bench_episode_is_its_own_evidence(tmp_path: Path) -> None:
    alone = document_file(tmp_path / "one.json", EPISODE)
    alone.write_text(f"\n{alone.read_text()}\n")
    told = verdict_of(alone)
    assert place_of(told) == (str(alone), "entry", 3, 3)
    assert told["evidence"]["sha256"] == sha256(alone.read_bytes().strip())
    many = document_file(tmp_path / "many.json", [EPISODE, {**EPISODE, "reward": 1}])
    for session, raw in zip(
        json_of("returns", many, "--explain")["sessions"],
        [json.dumps(row, indent=1) for row in json.loads(many.read_text())],
        strict=True,
    ):
        (each,) = session["evidence"]
        assert (each["evidence"]["start"], each["evidence"]["end"]) == (3, 3)
        assert each["evidence"]["sha256"] == sha256(raw.replace("\n", "\n ").encode())


def test_conversations_on_lines_are_their_lines(tmp_path: Path) -> None:
    path = lines_file(tmp_path / "many.jsonl", [EPISODE, {**EPISODE, "reward": 1}])
    for number, session in enumerate(json_of("returns", path, "--explain")["sessions"], start=1):
        (told,) = session["evidence"]
        assert place_of(told) == (str(path), "line", number, number)
        assert told["evidence"]["sha256"] == by_sed(path, number, number)


@needs_samples
def test_a_real_tau_bench_episode() -> None:
    path = sample("openai-chat/TransluceAI__docent__tb_airline.json")
    told = verdict_of(path)
    after = len(json.loads(path.read_bytes())["traj"]) + 1
    assert place_of(told) == (str(path), "entry", after, after)
    assert told["evidence"]["sha256"] == sha256(path.read_bytes().removesuffix(b"\n"))


def test_a_judged_conversation_of_sharegpt(tmp_path: Path) -> None:
    row = {"conversations": [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]}
    path = tmp_path / "c.json"
    path.write_text(json.dumps([{**row, "resolved": True}]))
    told = verdict_of(path)
    assert place_of(told) == (str(path), "entry", 3, 3)
    assert told["evidence"]["sha256"] == sha256(path.read_bytes()[1:-1])


def test_the_test_report_of_an_openhands_run(tmp_path: Path) -> None:
    history = [
        {"action": "run", "args": {"command": "ls"}, "source": "agent"},
        {"observation": "run", "content": "a.py", "source": "agent", "extras": {}},
    ]
    run = {"instance_id": "a", "instruction": "fix it", "history": history,
           "test_result": {"report": {"resolved": True, "ran": 9}}}  # fmt: skip
    alone = document_file(tmp_path / "run.json", run)
    told = verdict_of(alone)
    assert place_of(told) == (str(alone), "entry", 3, 3)
    assert told["evidence"]["sha256"] == sha256(value_after(alone.read_text(), '"report"'))
    lines = lines_file(tmp_path / "output.jsonl", [run, run])
    for number, session in enumerate(json_of("returns", lines, "--explain")["sessions"], start=1):
        (told,) = session["evidence"]
        assert place_of(told) == (str(lines), "line", number, number)
        assert told["evidence"]["sha256"] == by_sed(lines, number, number)


# Beside the transcript


ATIF = {"schema_version": "ATIF-v1.8", "session_id": "r1", "agent": {"name": "demo"},
        "steps": [{"step_id": 1, "source": "user", "message": "run the tests"},
                  {"step_id": 2, "source": "agent", "message": "They pass."}]}  # fmt: skip
RESULT = {"trial_name": "t", "task_name": "hello", "verifier_result": {"rewards": {"reward": 1.0}}}


def trial(folder: Path) -> Path:
    (folder / "agent").mkdir(parents=True)
    (folder / "verifier").mkdir()
    return document_file(folder / "agent" / "trajectory.json", ATIF)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("result.json", json.dumps(RESULT, indent=2)),
        ("result.json", json.dumps(RESULT) + "\n"),
        ("result.json", "\ufeff" + json.dumps(RESULT, indent=2).replace("\n", "\r\n") + "\n\n"),
        ("verifier/reward.txt", "1"),
        ("verifier/reward.txt", "1.0\n"),
        ("verifier/reward.json", json.dumps({"reward": 1, "style": 1}, indent=1)),
    ],
)
def test_the_verdict_of_a_trial_is_the_whole_file(tmp_path: Path, name: str, text: str) -> None:
    run = trial(tmp_path / "t1")
    beside = tmp_path / "t1" / name
    beside.write_text(text, newline="")
    last = len(text.removesuffix("\n").split("\n"))
    told = verdict_of(run)
    assert place_of(told) == (str(beside), "line", 1, last)
    assert told["evidence"]["sha256"] == sha256(beside.read_bytes()) == by_sed(beside, 1, last)


@pytest.mark.parametrize(
    ("here", "given", "expected"),
    [
        (".", "jobs/t1/agent/trajectory.json", "jobs/t1/result.json"),
        (".", "jobs", "jobs/t1/result.json"),
        ("jobs/t1", "agent/trajectory.json", "result.json"),
        ("jobs/t1/agent", "trajectory.json", "../result.json"),
        ("jobs/t1/agent", "../agent/trajectory.json", "../result.json"),
        ("jobs/t1/verifier/deep", "../../agent/trajectory.json", "../../result.json"),
        ("jobs/t1/agent/deep", "../trajectory.json", "../../result.json"),
    ],
)
def test_the_path_is_the_one_from_the_path_that_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: str, given: str, expected: str
) -> None:
    trial(tmp_path / "jobs" / "t1")
    document_file(tmp_path / "jobs" / "t1" / "result.json", RESULT)
    (tmp_path / here).mkdir(exist_ok=True)
    monkeypatch.chdir(tmp_path / here)
    told = verdict_of(given)
    assert told["evidence"]["path"] == expected
    last = len(Path(expected).read_text().splitlines())
    assert told["evidence"]["sha256"] == by_sed(expected, 1, last)
    shown = call("returns", given, "--explain").stdout
    assert f"verdict: result.json: reward 1  {expected}#L1-L{last}\n" in shown


TRAJECTORY = {
    "info": {"exit_status": "Submitted"},
    "messages": [{"role": "user", "content": "Fix it."},
                 {"role": "assistant", "content": "```bash\nls\n```"}],
    "trajectory_format": "mini-swe-agent-1.1",
    "instance_id": "a",
}  # fmt: skip
ROW = {"instance_id": "a", "resolved": True}
OTHER = {"resolved": False, "instance_id": "b", "log": ["a", '"a"', {"instance_id": "a"}]}


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        ([OTHER, ROW], '{\n  "instance_id": "a",\n  "resolved": true\n }'),
        (
            {"total": 2, "instances": [OTHER, ROW]},
            '{\n   "instance_id": "a",\n   "resolved": true\n  }',
        ),
        ({"instances": {"b": OTHER, "a": {"resolved": True}}}, '"a": {\n   "resolved": true\n  }'),
        ({"b": OTHER, "a": {"resolved": True}}, '"a": {\n  "resolved": true\n }'),
        ({"completed_ids": ["a", "b"], "resolved_ids": ["x", "a"]}, '"a"'),
        ({"completed_ids": ["b", "a"], "resolved_ids": ["x"]}, '"a"'),
        (ROW, '{\n "instance_id": "a",\n "resolved": true\n}'),
    ],
)
def test_the_part_of_a_report_that_judges_the_instance(
    tmp_path: Path, report: Any, expected: str
) -> None:
    path = document_file(tmp_path / "a.traj.json", TRAJECTORY)
    beside = document_file(tmp_path / "report.json", report)
    told = verdict_of(path)
    _, unit, start, end = place_of(told)
    rows = beside.read_bytes().splitlines(keepends=True)
    assert (told["evidence"]["path"], unit) == (str(beside), "line")
    assert b"".join(rows[start - 1 : end]).decode().strip().removesuffix(",") == expected
    assert end - start == expected.count("\n")
    assert told["evidence"]["sha256"] == by_sed(beside, start, end)
    beside.write_text(json.dumps(report))
    assert place_of(verdict_of(path)) == (str(beside), "line", 1, 1)


def test_the_list_that_judges_is_meant_and_not_one_that_names(tmp_path: Path) -> None:
    path = document_file(tmp_path / "a.traj.json", TRAJECTORY)
    report = {"submitted_ids": ["a"], "completed_ids": ["a"], "resolved_ids": ["b", "a"]}
    beside = document_file(tmp_path / "report.json", report)
    rows = beside.read_text().splitlines()
    _, _, start, end = place_of(verdict_of(path))
    assert start == end == rows.index(' "resolved_ids": [') + 3


@needs_samples
def test_real_runs_beside_a_real_report() -> None:
    report = sample("mini-swe-agent/gruckion__mini-swe-agent__results_summary.json")
    rows = report.read_bytes().splitlines(keepends=True)
    runs = sorted(sample("mini-swe-agent").glob("gruckion__*.traj.json"))
    assert len(runs) == 6
    for run in runs:
        instance = run.name.removeprefix("gruckion__mini-swe-agent__").removesuffix(".traj.json")
        (named,) = [n for n, row in enumerate(rows, 1) if f'"{instance}"'.encode() in row]
        told = verdict_of(run)
        _, unit, start, end = place_of(told)
        assert (told["evidence"]["path"], unit) == (str(report), "line")
        assert start <= named <= end
        judged = json.loads(b"".join(rows[start - 1 : end]).strip().removesuffix(b","))
        assert (judged["instance_id"], float(judged["resolved"])) == (instance, told["value"])
        assert told["evidence"]["sha256"] == by_sed(report, start, end)
        assert f"{report}#L{start}-L{end}\n" in call("returns", run, "--explain").stdout


def test_a_verdict_from_another_file_has_no_number_in_this_one(tmp_path: Path) -> None:
    run = trial(tmp_path / "t1")
    document_file(tmp_path / "t1" / "result.json", RESULT)
    *_, last, verdict = call("render", run, "--lines").stdout.splitlines()
    assert (last, verdict) == (
        "[E2] assistant: They pass.",
        "system: (verdict 1): result.json: reward 1",
    )


def test_the_words_of_a_sidecar_do_not_act_on_a_terminal(tmp_path: Path) -> None:
    run = trial(tmp_path / "t\n\x1b[31m1")
    rewards = {HOSTILE: 1.0}
    result = {**RESULT, "verifier_result": {"rewards": rewards}}
    document_file(tmp_path / "t\n\x1b[31m1" / "result.json", result)
    shown = call("returns", run, "--explain").stdout
    assert_harmless(shown)
    assert re.search(r"^  turn 0 .*verdict: result.json: .*\\n.*result.json#L1-L9$", shown, re.M)


# In a label file, from a command, in a native file


SESSION = {"id": "s1", "rewards": [None, None]}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("s1,success", (1, 1)),
        ("id,outcome\ns0,failure\ns1,success\ns2,failure\n", (3, 3)),
        ('id,outcome,note\n\ns0,failure,"two\nlines"\ns1,success,"and\nthree\nof it"\n', (5, 7)),
        ("\ufeffid,outcome\r\n\r\ns1,success\r\n", (3, 3)),
        ("id,outcome\rs1,success\rs0,failure\n", (1, 1)),
        ('{"id":"s0","score":1}\n\n{"id":"s1","score":1}', (3, 3)),
    ],
)
def test_a_label_is_its_row(tmp_path: Path, text: str, lines: tuple[int, int]) -> None:
    path = native_file(tmp_path / "a.jsonl", SESSION)
    labels = tmp_path / "labels"
    labels.write_text(text, newline="")
    told = verdict_of(path, "--labels", labels)
    assert place_of(told) == (str(labels), "line", *lines)
    assert told["evidence"]["sha256"] == by_sed(labels, *lines)
    last = f"-L{lines[1]}" if lines[1] > lines[0] else ""
    shown = call("returns", path, "--explain", "--labels", labels).stdout
    assert f"  {labels}#L{lines[0]}{last}\n" in shown


def test_labels_from_a_pipe_have_lines_and_no_hash(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", SESSION)
    pipe = tmp_path / "labels"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("s0,failure\ns1,success\n",))
    writer.start()
    told = verdict_of(path, "--labels", pipe)
    writer.join()
    assert place_of(told) == (str(pipe), "line", 2, 2)
    assert told["evidence"]["sha256"] is None


def test_an_evaluator_stands_in_no_file(tmp_path: Path) -> None:
    path = native_file(tmp_path / "a.jsonl", SESSION)
    told = verdict_of(path, "--evaluator", "exit 1")
    assert told["rule"] == "evaluator: exit code 1"
    assert told["evidence"] == {
        "session": "s1", "path": None, "start": 0, "end": 0, "unit": "line", "sha256": None,
    }  # fmt: skip
    shown = call("returns", path, "--explain", "--evaluator", "exit 1").stdout
    assert "  turn 1  +0.00  verdict: evaluator: exit code 1  (in no file)\n" in shown


def test_a_verdict_in_a_native_file_is_its_line(tmp_path: Path) -> None:
    turn = {"type": "turn", "action": "a", "observation": "b"}
    verdict = {"type": "signal", "kind": "verdict", "text": "by hand", "value": 0.5, "line": 77}
    path = lines_file(tmp_path / "a.jsonl", [{**HEAD, "id": "s"}, turn, verdict, turn])
    told = verdict_of(path)
    assert place_of(told) == (str(path), "line", 3, 3)
    assert told["evidence"]["sha256"] == by_sed(path, 3, 3)


def test_a_converted_verdict_is_the_line_of_its_signal(tmp_path: Path) -> None:
    inside = document_file(tmp_path / "log.json", LOG)
    beside = trial(tmp_path / "t1")
    document_file(tmp_path / "t1" / "result.json", RESULT)
    for source, original in ((inside, 3), (beside, None)):
        converted = tmp_path / f"{source.stem}.jsonl"
        converted.write_text(call("convert", source).stdout)
        rows = [json.loads(row) for row in converted.read_text().splitlines()]
        (number,) = [n for n, row in enumerate(rows, 1) if row.get("kind") == "verdict"]
        assert rows[number - 1].get("line") == original
        told = verdict_of(converted)
        assert place_of(told) == (str(converted), "line", number, number)
        assert told["evidence"]["sha256"] == by_sed(converted, number, number)
        assert told["value"] == verdict_of(source)["value"]


# Where a value stands in a text


WORDS = st.text('abü"\\{}[]:,1', max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=20,
)


def parts(value: Any, above: tuple[str | int, ...] = ()) -> Any:
    yield above, value
    inside: Any = ()
    if isinstance(value, dict):
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for key, part in inside:
        yield from parts(part, (*above, key))


@settings(max_examples=150, deadline=None)
@given(JSON, st.booleans())
def test_every_part_of_any_value_is_found(value: Any, plain: bool) -> None:
    data = json.dumps(value, indent=2, ensure_ascii=plain).encode()
    rows = data.decode().split("\n")
    for keys, part in parts(value):
        start, end = lines_within(data, keys) or (0, 0)
        text = json.dumps(part, indent=2, ensure_ascii=plain)
        assert end - start == text.count("\n")
        there = "".join(row.strip() for row in rows[start - 1 : end]).removesuffix(",")
        assert there.endswith("".join(row.strip() for row in text.split("\n")))
        if keys and isinstance(keys[-1], str):
            assert list(json.loads("{" + there + "}")) == [keys[-1]]


def test_of_two_with_one_name_the_last_counts() -> None:
    assert lines_within(b'{"a":\n{"b": 1},\n"a":\n{"b":\n2}}', ("a", "b")) == (4, 5)


@pytest.mark.parametrize(
    ("data", "keys"),
    [
        (b"", ("a",)), (b"{", ("a",)), (b'{"a"', ("a",)), (b"[1, 2", (5,)), (b"[1]", ("a",)),
        (b"7", ("a",)), (b'"text"', (0,)), (b"[" * 100_000, (0,)), (b"\xff\xfe", (0,)),
        (b'{"a": 1}', ("b",)), (b'{"a": x}', ("a",)),
    ],
)  # fmt: skip
def test_what_is_not_there_is_not_found(data: bytes, keys: tuple[str | int, ...]) -> None:
    assert lines_within(data, keys) is None
