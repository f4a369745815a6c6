"""Memory stays bounded: by the session, not by the file; by what is kept, not by what is read."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.memory import MB, PROGRAM, peak_mb_of

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the peak"),
]


def peak_mb(*words: str) -> float:
    return peak_mb_of(PROGRAM, *words)


def claude_line(number: int, content: object, kind: str = "user") -> bytes:
    message: dict[str, object] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": f"m{number}", "model": "m"}
    line = {
        "type": kind, "uuid": f"u{number}", "parentUuid": f"u{number - 1}", "sessionId": "s",
        "timestamp": "2026-11-01T09:00:00.000Z", "message": message,
    }  # fmt: skip
    return json.dumps(line, ensure_ascii=False).encode() + b"\n"


def write_claude(path: Path, size: int, text: Callable[[int], object]) -> None:
    with path.open("wb") as file:
        number = 0
        while file.tell() < size:
            number += 2
            call = [{"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {}}]
            file.write(claude_line(number, call, "assistant"))
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text(number)}
            file.write(claude_line(number + 1, [result]))


def test_a_session_of_200_mb_with_lines_of_1_5_mb(tmp_path: Path):
    path = tmp_path / "long.jsonl"
    write_claude(path, 200 * MB, lambda number: "long output ✓ " * 107_000)
    assert peak_mb("returns", str(path)) < 400


def test_a_session_of_200_mb_of_ordinary_lines_with_emoji(tmp_path: Path):
    path = tmp_path / "many.jsonl"
    write_claude(path, 200 * MB, lambda number: "plain words and one 😀 " * 200)
    assert peak_mb("returns", str(path)) < 400


def test_images_are_not_kept(tmp_path: Path):
    image = {"type": "image", "source": {"media_type": "image/png", "data": "QUJD" * 375_000}}
    path = tmp_path / "images.jsonl"
    write_claude(path, 200 * MB, lambda number: [image])
    assert peak_mb("sessions", str(path)) < 150


def write_native(path: Path, size: int, reward: object, is_tagged: bool = False) -> None:
    turn = {"type": "turn", "action": "a" * 1000, "observation": "o " * 2000, "reward": reward}
    head = {"type": "session", "schema": "agentlearn-session/1"}
    outcome = {"type": "outcome", "outcome": "success"}
    with path.open("w") as file:
        number = 0
        while file.tell() < size:
            number += 1
            tag = {"session_id": f"s{number}"} if is_tagged else {}
            rows = [{**head, "id": f"s{number}"}, *[turn] * 30, outcome]
            file.writelines(json.dumps({**row, **tag}) + "\n" for row in rows)


@pytest.mark.parametrize("reward", [0.5, None])
def test_a_file_of_many_sessions_needs_no_more_than_one(tmp_path: Path, reward: object):
    """With rewards the file is scanned, without them every session is read in full."""
    path = tmp_path / "native.jsonl"
    write_native(path, 200 * MB, reward)
    for words in (["--format", "jsonl"], ["--format", "jsonl", "--jobs", "2"]):
        assert peak_mb("returns", str(path), *words) < 150


def test_a_file_of_many_recorded_sessions_needs_no_more_than_one(tmp_path: Path):
    path = tmp_path / "recorded.jsonl"
    write_native(path, 200 * MB, 0.5, is_tagged=True)
    assert peak_mb("returns", str(path), "--format", "jsonl") < 150


def test_one_json_value_takes_at_most_six_times_its_size(tmp_path: Path):
    path = tmp_path / "chat.json"
    messages = [{"role": "user", "content": "go"}]
    for number in range(20_000):
        messages.append({"role": "assistant", "content": f"{number} words ✓ " + "text " * 500})
    path.write_text(json.dumps({"messages": messages}, ensure_ascii=False))
    size = path.stat().st_size / MB
    assert size > 40
    assert peak_mb("returns", str(path)) < 6 * size
