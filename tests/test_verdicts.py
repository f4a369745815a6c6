"""Verdicts that lie beside a transcript."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentlearn.sessions import verdicts
from agentlearn.sessions.source import Source
from agentlearn.sessions.verdicts import Label, Sidecar, labels_in
from tests.files import document_file


def beside(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    return document_file(path, value)


def of_instance(path: Path, instance: str | None) -> tuple[Any, ...] | None:
    with Source(path) as source:
        return told(verdicts.of_instance(source, instance))


def told(found: Sidecar | None) -> tuple[Any, ...] | None:
    """All that it says, without what nobody said."""
    if found is None:
        return None
    facts = (found.text, found.score, found.broke, found.task)
    return tuple(fact for fact in facts if fact is not None)


def of_trial(path: Path) -> tuple[Any, ...] | None:
    with Source(path) as source:
        return told(verdicts.of_trial(source))


SHAPES = [
    {
        "instances": [
            {"instance_id": "a", "resolved": True},
            {"instance_id": "b", "resolved": False},
        ]
    },
    [{"instance_id": "a", "resolved": True}, {"instance_id": "b", "resolved": False}],
    {"resolved_ids": ["a"], "unresolved_ids": ["b"], "error_ids": ["c"], "submitted_ids": ["d"]},
    {"resolved_ids": ["a"], "completed_ids": ["a", "b"], "total_instances": 4},
    {"resolved": ["a"], "unresolved": ["b"]},
    {"resolved": ["a"], "applied": ["a", "b"], "generated": ["a", "b", "c"], "with_logs": ["d"]},
    {"resolved": ["a"], "no_generation": ["b"]},
    {"a": {"resolved": True, "patch_exists": True}, "b": {"resolved": False}},
    {"instances": {"a": {"resolved": True}, "b": {"resolved": False}}},
]


@pytest.mark.parametrize("shape", SHAPES)
def test_labels_of_every_shape(shape):
    labels = labels_in(shape)
    assert {name: label.resolved for name, label in labels.items()} == {"a": True, "b": False}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_leads_to_a_label_leads_to_its_name(shape):
    for name, label in labels_in(shape).items():
        inside, last = shape, None
        for key in label.within:
            inside, last = inside[key], key
        assert name in (inside, last) or inside["instance_id"] == name


def test_a_row_of_its_own():
    assert labels_in({"instance_id": "a", "resolved": True, "model": "m"}) == {"a": Label(True, ())}


@pytest.mark.parametrize(
    "odd",
    [None, 3, "x", [], {}, [None, 1, {"instance_id": 5, "resolved": True}], {"resolved": True},
     {"resolved_ids": "a"}, {"resolved_ids": [1, None]}, {"a": {"resolved": "yes"}}, {"a": None},
     {"instances": 5}],
)  # fmt: skip
def test_odd_reports_label_nothing(odd):
    assert labels_in(odd) == {}


def test_report_of_the_folder_names_the_instance(tmp_path):
    run = beside(tmp_path / "x__y-1.traj.json", [])
    beside(tmp_path / "results_summary.json", {"resolved_ids": ["x__y-1"], "unresolved_ids": ["z"]})
    assert of_instance(run, "x__y-1") == ("results_summary.json: x__y-1 resolved", 1.0)
    assert of_instance(run, None) == ("results_summary.json: x__y-1 resolved", 1.0)
    assert of_instance(run, "z") == ("results_summary.json: z not resolved", 0.0)
    assert of_instance(run, "not-named") is None


@pytest.mark.parametrize(
    "name", ["a.traj", "a.traj.json", "a.json", "a.traj.json.gz", "a.jsonl.zst"]
)
def test_the_stem_is_the_instance(tmp_path, name):
    run = beside(tmp_path / name, [])
    beside(tmp_path / "report.json", {"a": {"resolved": False}})
    assert of_instance(run, None) == ("report.json: a not resolved", 0.0)


def test_report_one_folder_up_but_not_two(tmp_path):
    beside(tmp_path / "results.json", {"resolved": ["a"]})
    near = beside(tmp_path / "a" / "a.traj", {})
    far = beside(tmp_path / "deep" / "a" / "a.traj", {})
    assert of_instance(near, None) == ("results.json: a resolved", 1.0)
    assert of_instance(far, None) is None


def test_the_most_particular_report_wins(tmp_path):
    run = beside(tmp_path / "in" / "a.traj", {})
    beside(tmp_path / "results.json", {"resolved": ["a"]})
    beside(tmp_path / "in" / "results_summary.json", {"unresolved_ids": ["a"]})
    assert of_instance(run, None) == ("results_summary.json: a not resolved", 0.0)
    beside(tmp_path / "in" / "report.json", {"a": {"resolved": True}})
    assert of_instance(run, None) == ("report.json: a resolved", 1.0)


def test_a_prefixed_report_is_for_its_own_prefix(tmp_path):
    first = beside(tmp_path / "one__a.traj.json", {})
    second = beside(tmp_path / "two__a.traj.json", {})
    beside(tmp_path / "one__results_summary.json", {"resolved_ids": ["a"]})
    assert of_instance(second, "a") == ("one__results_summary.json: a resolved", 1.0)
    beside(tmp_path / "three__results_summary.json", {"unresolved_ids": ["a"]})
    assert of_instance(first, "a") == ("one__results_summary.json: a resolved", 1.0)
    assert of_instance(second, "a") is None


def test_a_changed_report_is_read_again(tmp_path):
    run = beside(tmp_path / "a.traj", {})
    report = beside(tmp_path / "report.json", {"a": {"resolved": True}})
    assert of_instance(run, None) == ("report.json: a resolved", 1.0)
    report.write_text(json.dumps({"a": {"resolved": False}}))
    assert of_instance(run, None) == ("report.json: a not resolved", 0.0)
    report.unlink()
    assert of_instance(run, None) is None


def test_a_link_is_not_followed(tmp_path):
    elsewhere = beside(tmp_path / "elsewhere.json", {"a": {"resolved": True}})
    run = beside(tmp_path / "run" / "a.traj", {})
    (tmp_path / "run" / "report.json").symlink_to(elsewhere)
    assert of_instance(run, None) is None


def test_a_pipe_or_a_folder_in_place_of_a_report_is_not_opened(tmp_path):
    run = beside(tmp_path / "a.traj", {})
    os.mkfifo(tmp_path / "report.json")
    (tmp_path / "results.json").mkdir()
    assert of_instance(run, None) is None


def test_a_huge_report_is_not_read(tmp_path):
    run = beside(tmp_path / "a.traj", {})
    with (tmp_path / "report.json").open("wb") as report:
        report.write(b'{"a": {"resolved": true}}')
        report.truncate(verdicts.MOST_BYTES + 1)
    assert of_instance(run, None) is None


@pytest.mark.parametrize("text", ["", "{", "\x00\xff", "NaN", "[" * 100_000])
def test_a_broken_report_says_nothing(tmp_path, text):
    run = beside(tmp_path / "a.traj", {})
    (tmp_path / "report.json").write_text(text, encoding="latin-1")
    assert of_instance(run, None) is None


def test_no_verdict_for_a_pipe():
    with Path(os.devnull).open("rb") as empty, Source(None, empty) as source:
        assert verdicts.of_instance(source, "a") is None
        assert verdicts.of_trial(source) is None


RESULT: dict[str, Any] = {"trial_name": "t", "task_name": "hello", "exception_info": None}


@pytest.mark.parametrize(
    ("rewards", "score", "words"),
    [
        ({"reward": 1.0}, 1.0, "reward 1"),
        ({"reward": 0}, 0.0, "reward 0"),
        ({"reward": 0.5, "style": 1}, 0.5, "reward 0.5, style 1"),
        ({"tests": 1.0, "style": 0.5}, 0.75, "tests 1, style 0.5"),
        ({"tests": True}, 1.0, "tests 1"),
    ],
)
def test_reward_of_a_trial(tmp_path, rewards, score, words):
    run = beside(tmp_path / "trial" / "agent" / "trajectory.json", {})
    beside(tmp_path / "trial" / "result.json", RESULT | {"verifier_result": {"rewards": rewards}})
    assert of_trial(run) == (f"result.json: {words}", score, "hello")


def test_a_trial_that_broke_was_judged_all_the_same(tmp_path):
    run = beside(tmp_path / "agent" / "trajectory.json", {})
    broken = {"exception_info": {"exception_type": "AgentTimeoutError", "exception_message": "x"}}
    beside(tmp_path / "result.json", RESULT | broken)
    nobody = ("result.json: no reward after AgentTimeoutError", "AgentTimeoutError", "hello")
    assert of_trial(run) == nobody
    beside(tmp_path / "verifier" / "reward.txt", 0)
    assert of_trial(run) == nobody
    judged = {"verifier_result": {"rewards": {"reward": 1}}}
    beside(tmp_path / "result.json", RESULT | broken | judged)
    assert of_trial(run) == (
        "result.json: reward 1 after AgentTimeoutError",
        1.0,
        "AgentTimeoutError",
        "hello",
    )


def test_reward_files_of_a_verifier(tmp_path):
    run = beside(tmp_path / "agent" / "trajectory.json", {})
    beside(tmp_path / "verifier" / "reward.json", {"reward": 0.25})
    assert of_trial(run) == ("verifier/reward.json: reward 0.25", 0.25)
    (tmp_path / "verifier" / "reward.txt").write_text(" 1.0\n")
    assert of_trial(run) == ("verifier/reward.txt: 1", 1.0)
    (tmp_path / "verifier" / "reward.txt").write_text("nan")
    assert of_trial(run) == ("verifier/reward.json: reward 0.25", 0.25)


def test_the_result_of_a_whole_job_is_no_verdict(tmp_path):
    run = beside(tmp_path / "trial" / "agent" / "trajectory.json", {})
    beside(tmp_path / "result.json", {"stats": {"reward": 1.0}, "rewards": {"reward": 1.0}})
    assert of_trial(run) is None


ODD = [None, 1, "x", [], {}, {"rewards": None}, {"rewards": []}, {"rewards": {"reward": "1"}}]


@pytest.mark.parametrize("odd", ODD)
def test_odd_results_are_no_verdict(tmp_path, odd):
    run = beside(tmp_path / "agent" / "trajectory.json", {})
    beside(tmp_path / "result.json", RESULT | {"verifier_result": odd, "exception_info": odd})
    assert of_trial(run) is None
