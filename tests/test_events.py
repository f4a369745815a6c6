"""Events say only what may be shown and kept, and a log of them is never torn."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from agentlearn.errors import AgentlearnError
from agentlearn.events import (
    ChangeMade,
    Completion,
    Event,
    EventLog,
    Progress,
    ReviewStarted,
    SessionSkipped,
    SubcallFallback,
    Usage,
    new_trace_id,
    tee,
)
from agentlearn.events.safe import Safe, cleaners
from agentlearn.events.values import _Event

CLASSES: list[Any] = list(get_args(Event))
HOSTILE = [
    "Fix the login page of Anna Miller, please",
    "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "github_pat_11AAAAAAA0abcdefghijkl",
    "AKIAIOSFODNN7EXAMPLE",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
    "xoxb-1234567890-abcdefgh",
    "/home/anna/projects/login/session.jsonl",
    "~/projects/login.jsonl",
    "../../etc/passwd",
    "C:\\Users\\anna\\login.jsonl",
    "C:/Users/anna/login.jsonl",
    "file:///home/anna/model.gguf",
    "scripted:/home/anna/replies.jsonl",
    "two\nlines",
    "two\r\nlines",
    "red \x1b[31mtext\x1b[0m",
    "nul\x00byte",
    "turned \u202eround",
    "half of a pair \ud800",
    "long" * 200,
]
ODD: list[Any] = [
    None,
    True,
    -1,
    10**400,
    1.5,
    float("nan"),
    float("inf"),
    b"bytes",
    [],
    {},
    object(),
]
ANY: list[Any] = [*HOSTILE, *ODD]


def harmless(kind: Any) -> dict[str, Any]:
    """Arguments with which the class can be made."""
    return {field.name: "x" for field in msgspec.structs.fields(kind) if field.required}


@pytest.mark.parametrize("kind", [*CLASSES, Usage])
def test_nothing_hostile_passes_through_any_field(kind):
    for name in kind.__struct_fields__:
        for hostile in HOSTILE:
            value = kind(**{**harmless(kind), name: hostile})
            if kind is Usage:
                value = Completion("t", "failed", 1, 1, 1, 1, 1, usage=value)
            line = value.line()
            assert line.isprintable() and line.isascii(), (name, line)
            assert hostile not in line and json.dumps(hostile)[1:-1] not in line, (name, line)
            for words in ("Anna", "anna", "login", "passwd", "sk-", "ghp_", "AKIA", "lines"):
                assert words not in line, (name, line)
            assert len(line) < 600


@pytest.mark.parametrize("kind", CLASSES)
def test_what_does_not_fit_is_replaced_and_never_ends_a_run(kind):
    for name in kind.__struct_fields__:
        for odd in ANY:
            event = kind(**{**harmless(kind), name: odd})
            again = msgspec.json.decode(event.line(), type=Event)
            assert again == event


def test_every_event_is_in_the_family_and_has_only_safe_fields():
    assert set(_Event.__subclasses__()) == set(CLASSES)
    for kind in CLASSES:
        assert set(cleaners(kind)) == set(kind.__struct_fields__)


def test_an_event_with_a_field_for_text_cannot_be_made():
    class Remark(Safe, frozen=True):
        text: str

    with pytest.raises(TypeError, match="could hold any text"):
        Remark("hello")


def test_events_cannot_be_changed():
    with pytest.raises(AttributeError):
        Progress("t", 1, 2, "asking").status = "free text"  # type: ignore[misc]


def test_what_is_as_it_should_be_stays():
    trace = new_trace_id()
    assert Progress(trace, 1, 15, "searching").trace_id == trace != new_trace_id()
    for session in ("0198f7c2-aaaa-7bbb-8ccc-0123456789ab", "ses_7Hk3", "django__django-11099"):
        assert SessionSkipped(trace, session, "gate").session == session
    for model in ("gpt-5", "org/name:tag", "accounts/fireworks/models/llama-v3p1", "gemma3:4b-it"):
        assert ReviewStarted(trace, "s", "model", model).model == model


def test_ids_that_are_none_can_still_be_told_apart():
    one, two = (SessionSkipped("t", text, "gate").session for text in ("a b", "a c"))
    assert one != two
    assert one == SessionSkipped("t", "a b", "gate").session


def test_models_that_are_files_have_no_path():
    def told(model: str) -> str | None:
        return ReviewStarted("t", "s", "model", model).model

    assert told("scripted:/home/anna/replies.jsonl") == told("scripted:a.jsonl") == "scripted"
    assert told("/models/x.gguf") == told("~/x.gguf") == told("a/../x") == told("a//x") == "unnamed"


def test_progress_knows_how_far_it_is():
    assert Progress("t", 3, 15, "asking").fraction == 0.2
    assert Progress("t", 16, 15, "asking").fraction == 1.0
    assert Progress("t", 1, 0, "asking").fraction == 0.0
    assert Progress("t", -1, 15, "asking").fraction == 0.0


def test_completion_knows_what_came_of_how_much():
    assert Completion("t", "converged", 1, 0, 1000, 50, 9).compression_ratio == 0.05
    assert Completion("t", "converged", 1, 0, 0, 50, 9).compression_ratio == 0.0


def test_the_line_of_a_completion():
    ended = Completion(
        "t1", "exhausted", 15, 3, 9000, 200, 1234, "max_iterations", "big", "small", Usage(50, 7)
    )
    line = json.loads(ended.line())
    assert list(line)[:3] == ["type", "at", "trace_id"]
    assert line.pop("at").endswith("Z")
    assert line == {
        "type": "completion",
        "trace_id": "t1",
        "outcome": "exhausted",
        "iterations": 15,
        "subcalls": 3,
        "input_tokens": 9000,
        "output_tokens": 200,
        "elapsed_ms": 1234,
        "reason": "max_iterations",
        "root_model": "big",
        "subcall_model_used": "small",
        "usage": {"input_tokens": 50, "output_tokens": 7},
    }


def test_a_completion_has_a_reason_unless_it_converged():
    assert "reason" not in json.loads(Completion("t", "converged", 1, 0, 1, 1, 1, "model").line())
    assert Completion("t", "failed", 1, 0, 1, 1, 1).reason == "other"
    assert Completion("t", "what?", 1, 0, 1, 1, 1).outcome == "failed"


def test_the_root_model_is_not_named_twice():
    same = Completion("t", "converged", 1, 0, 1, 1, 1, None, "big", "big")
    assert "subcall_model_used" not in json.loads(same.line())
    files = Completion("t", "converged", 1, 0, 1, 1, 1, None, "/a.gguf", "/b.gguf")
    assert files.subcall_model_used == "unnamed"


def test_names_of_the_types():
    lines = [
        SubcallFallback("t", "small", "big", "unknown_model").line(),
        ReviewStarted("t", "s", "rules").line(),
        ChangeMade("t", None, "skill", "create", "refused").line(),
    ]
    assert [json.loads(line)["type"] for line in lines] == [
        "subcall_fallback", "review_started", "change_made",
    ]  # fmt: skip
    assert json.loads(lines[2])["change"] is None


def test_usage_adds_up():
    assert Usage(1, 2) + Usage(10, 20) == Usage(11, 22)


def test_a_log_is_private_and_grows(tmp_path):
    log = EventLog(tmp_path / "events.jsonl")
    log(Progress("t", 1, 2, "asking"))
    log(Progress("t", 2, 2, "answering"))
    assert stat.S_IMODE((tmp_path / "events.jsonl").stat().st_mode) == 0o600
    lines = (tmp_path / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["iteration"] for line in lines] == [1, 2]


def test_a_log_that_was_cut_off_loses_one_line_only(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text('{"type":"progr')
    EventLog(path)(Progress("t", 1, 2, "asking"))
    torn, line = path.read_text().splitlines()
    assert torn == '{"type":"progr'
    assert json.loads(line)["iteration"] == 1


WRITER = """
import sys
from agentlearn.events import Completion, EventLog, Usage
log = EventLog(sys.argv[1])
sys.stdin.read()  # all begin at once
for number in range(500):
    log(Completion(sys.argv[2], "exhausted", number, 1, 2, 3, 4, "max_tokens", "m" * 90))
