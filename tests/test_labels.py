"""Labels: who is meant, how it ended; and never a label that is silently dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentlearn.cli.labels import Labels
from agentlearn.errors import BadInput
from agentlearn.sessions.values import Session
from tests.commands import json_of, native_file


def labels(tmp_path: Path, text: str | bytes, name: str = "labels.csv") -> Labels:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return Labels(path)


def session(id: str = "s1", path: str | None = None, **metadata: Any) -> Session:
    return Session(id=id, dialect="native", entries=[], path=path, metadata=metadata)


def told(found: Labels, given: Session) -> tuple[float | None, str | None] | None:
    verdict = found.verdict(given)
    return None if verdict is None else (verdict.score, verdict.outcome)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("success", (None, "success")), ("FAILED", (None, "failure")),
        (" resolved ", (None, "success")),
        ("false", (None, "failure")), ("no", (None, "failure")), ("1", (1.0, None)),
        ("aborted", (None, "aborted")), ("Aborted:out of time", (None, "aborted")),
        ("in_progress", (None, "in_progress")), ("InProgress", (None, "in_progress")),
        ("-0.5", (-0.5, None)), ("1e3", (1000.0, None)), ("0", (0.0, None)),
    ],
)  # fmt: skip
def test_words_and_scores(tmp_path: Path, value: str, expected: Any) -> None:
    assert told(labels(tmp_path, f"s1,{value}\n"), session()) == expected


@pytest.mark.parametrize(
    "value",
    ["", "maybe", "nan", "inf", "-inf", "1e999", "unknown", "abort", "failure:x", "1;5x"],
)
def test_what_says_nothing_is_an_error_with_its_line(tmp_path: Path, value: str) -> None:
    with pytest.raises(BadInput) as caught:
        labels(tmp_path, f"id,outcome\ns0,success\ns1,{value}\n")
    said = f"'{value}' is no score and no outcome" if value else "there is no score or outcome"
    assert caught.value.message.endswith(f"labels.csv:3: {said}")


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "1e999", "null", "[]", "{}", "1" + "0" * 400, '""', '"nan"']
)
def test_numbers_that_are_none_in_json(tmp_path: Path, value: str) -> None:
    with pytest.raises(BadInput) as caught:
        labels(tmp_path, f'{{"id":"s1","score":{value}}}\n', "l.jsonl")
    assert "l.jsonl:1" in caught.value.message


def test_a_session_that_was_aborted_did_not_succeed(tmp_path: Path) -> None:
    path = native_file(
        tmp_path / "s.jsonl", *({"id": f"s{n}", "rewards": [None]} for n in range(3))
    )
    given = tmp_path / "l.jsonl"
    given.write_text(
        '{"id":"s0","outcome":"success"}\n{"id":"s1","outcome":{"Aborted":"why"}}\n'
        '{"id":"s2","outcome":"aborted:no time"}\n'
    )
    found = json_of("returns", path, "--labels", given)
    assert [(each["outcome"], each["return"]) for each in found["sessions"]] == [
        ("success", 1.0), ("aborted", 0.0), ("aborted", 0.0),
    ]  # fmt: skip
    assert found["summary"]["success_rate"] == 1.0, "of those that succeeded or failed"


def test_json_lines(tmp_path: Path) -> None:
    text = (
        '{"session_id":"s1","resolved":true}\n\n{"path":"runs/b.jsonl","score":0.25}\n'
        '{"instance_id":"app__app-1","success":false,"note":"a\u2028b"}\r\n'
    )
    found = labels(tmp_path, text, "l.jsonl")
    assert told(found, session()) == (1.0, None)
    assert told(found, session("x", "runs/b.jsonl")) == (0.25, None)
    assert told(found, session("y", instance_id="app__app-1")) == (0.0, None)
    assert told(found, session("z")) is None


def test_ways_to_name_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    absolute = str(tmp_path / "runs" / "b.traj.json")
    for name in ("runs/b.traj.json", absolute, "b.traj.json", "b", "./runs/b.traj.json"):
        found = labels(tmp_path, f"path,outcome\n{name},success\n")
        for given in ("runs/b.traj.json", absolute):
            assert told(found, session("x", given)) == (None, "success"), (name, given)
    other = labels(tmp_path, "path,outcome\nelse/b.traj.json,success\n")
    assert told(other, session("x", "runs/b.traj.json")) is None


def test_a_task_beside_an_id_is_no_key(tmp_path: Path) -> None:
    found = labels(tmp_path, "session,task,outcome\ns1,t,success\ns2,t,failure\n")
    assert told(found, session("s1", task="t")) == (None, "success")
    assert told(found, session("s2", task="t")) == (None, "failure")
    assert told(found, session("s3", task="t")) is None


def test_a_task_alone_labels_all_its_sessions(tmp_path: Path) -> None:
    found = labels(tmp_path, "task,score\nt,0.5\n")
    assert told(found, session("s1", task="t")) == (0.5, None)
    assert told(found, session("s2", task="t")) == (0.5, None)


@pytest.mark.parametrize("pair", [("success", "failure"), ("1", "0"), ("0.5", "success")])
def test_two_labels_that_disagree(tmp_path: Path, pair: tuple[str, str]) -> None:
    with pytest.raises(BadInput) as caught:
        labels(tmp_path, f"s1,{pair[0]}\ns1,{pair[1]}\n")
    assert caught.value.message.endswith("labels.csv:2: s1 has another label already")
    labels(tmp_path, f"s1,{pair[0]}\ns1,{pair[0]}\n")


def test_the_line_is_the_one_in_the_file(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as caught:
        labels(tmp_path, 'id,outcome,note\n\ns1,success,"two\nlines"\ns2,maybe,\n')
    assert "labels.csv:5: " in caught.value.message


def test_heads_and_marks(tmp_path: Path) -> None:
    for text in (
        "\ufeffSession_ID , Outcome\ns1 , success\n",
        "outcome,id\nsuccess,s1\n",
        "s1,success",
        "id,score,outcome\ns1,,success\n",
        "id\toutcome\n".replace("\t", ",") + "s1,success,extra\r\n",
    ):
        assert told(labels(tmp_path, text), session()) == (None, "success")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "holds no labels"),
        ("\n\n", "holds no labels"),
        ("id,outcome\n", "holds no labels"),
        (",success\n", "no session is named"),
        ('{"score":1}\n', "no session is named"),
        ('{"id":"s1"\n', "is not JSON"),
        ('["s1",1]\n', "is not a JSON object"),
        (b"s1,\xff\xfe\n", "it is not UTF-8 text"),
        ("s1," + "x" * 200_000 + "\n", "is not CSV"),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        labels(tmp_path, text)
    assert message in caught.value.message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(BadInput) as caught:
            Labels(path)
        assert caught.value.message.startswith(f"cannot read the labels in {path}: ")


def test_labels_that_nobody_used_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = labels(tmp_path, "session,path,outcome\ns1,a.jsonl,success\ns2,b.jsonl,failure\n")
    found.verdict(session("s1"))
    found.tell_unused()
    assert capsys.readouterr().err == "note: 1 label names no session that was read\n"
