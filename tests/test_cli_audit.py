"""`audit`: whether the reward predicts the truth, against a count of all pairs."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlearn.rewards.audit import Case, auc, audit
from tests.commands import HEAD, call, json_of, native_file
from tests.files import lines_file

CASES = st.lists(
    st.builds(
        lambda success, task, score: Case(success, task, {"return": score, "turns": -score}),
        st.booleans(), st.sampled_from("ab"), st.integers(-3, 3).map(float),
    ),
    max_size=14,
)  # fmt: skip


def by_pairs(cases: list[Case], within_task: bool = False) -> float | None:
    points = [
        1.0 if good.scores["return"] > bad.scores["return"]
        else 0.5 if good.scores["return"] == bad.scores["return"] else 0.0
        for good in cases if good.success
        for bad in cases if not bad.success and (not within_task or good.task == bad.task)
    ]  # fmt: skip
    return sum(points) / len(points) if points else None


@settings(max_examples=200, deadline=None)
@given(CASES)
def test_auc_is_the_share_of_pairs_ranked_rightly(cases: list[Case]) -> None:
    expected = by_pairs(cases)
    found = auc(cases, "return")
    assert found == (None if expected is None else pytest.approx(expected))


@settings(max_examples=15, deadline=None)
@given(CASES)
def test_within_a_task_too(cases: list[Case]) -> None:
    expected = by_pairs(cases, within_task=True)
    found = audit(cases, within_task=True)
    if expected is None:
        assert found is None
        return
    assert found is not None
    interval = found["auc"]["return"]
    assert interval.value == pytest.approx(expected)
    assert 0.0 <= interval.low <= interval.high <= 1.0
    opposite = found["auc"]["turns"].value
    assert opposite == pytest.approx(1 - expected)
    assert found["ahead_of"]["turns"].value == pytest.approx(2 * expected - 1)


def labelled(tmp_path: Path, good: list[float], bad: list[float], **more: Any) -> tuple[Path, Path]:
    values = [(True, value) for value in good] + [(False, value) for value in bad]
    random.Random(7).shuffle(values)
    sessions = [{"id": f"s{n}", "rewards": [value], **more} for n, (_, value) in enumerate(values)]
    labels = tmp_path / "labels.csv"
    rows = [f"s{n},{'success' if won else 'failure'}\n" for n, (won, _) in enumerate(values)]
    labels.write_text("session,outcome\n" + "".join(rows))
    return native_file(tmp_path / "a.jsonl", *sessions), labels


def test_a_reward_that_tells_the_truth(tmp_path: Path) -> None:
    path, labels = labelled(tmp_path, [1.0] * 20, [0.0] * 20, goal="g")
    found = json_of("audit", path, "--labels", labels)
    assert list(found) == [
        "sessions", "unlabelled", "successes", "gamma", "overall", "within_task", "sentence",
    ]  # fmt: skip
    assert (found["sessions"], found["unlabelled"], found["successes"]) == (40, 0, 20)
    assert found["overall"]["auc"]["return"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert found["overall"]["auc"]["turns"]["value"] == 0.5
    assert found["overall"]["ahead_of"]["turns"] == {"value": 0.5, "low": 0.5, "high": 0.5}
    assert found["within_task"]["auc"]["return"]["value"] == 1.0
    assert found["sentence"].startswith("The reward (AUC 1.00) beats both baselines")
    call("audit", path, "--labels", labels, "--min-auc", "1.0")


def test_a_reward_that_says_nothing(tmp_path: Path) -> None:
    path, labels = labelled(tmp_path, [0.0] * 10, [0.0] * 10)
    found = json_of("audit", path, "--labels", labels)
    assert found["overall"]["auc"]["return"]["value"] == 0.5
    assert found["sentence"] == (
        "The reward (AUC 0.50) does not beat the baselines: do not use it as a label."
    )
    result = call("audit", path, "--labels", labels, "--min-auc", "0.6", code=1)
    assert "do not use it as a label." in result.stdout
    assert result.stderr == ""


def test_the_table(tmp_path: Path) -> None:
    path, labels = labelled(tmp_path, [1.0, 2.0], [0.0, 1.0], goal="g")
    shown = call("audit", path, "--labels", labels).stdout.splitlines()
    assert shown[0] == (
        "4 labelled sessions (2 successes, 2 failures), 0 without a label, gamma 0.99"
    )
    assert shown[2].split()[:2] == ["score", "AUC"]
    assert shown[3].startswith("return              0.88 [")
    assert shown[4].startswith("fewer turns         0.50 [0.50, 0.50]  +0.38 [")
    assert shown[-1] == "Too few to say: 5 successes and 5 failures are the least."


def test_the_same_every_time(tmp_path: Path) -> None:
    path, labels = labelled(tmp_path, [1.0, 0.5, 2.0], [0.0, 0.7, 1.0])
    assert json_of("audit", path, "--labels", labels) == json_of("audit", path, "--labels", labels)


def test_verdicts_inside_the_files_are_withheld(tmp_path: Path) -> None:
    lines: list[Any] = []
    for number in range(8):
        lines.append({**HEAD, "id": f"s{number}"})
        lines.append({"type": "call", "id": "c", "tool": "Read", "arguments": {}})
        lines.append({"type": "result", "call_id": "c", "text": "x"})
        lines.append({"type": "signal", "kind": "verdict", "text": "v", "value": number % 2})
        lines.append({"type": "outcome", "outcome": "success" if number % 2 else "failure"})
    path = lines_file(tmp_path / "a.jsonl", lines)
    labels = tmp_path / "labels.csv"
    labels.write_text("".join(f"s{number},{number % 2}\n" for number in range(8)))
    found = json_of("audit", path, "--labels", labels)
    assert found["overall"]["auc"]["return"]["value"] == 0.5
    told = json_of("returns", path)["sessions"]
    assert [session["return"] for session in told] == [0.0, 1.0] * 4


def test_within_a_task_nothing_may_compare(tmp_path: Path) -> None:
    path = native_file(
        tmp_path / "a.jsonl",
        {"id": "a", "rewards": [1], "metadata": {"task": "x"}},
        {"id": "b", "rewards": [0], "metadata": {"task": "y"}},
    )
    labels = tmp_path / "labels.csv"
    labels.write_text("session,task,outcome\na,x,success\nb,y,failure\n")
    assert json_of("audit", path, "--labels", labels)["within_task"] is None
    assert "–" in call("audit", path, "--labels", labels).stdout


def test_scores_pass_at_the_rules_mark(tmp_path: Path) -> None:
    path = native_file(
        tmp_path / "a.jsonl", {"id": "a", "rewards": [1]}, {"id": "b", "rewards": [0]}
    )
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"id":"a","score":0.5}\n{"id":"b","score":0.4}\n')
    call("audit", path, "--labels", labels, code=2)
    rules = tmp_path / "rules.yaml"
    rules.write_text("verdict: {pass_at: 0.5}\n")
    found = json_of("audit", path, "--labels", labels, "--rewards", rules)
    assert found["overall"]["auc"]["return"]["value"] == 1.0


def test_what_an_audit_needs(tmp_path: Path) -> None:
    path, labels = labelled(tmp_path, [1.0], [])
    result = call("audit", path, code=2)
    assert result.stderr.startswith("error: an audit needs the truth: --labels FILE\n")
    result = call("audit", path, "--labels", labels, code=2)
    assert result.stdout == ""
    assert result.stderr.splitlines()[0] == (
        "error: an audit needs successes and failures: the labels that fit name 1 and 0 of the "
        "1 sessions"
    )
    other = tmp_path / "other.csv"
    other.write_text("x,success\ny,failure\n")
    result = call("audit", path, "--labels", other, code=2)
    assert "note: 2 labels name no session that was read" in result.stderr


@pytest.mark.parametrize("value", ["nan", "2", "-0.1"])
def test_a_mark_that_cannot_be(tmp_path: Path, value: str) -> None:
    path, labels = labelled(tmp_path, [1.0], [0.0])
    result = call("audit", path, "--labels", labels, "--min-auc", value, code=2)
    assert result.stderr.startswith("error: --min-auc must be between 0 and 1, not ")


def test_bad_input_goes_before_a_low_auc(tmp_path: Path) -> None:
    path, labels = labelled(tmp_path, [0.0], [1.0])
    (tmp_path / "notes.txt").write_text("no transcript")
    (tmp_path / "gone.jsonl").symlink_to("nowhere")
    low = ["--labels", labels, "--min-auc", "0.9", "--json"]
    call("audit", path, *low, code=1)
    call("audit", path, tmp_path / "gone.jsonl", *low, code=5)
    result = call("audit", path, tmp_path / "notes.txt", *low, code=2)
    assert json.loads(result.stdout)["overall"]["auc"]["return"]["value"] == 0.0