"""


def test_several_processes_write_one_log(tmp_path):
    path = tmp_path / "events.jsonl"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), f"writer-{number}"], stdin=subprocess.PIPE
        )
        for number in range(8)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.close()
    assert [writer.wait(timeout=60) for writer in writers] == [0] * 8
    seen: dict[str, list[int]] = {}
    for line in path.read_text().splitlines():
        event = json.loads(line)
        seen.setdefault(event["trace_id"], []).append(event["iterations"])
    assert seen == {f"writer-{number}": list(range(500)) for number in range(8)}


def test_nothing_is_lost_where_a_log_is_moved_away_while_it_is_written(tmp_path):
    path = tmp_path / "events.jsonl"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), f"writer-{number}"], stdin=subprocess.PIPE
        )
        for number in range(3)
    ]
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.close()
    moved = 0
    while any(writer.poll() is None for writer in writers):
        if path.exists():
            path.rename(tmp_path / f"old-{moved}.jsonl")
            moved += 1
    assert [writer.wait() for writer in writers] == [0] * 3 and moved
    lines = [line for each in tmp_path.iterdir() for line in each.read_text().splitlines()]
    seen = sorted((json.loads(line)["trace_id"], json.loads(line)["iterations"]) for line in lines)
    assert seen == [(f"writer-{number}", each) for number in range(3) for each in range(500)]


def test_an_unwritable_place_is_told_once(tmp_path):
    log = EventLog(tmp_path / "missing" / "events.jsonl")
    with pytest.raises(AgentlearnError, match=r"events cannot be written to .*: No such file"):
        log(Progress("t", 1, 2, "asking"))
    log(Progress("t", 2, 2, "asking"))

    told: list[AgentlearnError] = []
    log = EventLog(tmp_path, failed=told.append)
    for number in range(3):
        log(Progress("t", number, 3, "asking"))
    assert [str(error) for error in told] == [
        f"events cannot be written to {tmp_path}: Is a directory"
    ]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_told(tmp_path):
    told: list[AgentlearnError] = []
    EventLog("/dev/full", failed=told.append)(Progress("t", 1, 2, "asking"))
    assert "No space left" in str(told[0])


LIMITED = """
import resource, sys
from agentlearn.events import EventLog, Progress
room = int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
log = EventLog(sys.argv[1], failed=lambda error: print(error))
for number in range(20):
    log(Progress("t", number, 20, "asking"))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
