"""`agentlearn review`: the gate, both reviewers, every ending, and what pipelines read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agentlearn.review.gate import MARK
from tests.commands import HEAD, call
from tests.files import lines_file
from tests.reviews import (
    BODY,
    DESCRIPTION,
    PERSON,
    WISH,
    Project,
    calls,
    note_call,
    review,
    script,
    session_lines,
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    made = Project(tmp_path / "project")
    monkeypatch.chdir(made.folder)
    return made


def by_model(project: Project, *replies: dict[str, Any], code: int = 0, args: Any = ()) -> Any:
    model = script(project.folder.parent, *replies)
    return review(project.path, "--model", model, *args, code=code)


DONE = {"text": "Nothing more to save.", "usage": {"input_tokens": 50, "output_tokens": 5}}


def test_a_model_reviews_a_session(project: Project) -> None:
    first = calls(note_call(), usage={"input_tokens": 100, "output_tokens": 20})
    result = by_model(project, first, DONE)
    (session,) = result["sessions"]
    assert {key: session[key] for key in ("id", "dialect", "reviewer", "model", "outcome")} == {
        "id": "s1",
        "dialect": "native",
        "reviewer": "model",
        "model": "scripted:replies.jsonl",
        "outcome": "converged",
    }
    assert session["gate"] == {
        "passed": True,
        "reason": "the person said how things are done, in line 8",
    }
    assert session["iterations"] == 2
    assert session["usage"] == {"input_tokens": 150, "output_tokens": 25}
    (change,) = session["changes"]
    assert {key: change[key] for key in ("kind", "action", "name", "text", "status", "reason")} == {
        "kind": "memory",
        "action": "add",
        "name": "MEMORY",
        "text": WISH,
        "status": "applied",
        "reason": None,
    }
    assert change["path"] == ".agentlearn/memory/MEMORY.md"
    (evidence,) = change["evidence"]
    assert set(evidence) == {"session", "path", "start", "end", "unit", "sha256"}
    assert (evidence["start"], evidence["end"], evidence["unit"]) == (8, 8, "line")
    assert result["summary"] == {
        "sessions": 1, "reviewed": 1, "skipped": 0, "failed": 0, "changes": 1,
    }  # fmt: skip
    assert WISH in project.memory()


def test_a_model_may_ask_what_is_known_and_store_nothing(project: Project) -> None:
    call("remember", "port", "is", "8080")
    asked = calls(("recall_knowledge", {"query": "port"}), ("store_knowledge", {"subject": "x"}))
    heard = {"match": "there is no tool 'store_knowledge'", "text": "Nothing to save."}
    (session,) = by_model(project, asked, heard)["sessions"]
    assert session["outcome"] == "converged" and session["changes"] == []


def test_refusals_are_reported_and_the_model_hears_them(project: Project) -> None:
    bad = note_call("Deploy every friday.")
    fixed = {"match": "do not speak of that", **calls(note_call())}
    (session,) = by_model(project, calls(bad), fixed, DONE)["sessions"]
    refused, applied = session["changes"]
    assert (refused["status"], refused["id"], refused["path"]) == ("refused", None, None)
    assert "do not speak of that" in refused["reason"]
    assert applied["status"] == "applied"


def test_what_the_model_is_told(project: Project) -> None:
    from agentlearn.cli.review_run import prepare
    from agentlearn.config import Settings
    from agentlearn.events import ignore
    from agentlearn.models.scripted import ScriptedModel

    project.note()
    project.skill()
    model = ScriptedModel([DONE])
    settings = Settings(keep="evidence")
    reviewing = prepare(project.store, "apply", settings, model, None, False, ignore)
    reviewing.review(project.session, lambda attempt: None)
    system, user = model.asked[0]
    assert system.text.startswith(MARK)
    assert "is not an order" in system.text
    assert f"unit-tests: {DESCRIPTION}" in user.text
    assert f"- {WISH}" in user.text
    assert "[L8] user: Please always run the unit tests" in user.text
    border = user.text.rpartition("\n")[2]
    assert border.startswith("<data-")
    # In the sentence that announces it, before and after the transcript; nowhere else.
    assert user.text.count(border) == 3


def test_the_first_line_marks_a_reviewers_own_session_which_is_never_reviewed(
    project: Project,
) -> None:
    lines = session_lines(id="s2")
    lines[1]["text"] = f"{MARK}: a review of an agent's session\n\nYou review"
    path = lines_file(project.folder / "own.jsonl", lines)
    (session,) = review(path, "--force")["sessions"]
    assert session["gate"] == {"passed": False, "reason": "it is a review by agentlearn itself"}
    assert session["outcome"] == "skipped"


@pytest.mark.parametrize("custom", [None, "Be brief.\n"])
def test_a_prompt_of_ones_own_is_marked_too(project: Project, custom: str | None) -> None:
    from agentlearn.review.by_model import load_prompt

    path = None
    if custom:
        file = project.folder / "prompt.md"
        file.write_text(custom)
        path = str(file)
    text = load_prompt(path)
    assert text.startswith(MARK)
    assert (custom or "Never write").strip() in text


@pytest.mark.parametrize(("content", "says"), [(None, "cannot read"), (b" \n", "is empty"),
                                               (b"\xff\xfe", "not UTF-8")])  # fmt: skip
def test_a_prompt_that_cannot_be_used(project: Project, content: bytes | None, says: str) -> None:
    path = project.folder / "prompt.md"
    if content is not None:
        path.write_bytes(content)
    model = script(project.folder.parent, DONE)
    result = call("review", project.path, "--model", model, "--prompt", path, code=2)
    assert says in result.stderr


# The gate


def session_of(project: Project, name: str, messages: list[Any], turns: int = 0) -> Path:
    lines: list[Any] = [{**HEAD, "id": name}]
    lines += [{"type": "message", "role": role, "text": text} for role, text in messages]
    for number in range(turns):
        one = {"type": "call", "id": f"c{number}", "tool": "read", "arguments": {"n": number}}
        lines += [one, {"type": "result", "call_id": f"c{number}", "text": "ok"}]
    return lines_file(project.folder / f"{name}.jsonl", lines)


@pytest.mark.parametrize(
    ("messages", "turns", "args", "passed", "reason"),
    [
        ([("user", "hello")], 9, [], False, "only 9 tool calls (10 are enough)"),
        ([("user", "hello")], 10, [], True, "it made 10 tool calls"),
        ([("user", "hello")], 3, ["--nudge-interval", "3"], True, "it made 3 tool calls"),
        ([("user", "hello")], 0, ["--force"], True, "forced"),
        ([("user", "remember that ids are strings")], 0, [], True, "asked to remember"),
        ([("user", "hi"), ("assistant", "x"), ("user", "no, that's wrong")], 0, [], True,
         "corrected the agent in line 4"),
    ],
)  # fmt: skip
def test_the_gate_says_why(
    project: Project,
    messages: list[Any],
    turns: int,
    args: list[str],
    passed: bool,
    reason: str,
) -> None:
    path = session_of(project, "gate", messages, turns)
    (session,) = review(path, *args)["sessions"]
    assert session["gate"]["passed"] is passed
    assert reason in session["gate"]["reason"]


def test_a_session_is_reviewed_once_by_the_same_reviewer(project: Project) -> None:
    assert review(project.path)["summary"]["reviewed"] == 1
    before = project.files(), project.memory()
    (session,) = review(project.path)["sessions"]
    assert "reviewed already" in session["gate"]["reason"]
    assert review(project.path, "--force")["summary"]["changes"] == 0
    assert (project.files(), project.memory()) == before
    # Another reviewer, or more of the session, is another review.
    assert by_model(project, DONE)["summary"]["reviewed"] == 1
    assert by_model(project, DONE)["summary"]["skipped"] == 1
    with project.path.open("a") as file:
        file.write(json.dumps({"type": "message", "role": "user", "text": "one more"}) + "\n")
    assert review(project.path)["summary"]["reviewed"] == 1


def test_another_prompt_is_another_review(project: Project, tmp_path: Path) -> None:
    assert by_model(project, DONE)["summary"]["reviewed"] == 1
    prompt = tmp_path / "prompt.md"
    prompt.write_text("Be brief.")
    assert by_model(project, DONE, args=["--prompt", prompt])["summary"]["reviewed"] == 1


def test_a_dry_run_is_no_review_and_writes_nothing(project: Project) -> None:
    before = sorted(path for path in project.folder.rglob("*"))
    result = call("review", project.path, "--dry-run")
    assert "+- Always run the unit tests through make test" in result.stdout
    assert "+++ b/.agentlearn/memory/MEMORY.md" in result.stdout
    assert sorted(path for path in project.folder.rglob("*")) == before
    assert review(project.path)["summary"]["reviewed"] == 1


# Endings


def test_a_model_that_never_stops_is_exhausted(project: Project) -> None:
    again = [calls(("skill_list", {}), usage={"input_tokens": 10, "output_tokens": 1})] * 9
    (session,) = by_model(project, *again)["sessions"]
    assert (session["outcome"], session["iterations"]) == ("exhausted", 6)
    (session,) = by_model(project, *again, args=["--max-iterations", "2", "--force"])["sessions"]
    assert (session["outcome"], session["iterations"]) == ("exhausted", 2)


def test_tokens_are_bounded(project: Project) -> None:
    costly = calls(("skill_list", {}), usage={"input_tokens": 9_000, "output_tokens": 1_000})
    args = ["--max-tokens", "20000"]
    (session,) = by_model(project, *[costly] * 9, args=args)["sessions"]
    assert session["outcome"] == "exhausted"
    assert session["iterations"] == 2


def test_a_model_that_was_never_asked_has_reviewed_nothing(project: Project) -> None:
    result = by_model(project, DONE, args=["--max-tokens", "10"], code=1)
    (session,) = result["sessions"]
    assert (session["outcome"], session["iterations"]) == ("exhausted", 0)
    assert (result["summary"]["reviewed"], result["summary"]["failed"]) == (0, 1)
    model = script(project.folder.parent, DONE)
    said = call("review", project.path, "--model", model, "--max-tokens", "10", code=1).stderr
    assert "error: session s1: the model was not asked" in said
    assert by_model(project, DONE)["summary"]["reviewed"] == 1


@pytest.mark.parametrize("why", ["secret", "link", "full"])
def test_a_store_that_takes_nothing_was_not_reviewed_into(
    project: Project, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    memory = project.folder / ".agentlearn/memory"
    memory.parent.mkdir()
    if why == "link":
        (project.folder / "elsewhere").mkdir()
        memory.symlink_to(project.folder / "elsewhere")
    else:
        memory.mkdir()
        text = f"- token {'gh'}p_{'a1B2' * 9}\n" if why == "secret" else f"- {'y ' * 1100}\n"
        (memory / "MEMORY.md").write_text(text)
    for code, run in ((1, review), (1, lambda *args, code: by_model(
        project, calls(note_call()), DONE, code=code))):  # fmt: skip
        result = run(project.path, code=code)
        assert [each["outcome"] for each in result["sessions"]] == ["failed"]
        assert result["summary"]["reviewed"] == 0
    memory.unlink() if why == "link" else (memory / "MEMORY.md").unlink()
    assert review(project.path)["summary"] == {
        "sessions": 1, "reviewed": 1, "skipped": 0, "failed": 0, "changes": 1,
    }  # fmt: skip


def test_a_full_memory_says_how_to_make_room(project: Project) -> None:
    (project.folder / ".agentlearn/memory").mkdir(parents=True)
    (project.folder / ".agentlearn/memory/MEMORY.md").write_text(f"- {'y ' * 1100}\n")
    said = call("review", project.path, code=1).stderr
    assert "hint: edit MEMORY.md by hand" in said
    (project.folder / "agentlearn.toml").write_text("memory_chars = 4000\n")
    assert review(project.path)["summary"]["changes"] == 1


def test_what_there_was_no_room_for_comes_again(project: Project) -> None:
    path = session_of(
        project, "two", [("user", "remember that short is fine"),
                         ("user", f"remember that {'long ' * 20}is fine as well")], 12,
    )  # fmt: skip
    (project.folder / "agentlearn.toml").write_text("memory_chars = 100\n")
    said = call("review", path).stderr
    assert "1 change made\n  not written: 1, because MEMORY.md is full\n" in said
    assert "agentlearn.toml; then review again" in said
    (project.folder / "agentlearn.toml").write_text("memory_chars = 4000\n")
    assert review(path)["summary"]["changes"] == 1
    assert "not reviewed" in call("review", path).stdout


def test_a_model_that_met_a_full_memory_has_reviewed_all_the_same(project: Project) -> None:
    (project.folder / ".agentlearn/memory").mkdir(parents=True)
    (project.folder / ".agentlearn/memory/MEMORY.md").write_text(f"- {'y ' * 1090}\n")
    user = note_call(target="USER")
    answers = [calls(note_call(), user), DONE]
    by_model(project, *answers)
    said = call("review", project.path, "--model", script(project.folder.parent, *answers)).stderr
    assert "it was reviewed already" in said


def test_a_batch_of_which_the_store_took_a_part_exits_5(project: Project) -> None:
    (project.folder / ".agentlearn/memory").mkdir(parents=True)
    (project.folder / ".agentlearn/memory/MEMORY.md").write_text(f"- {'y ' * 1100}\n")
    quiet = session_of(project, "quiet", [("user", "hello")], 12)
    result = review(project.path, quiet, code=5)
    assert (result["summary"]["reviewed"], result["summary"]["failed"]) == (1, 1)


def test_a_model_that_fails_keeps_what_was_written_and_exits_4(project: Project) -> None:
    result = by_model(project, calls(note_call()), {"fail": "the server is gone"}, code=4)
    (session,) = result["sessions"]
    assert session["outcome"] == "failed"
    assert [change["status"] for change in session["changes"]] == ["applied"]
    assert result["summary"]["failed"] == 1
    assert WISH in project.memory()
    # It was not reviewed to the end, so it is reviewed again.
    assert by_model(project, DONE)["summary"]["reviewed"] == 1


def test_a_failing_model_does_not_end_a_batch_at_once(project: Project) -> None:
    for number in range(6):
        lines_file(project.folder / f"b{number}.jsonl", session_lines(id=f"b{number}"))
    paths = sorted(project.folder.glob("b*.jsonl"))
    model = script(project.folder.parent, {"fail": "gone"}, DONE, *[{"fail": "gone"}] * 9)
    result = review(*paths, "--model", model, code=4)
    assert [session["outcome"] for session in result["sessions"]] == [
        "failed", "converged", "failed", "failed", "failed",
    ]  # fmt: skip


def test_a_run_that_stops_says_how_much_it_did_not_try(project: Project) -> None:
    paths = [
        lines_file(project.folder / f"t{number}.jsonl", session_lines(id=f"t{number}"))
        for number in range(6)
    ]
    model = script(project.folder.parent, *[{"fail": "gone"}] * 6)
    said = call("review", *paths, "--model", model, "--events", "-", code=4).stderr
    assert said.endswith(
        "reviewed 0 of 6 sessions: 0 changes made\n  not reviewed to the end: 3\n"
        "  not tried: 3, because the model failed\n"
    )
    assert "error: session t2: gone\n" in said
    events = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    reading = [event for event in events if event.get("status") == "reading"]
    assert [(event["iteration"], event["max_iterations"]) for event in reading] == [
        (1, 6), (2, 6), (3, 6),
    ]  # fmt: skip


def test_the_summary_counts_everything(project: Project) -> None:
    quiet = session_of(project, "quiet", [("user", "hello")], 2)
    both = [*session_lines(id="x1"), *session_lines(id="x2"), *session_lines(id="x3")]
    several = lines_file(project.folder / "several.jsonl", both)
    broken = project.folder / "broken.jsonl.gz"
    broken.write_bytes(b"\x1f\x8b\x08junk")
    for path in (quiet, broken):  # they have no times in them, and come first
        os.utime(path, (1_000_000, 1_000_000))
    paths = [project.path, quiet, several, broken]
    for number in range(2):
        head = {"id": f"z{number}", "started_at": "2026-12-01T09:00:00Z"}
        paths.append(lines_file(project.folder / f"z{number}.jsonl", session_lines(**head)))
    replies = [DONE, *[{"fail": "gone"}] * 9]
    model = script(project.folder.parent, *replies)
    result = call("review", *paths, "--model", model, "--format", "json", code=4)
    assert json.loads(result.stdout)["summary"] == {
        "sessions": 8, "reviewed": 1, "skipped": 3, "failed": 4, "changes": 0,
    }  # fmt: skip
    assert "reviewed 1 of 8 sessions: 0 changes made\n" in result.stderr
    for line in ("not reviewed: 1, because it made too few", "not reviewed to the end: 3",
                 "not read: 1, see", "not tried: 2, because the model failed"):  # fmt: skip
        assert f"  {line}" in result.stderr


def test_twenty_calls_at_once_are_all_answered(project: Project) -> None:
    many = [note_call(f"Unit tests run through make test, case {number}.") for number in range(20)]
    (session,) = by_model(project, calls(*many), DONE)["sessions"]
    assert len(session["changes"]) == 20
    assert session["outcome"] == "converged"


def test_hostile_calls_change_nothing(project: Project) -> None:
    hostile = calls(
        ("run_shell", {"command": "rm -rf ."}),
        ("skill_manage", {"action": "create", "name": "../../x", "description": DESCRIPTION,
                          "body": BODY, "evidence": [PERSON]}),
        ("memory", "{broken"),
        ("memory", {"action": "add", "target": "/etc/passwd", "text": "x"}),
    )  # fmt: skip
    (session,) = by_model(project, hostile, DONE)["sessions"]
    assert session["outcome"] == "converged"
    assert project.files() == []


def test_ctrl_c_ends_as_aborted_between_changes(project: Project) -> None:
    replies = [calls(note_call()), {"sleep_seconds": 60, **DONE}]
    model = script(project.folder.parent, *replies)
    events = project.folder.parent / "events.jsonl"
    command = [sys.executable, "-m", "agentlearn", "review", str(project.path), "--model", model,
               "--format", "json", "--events", str(events)]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=project.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while WISH not in project.memory() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    (session,) = json.loads(stdout)["sessions"]
    assert session["outcome"] == "aborted"
    assert [change["status"] for change in session["changes"]] == ["applied"]
    kinds = [json.loads(line) for line in events.read_text().splitlines()]
    completions = [event for event in kinds if event["type"] == "completion"]
    assert [(event["outcome"], event["reason"]) for event in completions] == [
        ("aborted", "interrupted")
    ]
    assert project.store.state().unfinished is None


# Who reviews


def test_rules_are_the_default_and_one_line_says_so(project: Project) -> None:
    result = call("review", project.path)
    assert result.stderr.count("reviewed by the rules (no model is named") == 1
    result = call("review", project.path, "--reviewer", "rules", "--model", "x", "--force")
    assert "note: reviewed by the rules\n" in result.stderr


def test_a_key_alone_names_no_model(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    assert review(project.path)["sessions"][0]["reviewer"] == "rules"


def test_the_environment_may_name_the_model(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTLEARN_MODEL", script(project.folder.parent, DONE))
    assert review(project.path)["sessions"][0]["reviewer"] == "model"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--reviewer", "model"], "needs the name of one"),
        (["--reviewer", "nobody"], "must be auto, model or rules"),
        (["--dry-run", "--stage"], "exclude each other"),
        (["--format", "xml"], "is none of"),
        (["--max-iterations", "0"], "must be at least 1"),
        (["--model", "scripted:/nowhere.jsonl"], "cannot read the script"),
        (["--long", "all"], "must be evidence, tail, ends or rlm"),
    ],
)
def test_wrong_words_exit_2_and_write_nothing(project: Project, args: list[str], says: str) -> None:
    result = call("review", project.path, *args, code=2)
    assert says in result.stderr
    assert project.files() == []


# The rules


def test_the_rules_write_through_the_same_tools(project: Project) -> None:
    (session,) = review(project.path)["sessions"]
    assert session["outcome"] == "converged"
    assert session["usage"] == {"input_tokens": 0, "output_tokens": 0}
    assert [change["status"] for change in session["changes"]] == ["applied"]
    assert "- Always run the unit tests through make test" in project.memory()


def test_the_same_input_gives_the_same_bytes(tmp_path: Path, monkeypatch: Any) -> None:
    found = []
    for name in ("one", "two"):
        project = Project(tmp_path / name)
        monkeypatch.chdir(project.folder)
        review("s1.jsonl")
        found.append((project.memory(), project.files()))
    assert found[0] == found[1]


FAILS = [
    {"type": "call", "id": "d1", "tool": "bash", "arguments": {"command": "go test ./a"}},
    {"type": "result", "call_id": "d1", "status": "error", "exit_code": 1,
     "text": "compile: version go1.24 does not match go tool version go1.26"},
    {"type": "call", "id": "d2", "tool": "bash",
     "arguments": {"command": "mise exec -- go test ./a"}},
    {"type": "result", "call_id": "d2", "text": "ok  \ta\t0.9s", "exit_code": 0},
]  # fmt: skip
OTHER = [
    {"type": "call", "id": "e1", "tool": "bash", "arguments": {"command": "npm test"}},
    {"type": "result", "call_id": "e1", "status": "error", "exit_code": 127,
     "text": "sh: jest: command not found"},
    {"type": "call", "id": "e2", "tool": "bash", "arguments": {"command": "npm install"}},
    {"type": "result", "call_id": "e2", "text": "added 3 packages", "exit_code": 0},
    {"type": "call", "id": "e3", "tool": "bash", "arguments": {"command": "npm test"}},
    {"type": "result", "call_id": "e3", "text": "3 passed", "exit_code": 0},
]  # fmt: skip


def test_a_similar_session_patches_the_skill_it_fits(project: Project) -> None:
    lines_file(project.folder / "t1.jsonl", [{**HEAD, "id": "t1"}, *FAILS])
    lines_file(project.folder / "t2.jsonl", [{**HEAD, "id": "t2"}, *OTHER])
    lines_file(project.folder / "t3.jsonl", [{**HEAD, "id": "t3"}, *FAILS])
    results = [
        review(project.folder / f"t{number}.jsonl", "--force")["sessions"][0]["changes"]
        for number in (1, 2, 3)
    ]
    assert [[change["action"] for change in changes] for changes in results] == [
        ["create"], ["patch"], [],
    ]  # fmt: skip
    assert project.files() == [".agents/skills/run-tests/SKILL.md"]
    text = project.text("run-tests")
    assert "`mise exec -- go test` works." in text
    assert "until `npm install` was run." in text


def test_the_same_remedy_with_another_value_is_no_news(project: Project) -> None:
    def session(name: str, cache: str) -> Path:
        lines = json.loads(json.dumps(FAILS))
        lines[1]["text"] = f"open {cache}/a: operation not permitted"
        lines[2]["arguments"]["command"] = f"GOCACHE={cache} go test ./a"
        return lines_file(project.folder / f"{name}.jsonl", [{**HEAD, "id": name}, *lines])

    first = review(session("one", "/tmp/one"), "--force")["summary"]
    second = review(session("two", "/tmp/two"), "--force")["summary"]
    assert (first["changes"], second["changes"]) == (1, 0)


# Batches


def test_sessions_are_reviewed_in_the_order_of_time(project: Project) -> None:
    for name, day in (("a", 3), ("b", 1), ("c", 2)):
        head = {"id": name, "started_at": f"2026-10-0{day}T09:00:00Z"}
        lines_file(project.folder / f"{name}.jsonl", session_lines(**head))
    result = review(*(project.folder / f"{name}.jsonl" for name in "abc"))
    assert [session["id"] for session in result["sessions"]] == ["b", "c", "a"]
    assert result["summary"]["changes"] == 1  # the second and third say the same


def test_the_order_of_time_knows_zones(project: Project) -> None:
    zones = {"a": "2026-10-02T08:00:00+09:00", "b": "2026-10-01T22:00:00Z",
             "c": "2026-10-01T19:00:00-05:00"}  # fmt: skip
    for name, time_ in zones.items():
        lines_file(project.folder / f"{name}.jsonl", session_lines(id=name, started_at=time_))
    result = review(*(project.folder / f"{name}.jsonl" for name in "cab"))
    assert [session["id"] for session in result["sessions"]] == ["b", "a", "c"]
    both = [*session_lines(id="late", started_at=zones["a"]),
            *session_lines(id="early", started_at=zones["b"])]  # fmt: skip
    path = lines_file(project.folder / "both.jsonl", both)
    assert [session["id"] for session in review(path)["sessions"]] == ["early", "late"]


def test_what_began_when_is_for_its_reader_to_say(project: Project) -> None:
    """Documents keep their times in all shapes; a file may have been copied in any order."""

    def trajectory(name: str, seconds: int) -> Path:
        reply = {"role": "assistant", "content": "```bash\nls\n```",
                 "extra": {"response": {"created": seconds}}}  # fmt: skip
        document = {
            "info": {"exit_status": "Submitted", "mini_version": "1.0"},
            "trajectory_format": "mini-swe-agent-1",
            "messages": [
                {"role": "system", "content": "x"},
                {"role": "user", "content": name},
                reply,
            ],
        }
        path = project.folder / f"{name}.traj.json"
        path.write_text(json.dumps(document))
        return path

    first, second = trajectory("first", 1_760_000_000), trajectory("second", 1_770_000_000)
    os.utime(first, (2_000_000_000, 2_000_000_000))
    os.utime(second, (1_000_000_000, 1_000_000_000))
    result = review(second, first, "--force", "--dry-run")
    assert [Path(session["path"]).name for session in result["sessions"]] == [
        first.name, second.name,
    ]  # fmt: skip


def test_sessions_of_one_file_are_put_in_order_too(project: Project) -> None:
    late = session_lines(id="late", started_at="2026-10-03T09:00:00Z")
    early = session_lines(id="early", started_at="2026-10-01T09:00:00Z")
    path = lines_file(project.folder / "two.jsonl", [*late, *early])
    assert [session["id"] for session in review(path)["sessions"]] == ["early", "late"]


def test_a_walked_file_that_is_no_transcript_is_counted_a_named_one_is_an_error(
    project: Project,
) -> None:
    logs = project.folder / "logs"
    logs.mkdir()
    (logs / "notes.txt").write_text("just words")
    lines_file(logs / "s.jsonl", session_lines(id="s3"))
    assert review(logs)["summary"]["sessions"] == 1
    result = call("review", project.path, logs / "notes.txt", "--format", "json", code=2)
    assert json.loads(result.stdout)["summary"]["reviewed"] == 1
    assert "notes.txt is no transcript" in result.stderr


def test_json_lines_come_one_a_session(project: Project) -> None:
    lines_file(project.folder / "s2.jsonl", session_lines(id="s2"))
    result = call("review", project.path, project.folder / "s2.jsonl", "--format", "jsonl")
    assert [json.loads(line)["id"] for line in result.stdout.splitlines()] == ["s1", "s2"]


def test_a_session_on_stdin_has_evidence_with_a_hash(project: Project) -> None:
    result = call("review", "-", "--format", "json", stdin=project.path.read_bytes())
    (change,) = json.loads(result.stdout)["sessions"][0]["changes"]
    (evidence,) = change["evidence"]
    assert evidence["path"] == "-"
    assert len(evidence["sha256"]) == 64


def test_staged_changes_exit_3_and_wait(project: Project) -> None:
    result = review(project.path, "--stage", code=3)
    (change,) = result["sessions"][0]["changes"]
    assert change["status"] == "staged"
    assert project.memory() == ""
    assert "+- Always run the unit tests" in call("diff").stdout
    call("adopt", change["id"])
    assert "- Always run the unit tests" in project.memory()


def test_staged_nothing_exits_0(project: Project) -> None:
    path = session_of(project, "quiet", [("user", "hello")], 12)
    assert review(path, "--stage")["summary"]["changes"] == 0


def test_the_persons_own_store(project: Project, own_home: Path) -> None:
    review(project.path, "--user")
    assert project.files() == []
    assert "make test" in (own_home / "agentlearn/memory/MEMORY.md").read_text()


# Events


def test_events_tell_the_steps_and_nothing_of_the_text(project: Project) -> None:
    path = project.folder / "run.jsonl"
    by_model(project, calls(note_call()), DONE, args=["--events", path])
    events = [json.loads(line) for line in path.read_text().splitlines()]
    assert [event["type"] for event in events] == [
        "review_started", "progress", "change_made", "progress", "completion",
    ]  # fmt: skip
    assert len({event["trace_id"] for event in events}) == 1
    assert [event["iteration"] for event in events if event["type"] == "progress"] == [1, 2]
    assert "make test" not in path.read_text()
    assert str(project.folder) not in path.read_text()
    durable = (project.folder / ".agentlearn/events.jsonl").read_text().splitlines()
    assert [{**json.loads(line), "at": ""} for line in durable] == [
        {**event, "at": ""} for event in events
    ]


def test_events_may_go_to_stderr(project: Project) -> None:
    result = call("review", project.path, "--events", "-", "--format", "json")
    json.loads(result.stdout)
    assert '"type":"completion"' in result.stderr


def test_events_on_a_terminal_are_lines_and_nothing_else(project: Project) -> None:
    import pty

    ours, theirs = pty.openpty()
    model = script(project.folder.parent, {"sleep_seconds": 0.5, **DONE})
    command = [sys.executable, "-m", "agentlearn", "review", str(project.path), "--model", model,
               "--format", "json", "--events", "-"]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=project.folder, stdout=subprocess.DEVNULL, stderr=theirs,
        stdin=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    said = b""
    while True:
        try:
            some = os.read(ours, 65536)
        except OSError:
            break
        said += some
    assert process.wait() == 0
    assert b"\x1b" not in said
    events = [json.loads(line) for line in said.splitlines() if line.startswith(b"{")]
    assert [event["type"] for event in events] == ["review_started", "progress", "completion"]


def test_an_id_acts_nowhere(project: Project) -> None:
    secret = f"{'gh'}p_{'a1B2' * 9}"
    lines = session_lines(id=f"evil\x1b[31m\u202e{secret}")
    path = lines_file(project.folder / "evil.jsonl", lines)
    result = call("review", path, "--format", "json")
    (session,) = json.loads(result.stdout)["sessions"]
    assert session["id"] == "evil\\u202e[secret: github-token]"
    assert {each["session"] for change in session["changes"] for each in change["evidence"]} == {
        session["id"]
    }
    assert secret not in call("review", path, "--force").stdout


def test_events_that_cannot_be_written_are_an_error(project: Project) -> None:
    result = call("review", project.path, "--events", "/nowhere/x.jsonl", code=2)
    assert "events cannot be written" in result.stderr


def test_the_text_shows_the_diff_and_where_it_came_from(project: Project) -> None:
    out = call("review", project.path).stdout
    first, second, *rest = out.splitlines()
    assert first == "s1 (native): converged, 1 change"
    assert second.startswith("applied ")
    assert second.endswith("memory add MEMORY, from L8")
    assert (
        "+- Always run the unit tests through make test, plain pytest does not find the database."
        in rest
    )


def test_the_latest_is_the_session_not_its_helper(project: Project) -> None:
    """A sub-agent may write last; the session that started it is what was asked for."""
    folder = project.folder / "logs"
    main = lines_file(folder / "main.jsonl", session_lines(id="main"))
    helper = lines_file(folder / "main/subagents/agent-x.jsonl", session_lines(id="helper"))
    os.utime(main, (1_000_000, 1_000_000))
    os.utime(helper, (2_000_000, 2_000_000))
    (session,) = review(folder, "--latest")["sessions"]
    assert session["id"] == "main"


def test_exit_codes_where_several_apply(project: Project) -> None:
    model = script(project.folder.parent, {"fail": "gone"})
    call("review", project.path, "nowhere.jsonl", "--model", model, code=2)
    call("review", project.path, "nowhere.jsonl", "--stage", "--force", code=2)


@pytest.mark.parametrize("odd", ["token ghp_" + "a1B2" * 9, "a\x1b[31mred", "zero\u200bwidth"])
def test_what_is_cleaned_before_it_is_read_is_known_again(project: Project, odd: str) -> None:
    path = session_of(project, "odd", [("user", f"fix it: {odd}")], 12)
    model = script(project.folder.parent, DONE)
    call("review", path, "--model", model)
    assert "it was reviewed already" in call("review", path, "--model", model).stderr


def test_a_failed_session_says_why_in_json_too(project: Project) -> None:
    (session,) = by_model(project, {"fail": "the server is gone"}, code=4)["sessions"]
    assert "the server is gone" in session["error"]
    assert review(project.path)["sessions"][0]["error"] is None


def test_a_run_that_is_told_to_end_says_how_far_it_came(project: Project) -> None:
    slow = lines_file(project.folder.parent / "slow.jsonl", [{**DONE, "sleep_seconds": 30}])
    names = [str(session_of(project, f"s{n}", [("user", "hello")], 12)) for n in range(3)]
    command = [sys.executable, "-m", "agentlearn", "review", *names, "--json", "--model",
               f"scripted:{slow}"]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=project.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "session s0" in line:
            break
    process.terminate()
    out, said = process.communicate(timeout=60)
    assert process.returncode == 143
    assert json.loads(out)["summary"]["skipped"] == 3
    assert "not tried: 3, because it was told to end" in said
