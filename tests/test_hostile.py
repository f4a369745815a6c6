"""What attacks found: each of these once crashed, hung, leaked or wrote where it must not."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentlearn.sessions.claude_blocks import strip_reminders, typed_by
from agentlearn.sessions.native import Line, Reading
from agentlearn.sessions.source import Source
from tests.commands import HEAD, call, json_of, native_file, started
from tests.files import lines_file, read_all, read_one

TURN = {"type": "turn", "action": "a", "observation": "o" * 1200, "reward": 1}
FILLER = [{**HEAD, "id": "first"}, *[TURN] * 900]


@pytest.mark.parametrize("metadata", [b'{"x":1e999}', b'{"x":"\xff"}', b'{"x":' + b"[" * 9999])
def test_metadata_that_cannot_be_decoded(tmp_path: Path, metadata: bytes):
    path = lines_file(tmp_path / "a.jsonl", FILLER)
    head = b'{"type":"session","schema":"agentlearn-session/1","id":"s","metadata":'
    with path.open("ab") as out:
        out.write(head + metadata + b"}\n" + json.dumps(TURN).encode() + b"\n")
    sessions = json_of("returns", path)["sessions"]
    assert sessions[0]["turns"] in (900, 901)


@pytest.mark.parametrize(
    "last",
    [
        b'{"type":"turn","action":"a","reward":-0.0}',
        b'{"type":"turn","action":"a","reward":-1e-400}',
        b'{"type":"turn","action":"a","reward":{"kind":"negative","value":0}}',
        b'{"type":"turn","action":"a",\n"reward":0.5}',
        b'{"type":"turn","action":"a","reward":1}{"type":"turn","action":"b","reward":2}',
        b'{"type":"turn","action":"a","reward":1} {"type":"turn","action":"b",\n"reward":2}',
        b'{"type":"session","schema":"agentlearn-session/1","id":""}\n{"type":"turn","reward":1}',
        b'{"type":"message","role":"user","text":"data:image/png;base64,' + b"A" * 100 + b'"}',
        b'{"type":"turn","reward":1,"action":' + b"9" * 5000 + b"}",
        b'\n\r\n{"type":"turn","action":"a","reward":1}\r',
        b'\xef\xbb\xbf{"type":"turn","action":"a","reward":1}',
        b'{"type":"turn","\\u0072eward":3}',
        b'{"type":"turn","reward":1,"reward":2}',
    ],
)
def test_a_large_file_and_a_pipe_give_the_same(tmp_path: Path, last: bytes):
    path = lines_file(tmp_path / "a.jsonl", [*FILLER, {**HEAD, "id": "s2"}, TURN])
    path.write_bytes(path.read_bytes() + last + b"\n" + json.dumps(TURN).encode() + b"\n")
    for rules in ([], ["--rewards", "native"]):
        scanned = json_of("returns", path, *rules)
        piped = json_of("returns", "-", *rules, stdin=path.read_bytes())
        for session in scanned["sessions"] + piped["sessions"]:
            session["path"] = "-"
        assert str(scanned) == str(piped), "also the sign of a zero"


def test_exit_codes_that_no_program_leaves(tmp_path: Path):
    huge = 10**30
    native = lines_file(
        tmp_path / "native.jsonl",
        [
            {**HEAD, "id": "s"},
            {"type": "call", "id": "c", "tool": "bash", "arguments": {}, "line": huge},
            {"type": "result", "call_id": "c", "text": "x", "exit_code": huge},
        ],
    )
    output = json.dumps({"output": "x", "metadata": {"exit_code": huge}})
    codex = lines_file(
        tmp_path / "codex.jsonl",
        [
            {"type": "session_meta", "payload": {"id": "s"}},
            {"type": "response_item", "payload": {"type": "function_call", "call_id": "c"}},
            {"type": "response_item",
             "payload": {"type": "function_call_output", "call_id": "c", "output": output}},
        ],
    )  # fmt: skip
    for path in (native, codex):
        assert call("convert", path).stdout.count("\n") == 4
        (turn,) = read_one(path).turns()
        assert turn.result is not None and turn.result.exit_code is None


@pytest.mark.parametrize("session_id", ["a\0b", "x" * 200_000])
def test_ids_that_fit_no_environment(tmp_path: Path, session_id: str):
    path = native_file(tmp_path / "a.jsonl", {"id": session_id, "rewards": [0]})
    (session,) = json_of("returns", path, "--evaluator", "true")["sessions"]
    assert session["outcome"] == "success"


def test_the_end_of_time(tmp_path: Path):
    head = {"id": "s", "timestamp": "9999-12-31T23:59:59.999Z", "forked_from_id": "p"}
    line = {"timestamp": head["timestamp"], "type": "session_meta", "payload": head}
    assert read_one(lines_file(tmp_path / "a.jsonl", [line, line])).id == "s"


def test_a_file_is_hashed_once_however_many_sessions_it_holds(tmp_path: Path):
    class Counting(Source):
        hashed = 0

        def id_from_bytes(self) -> str:
            self.hashed += 1
            return "hash"

    with Counting(lines_file(tmp_path / "a.jsonl", [])) as source:
        reading = Reading(source)
        head = Line(type="session", schema="agentlearn-session/1")
        ids = []
        for _ in range(50):
            ids += [s.id for s in reading.take(1, head)]
            list(reading.take(2, Line(type="turn", action="a")))
        ids += [s.id for s in reading.rest()]
    assert (source.hashed, ids) == (1, [f"hash-{number}" for number in range(1, 51)])


@pytest.mark.parametrize("tag", ["system-reminder", "command-name", "command-args"])
def test_tags_that_open_and_never_close(tag: str):
    text = f"<{tag}>" * 20_000
    assert strip_reminders(text) == text
    assert typed_by(text)[1] == text
    closed = f"<{tag}>x</{tag}>\n" * 5_000 + "word"
    stripped = strip_reminders(closed)
    assert stripped == ("word" if tag == "system-reminder" else closed)


def test_thousands_of_results_that_answer_nothing(tmp_path: Path):
    calls = [{"id": f"c{n}", "function": {"name": "f", "arguments": "{}"}} for n in range(8000)]
    wrong = [{"role": "tool", "tool_call_id": f"x{n}", "content": "?"} for n in range(8000)]
    nameless = [{"function": {"name": "f", "arguments": "{}"}} for _ in range(8000)]
    unnamed = [{"role": "tool", "content": str(n)} for n in range(8000)]
    for asked, answers, results in ((calls, wrong, 0), (nameless, unnamed, 8000)):
        messages = [{"role": "user", "content": "go"}, {"role": "assistant", "tool_calls": asked}]
        path = tmp_path / "chat.json"
        path.write_text(json.dumps({"messages": [*messages, *answers]}))
        session = read_one(path)
        assert (session.counts().calls, session.counts().results) == (8000, results)
    first, second, *_ = session.turns()
    assert (first.observation, second.observation) == ("0", "1"), "in the order of the calls"


@pytest.mark.parametrize(
    ("yaml", "why"),
    [
        ("a: &a {x: 1}\nb: {<<: [*a, *a]}", "is not YAML: aliases (*name) are not read here"),
        ("verdict: 2024-13-45", "is not YAML: month must be in 1..12"),
        ("verdict: {pass_at: " + "9" * 5000 + "}", "is not YAML: "),
    ],
)
def test_rules_that_are_a_trap(tmp_path: Path, yaml: str, why: str):
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [0]})
    rules = tmp_path / "rules.yaml"
    rules.write_text(yaml)
    assert why in call("returns", path, "--rewards", rules, code=2).stderr


@pytest.mark.parametrize("toml", ["gamma = " + "[" * 20_000, 'rewards = "a\\u0000b"'])
def test_settings_that_are_a_trap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toml: str):
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [0]})
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agentlearn.toml").write_text(toml)
    assert call("returns", path, code=2).stderr.startswith("error: ")


def test_output_goes_through_no_link_but_the_one_that_was_named(tmp_path: Path):
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [0]})
    victim = tmp_path / "victim.txt"
    victim.write_text("precious")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / ".new.jsonl.part").symlink_to(victim)
    call("convert", path, "--output", folder / "new.jsonl")
    assert victim.read_text() == "precious"
    assert not (folder / "new.jsonl").is_symlink()
    named = tmp_path / "named.jsonl"
    named.symlink_to(folder / "new.jsonl")
    (folder / "new.jsonl").write_text("old")
    call("convert", path, "--output", named)
    assert named.is_symlink() and read_all(folder / "new.jsonl")[0].id == "s"


def test_output_keeps_a_private_file_private(tmp_path: Path):
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [0]})
    private = tmp_path / "private.jsonl"
    private.write_text("old")
    private.chmod(0o600)
    call("convert", path, "--output", private)
    assert private.stat().st_mode & 0o777 == 0o600
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert "redirect to it" in call("convert", path, "--output", fifo, code=2).stderr
    assert fifo.is_fifo()


@pytest.mark.slow
def test_a_run_that_is_asked_to_end_leaves_nothing_behind(tmp_path: Path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines_file(tmp_path / "b.jsonl", FILLER).read_bytes() * 60)
    folder = tmp_path / "out"
    folder.mkdir()
    command = [sys.executable, "-m", "agentlearn", "convert", str(path), "-o", str(folder / "o")]
    process = subprocess.Popen(command)
    while not any(folder.iterdir()) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait() == 128 + signal.SIGTERM
    assert list(folder.iterdir()) == []


def test_words_that_are_no_utf_8(tmp_path: Path):
    file = tmp_path / "r.jsonl"
    words = [sys.executable, "-m", "agentlearn", "record", str(file), "--goal", b"caf\xe9"]
    subprocess.run(words, check=True, capture_output=True)
    assert read_one(file).goal == "caf\ufffd"


def test_a_full_disk_and_the_version():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "agentlearn", "--version"],
            stdout=full, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (
        1, "error: cannot write the version: No space left on device\n",
    )  # fmt: skip


def test_a_closed_stderr_does_not_spill_into_the_result(tmp_path: Path):
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [0]})
    path.write_text(path.read_text() + "bad line\n")
    program = f"{sys.executable} -m agentlearn"
    done = subprocess.run(
        ["sh", "-c", f"{program} returns {path} --format json 2>&-"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["summary"]["sessions"] == 1


def test_a_name_with_a_line_break_begins_no_line(tmp_path: Path):
    path = tmp_path / "a\nerror: fake.jsonl"
    native_file(path, {"id": "s", "rewards": [0]})
    path.write_text(path.read_text() + "bad line\n")
    done = started("returns", path)
    assert done.stderr.decode().count("\n") == 1
    assert "a\\nerror: fake.jsonl" in done.stderr.decode()


@pytest.mark.slow
def test_an_archive_that_is_a_bomb(tmp_path: Path):
    path = tmp_path / "bomb.json.gz"
    with gzip.open(path, "wb", compresslevel=1) as out:
        out.write(b'{"messages":[{"role":"user","content":"hi"}],"x":"')
        for _ in range(300):
            out.write(b" " * 1_000_000)
        out.write(b'"}')
    error = call("returns", path, code=2).stderr
    assert error == "error: a compressed file expands to one value of over 256 MB\n"


@pytest.mark.slow
def test_a_bar_on_the_terminal_takes_nothing_from_the_result(tmp_path: Path):
    """Many files, stderr on a terminal, stdout in a file: all of the result is in the file."""
    import pty

    for number in range(30):
        native_file(tmp_path / "in" / f"{number}.jsonl", {"id": f"s{number}", "rewards": [1]})
    for words in (["returns", "--per-turn"], ["render"], ["returns", "--explain"]):
        command = [sys.executable, "-m", "agentlearn", *words, str(tmp_path / "in")]
        plainly = subprocess.run(command, capture_output=True, check=True).stdout
        terminal, inside = pty.openpty()
        with (tmp_path / "out").open("wb") as out:
            subprocess.run(command, stdout=out, stderr=inside, check=True)
        os.close(inside)
        os.close(terminal)
        assert (tmp_path / "out").read_bytes() == plainly


def test_a_run_that_finds_nothing_replaces_no_file(tmp_path: Path):
    output = tmp_path / "turns"
    output.write_text("from an earlier run")
    names = [tmp_path / "no1.jsonl", tmp_path / "no2.jsonl"]
    for words in (["trajectory", "--format", "parquet"], ["trajectory"], ["convert"]):
        call(*words, *names, "-o", output, code=2)
        assert output.read_text() == "from an earlier run"
    assert [path.name for path in tmp_path.iterdir()] == ["turns"]


def test_broken_elements_are_counted(tmp_path: Path):
    claude = {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "hi"}}
    native = {"goal": "g", "turns": [{"action": "a"}]}
    for name, value in (("a.json", {"loglines": [claude, 5, "x"]}), ("b.json", [native, 5, "x"])):
        path = tmp_path / name
        path.write_text(json.dumps(value))
        result = call("sessions", path, "--strict", code=2)
        assert "2 lines skipped (2, 3): not a JSON object" in result.stderr
    many = native_file(tmp_path / "many.jsonl", {"id": "s", "rewards": [0]})
    many.write_text(many.read_text() + "broken\n" * 1000)
    error = call("sessions", many, "--strict", code=2).stderr
    assert "1000 lines skipped (3, 4, 5, 6, 7, …)" in error
    assert "--strict: 1000 lines could not be read" in error


def test_a_session_that_begins_twice_keeps_its_lines(tmp_path: Path):
    rows = [
        {**HEAD, "id": "a"},
        {"type": "turn", "action": "a1", "session_id": "a"},
        {**HEAD, "id": "b"},
        {"type": "turn", "action": "b1"},
        {**HEAD, "id": "a"},
        {"type": "turn", "action": "a2"},
    ]
    sessions = {s.id: s for s in read_all(lines_file(tmp_path / "s.jsonl", rows))}
    assert [t.action for t in sessions["a"].turns()] == ["a1", "a2"]
    assert [t.action for t in sessions["b"].turns()] == ["b1"]
    assert [w.line for w in sessions["a"].warnings] == [5]


def test_only_the_first_words_correct_or_thank(tmp_path: Path):
    rows = [
        {**HEAD, "id": "s"},
        {"type": "message", "role": "assistant", "text": "Done."},
        {
            "type": "message",
            "role": "user",
            "text": "Good. Next, a page.\nIt does not need a foot.",
        },
    ]
    (session,) = json_of("returns", lines_file(tmp_path / "s.jsonl", rows))["sessions"]
    assert session["total_reward"] == 0.0


def test_a_document_with_nan_is_not_lost(tmp_path: Path):
    path = tmp_path / "chat.json"
    path.write_text('{"messages":[{"role":"user","content":"hi"}],"reward":NaN}')
    (session,) = json_of("sessions", path)
    assert (session["messages"], session["outcome"]) == (1, "unknown")


def test_latest_among_names_of_which_one_is_wrong(tmp_path: Path):
    good = native_file(tmp_path / "good.jsonl", {"id": "s", "rewards": [0]})
    result = call("sessions", "--latest", good, tmp_path / "gone.jsonl", "--json", code=2)
    assert [found["id"] for found in json.loads(result.stdout)] == ["s"]
    assert "gone.jsonl does not exist" in result.stderr


def test_a_damaged_archive_in_a_folder_is_named(tmp_path: Path):
    native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [0]})
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(b"x" * 5000)[:20] + b"damaged")
    (tmp_path / "c.jsonl.zst").write_bytes(b"\x28\xb5\x2f\xfd damaged")
    result = call("sessions", tmp_path, "--json", code=5)
    assert len(json.loads(result.stdout)) == 1
    for name in ("b.jsonl.gz", "c.jsonl.zst"):
        assert f"{name} cannot be read: the compressed data ends early or is damaged" in (
            result.stderr
        )


def test_each_line_is_reported_with_its_own_reason(tmp_path: Path):
    path = native_file(tmp_path / "a.jsonl", {"id": "s", "rewards": [0]})
    bad = '{"type":"turn","reward":NaN}\nnot json\n{"type":"turn","reward":{"kind":"x"}}\n'
    path.write_text(path.read_text() + bad)
    assert call("sessions", path).stderr == (
        f"warning: {path}: 3 lines skipped (3: NaN is not JSON, 4: not JSON, "
        "5: reward kind 'x' is none of positive, negative, neutral, terminal)\n"
    )


def test_a_call_cancelled_beside_a_refused_one_is_not_blamed(tmp_path: Path):
    rows = [
        {**HEAD, "id": "s"},
        {"type": "call", "id": "a", "tool": "Edit", "arguments": {}, "step": "r"},
        {"type": "call", "id": "b", "tool": "Read", "arguments": {}, "step": "r"},
        {"type": "result", "call_id": "a", "text": "no", "status": "rejected"},
        {"type": "result", "call_id": "b", "text": "Cancelled", "status": "interrupted"},
        {"type": "signal", "kind": "interruption"},
    ]
    (session,) = json_of("returns", lines_file(tmp_path / "s.jsonl", rows))["sessions"]
    assert session["rewards"] == [-1.0, 0.0]


def test_a_session_alone_needs_no_number(tmp_path: Path):
    import hashlib

    lines = lines_file(tmp_path / "a.jsonl", [HEAD, {"type": "turn", "action": "a"}])
    document = tmp_path / "b.json"
    document.write_text(json.dumps({"goal": "g", "turns": [{"action": "a"}]}, indent=1))
    for path in (lines, document):
        (session,) = json_of("sessions", path)
        assert session["id"] == hashlib.sha256(path.read_bytes()).hexdigest()[:12]