log(Progress("t", 99, 20, "asking"))
"""


@pytest.mark.parametrize("room", range(900, 1020, 17))
def test_a_disk_that_fills_up_tears_no_line(tmp_path, room):
    """There is room for a part of a line: it is taken back, and the next one stands by itself."""
    path = tmp_path / "events.jsonl"
    told = subprocess.run(
        [sys.executable, "-c", LIMITED, str(path), str(room)], capture_output=True, check=True
    ).stdout.decode()
    assert told.count("events cannot be written") == 1
    numbers = [json.loads(line)["iteration"] for line in path.read_text().splitlines()]
    assert numbers == [*range(len(numbers) - 1), 99] and len(numbers) > 5


def test_a_link_in_a_project_leads_nowhere(tmp_path):
    target = tmp_path / "elsewhere"
    target.write_text("kept\n")
    (tmp_path / "events.jsonl").symlink_to(target)
    told: list[AgentlearnError] = []
    own = EventLog(tmp_path / "events.jsonl", failed=told.append, follow_links=False)
    own(Progress("t", 1, 2, "asking"))
    assert len(told) == 1 and target.read_text() == "kept\n"
    EventLog(tmp_path / "events.jsonl")(Progress("t", 1, 2, "asking"))
    assert target.read_text().count("\n") == 2


def test_a_log_may_be_a_pipe(tmp_path):
    reading, writing = os.pipe()
    try:
        EventLog(f"/dev/fd/{writing}")(Progress("t", 1, 2, "asking"))
        assert json.loads(os.read(reading, 4096))["type"] == "progress"
    finally:
        os.close(reading)
        os.close(writing)


def test_each_of_several_hears_of_an_event_also_after_a_failure(tmp_path):
    heard: list[Event] = []
    both = tee(EventLog(tmp_path), heard.append)
    with pytest.raises(AgentlearnError, match="Is a directory"):
        both(Progress("t", 1, 2, "asking"))
    both(Progress("t", 2, 2, "asking"))
    assert [event.iteration for event in heard if isinstance(event, Progress)] == [1, 2]
