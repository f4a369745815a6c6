"""Commands with limits: whatever they do, nothing of them is left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentlearn.reflexion.kept import Kept, Log
from agentlearn.reflexion.process import MARK, end_leftovers, run_command
from tests.reflexions import is_alive

ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="daemons are found by /proc")


def run(command: str, folder: Path, seconds: float = 20, log: Path | None = None):
    return run_command(command, folder, {**os.environ, MARK: str(folder)}, seconds, log)


def pids_in(path: Path, count: int) -> list[int]:
    until = time.monotonic() + 10
    while len(path.read_text().split() if path.exists() else []) < count:
        assert time.monotonic() < until
        time.sleep(0.01)
    return [int(pid) for pid in path.read_text().split()]


def test_output_and_exit_code_come_back(tmp_path: Path):
    ran = run("echo out; echo err >&2; pwd; exit 7", tmp_path)
    assert (ran.exit_code, ran.timed_out, ran.problem) == (7, False, None)
    assert ran.stdout.text() == f"out\n{tmp_path}\n" and ran.stderr.text() == "err\n"


def test_a_signal_gives_the_code_of_a_shell(tmp_path: Path):
    assert run("kill -9 $$", tmp_path).exit_code == 137


def test_what_cannot_be_started_is_told(tmp_path: Path):
    ran = run("true", tmp_path / "nowhere")
    assert ran.exit_code is None and ran.problem is not None
    assert "cannot be started" in ran.problem


@ON_LINUX
@pytest.mark.parametrize(
    "starts",
    [
        "sleep 300 & echo $! >> pids; wait",
        "sh -c 'sleep 300 & echo $! >> pids; wait' & echo $! >> pids; wait",
        "trap '' TERM; sleep 300 & echo $! >> pids; while true; do sleep 1; done",
        "setsid sh -c 'echo $$ >> pids; exec sleep 300' & echo $! > /dev/null; sleep 300",
        "setsid env -i sh -c 'echo $$ >> pids; exec sleep 300' & sleep 300",
        "(setsid sh -c 'setsid env -i sh -c \"echo \\$\\$ >> pids; exec sleep 99\" &' &); sleep 99",
    ],
    ids=["child", "grandchild", "ignores TERM", "own session", "no environment", "daemon"],
)
def test_a_time_out_ends_all_that_was_started(tmp_path: Path, starts: str):
    ran = run(starts, tmp_path, seconds=1)
    assert ran.timed_out and ran.exit_code is None
    pids = pids_in(tmp_path / "pids", 1)
    assert not [pid for pid in pids if is_alive(pid)]


@ON_LINUX
def test_a_daemon_is_ended_also_when_the_command_ends_by_itself(tmp_path: Path):
    ran = run(
        "(setsid env -i sh -c 'echo $$ >> pids; exec sleep 300' &) ; "
        "while [ ! -s pids ]; do sleep 0.01; done; echo done",
        tmp_path,
    )
    assert ran.exit_code == 0 and ran.stdout.text() == "done\n"
    assert not is_alive(pids_in(tmp_path / "pids", 1)[0])


@ON_LINUX
def test_no_child_of_ours_is_left_as_a_zombie_and_others_live(tmp_path: Path):
    other = subprocess.Popen(["sleep", "300"])
    try:
        run("for i in 1 2 3; do (setsid sleep 300 &); done", tmp_path)
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
        states = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][1] for pid in children]
        assert "Z" not in states
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


@ON_LINUX
def test_what_a_killed_run_left_is_found_by_its_mark(tmp_path: Path):
    env = {**os.environ, MARK: "mark-of-a-killed-run"}
    left = subprocess.Popen(["sleep", "300"], env=env, start_new_session=True)
    other = subprocess.Popen(["sleep", "300"], env={**env, MARK: "another"})
    time.sleep(0.2)  # right after its start a process has no environment yet
    try:
        assert end_leftovers("mark-of-a-killed-run", tmp_path / "x") >= 1
        assert left.wait(10) == -signal.SIGKILL and other.poll() is None
    finally:
        other.kill()
        other.wait()


@ON_LINUX
def test_the_shell_that_called_us_from_a_workspace_lives(tmp_path: Path):
    code = (
        "from pathlib import Path; from agentlearn.reflexion.process import end_leftovers; "
        "print(end_leftovers('no-such-mark', Path.cwd()))"
    )
    script = f'sleep 300 & {sys.executable} -c "$CODE"; echo alive'
    done = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, env={**os.environ, "CODE": code},
        stdout=subprocess.PIPE, text=True, check=True, timeout=30,
    )  # fmt: skip
    ended, alive = done.stdout.split()
    assert int(ended) >= 1 and alive == "alive"


@ON_LINUX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_by_the_person_nothing_runs_on(tmp_path: Path, number: signal.Signals):
    code = (
        "import os, sys, signal\nfrom pathlib import Path\n"
        "from agentlearn.reflexion.process import MARK, run_command\n"
        "signal.signal(signal.SIGTERM, lambda n, f: sys.exit(143))\n"
        "run_command(sys.argv[1], Path.cwd(), {**os.environ, MARK: str(Path.cwd())}, 100)\n"
    )
    command = "setsid sh -c 'echo $$ >> pids; exec sleep 300' & echo $$ >> pids; sleep 300"
    ours = subprocess.Popen([sys.executable, "-c", code, command], cwd=tmp_path,
                            stderr=subprocess.DEVNULL)  # fmt: skip
    pids = pids_in(tmp_path / "pids", 2)
    ours.send_signal(number)
    assert ours.wait(20) != 0
    assert not [pid for pid in pids if is_alive(pid)]


def test_endless_output_is_capped_in_memory_and_on_disk(tmp_path: Path):
    log = tmp_path / "log"
    ran = run("head -c 300000000 /dev/zero | tr '\\0' 'x'; echo; echo the end", tmp_path, log=log)
    assert ran.exit_code == 0
    assert ran.stdout.size == 300_000_009
    assert len(ran.stdout.text()) < 200_000 and ran.stdout.text().endswith("\nthe end\n")
    assert "bytes left out" in ran.stdout.text()
    assert log.stat().st_size < 9_000_000 and log.read_bytes().endswith(b"\nthe end\n")


def test_output_is_cut_between_characters():
    kept = Kept(end_bytes=10)
    kept.add("é€😀é€😀é€😀".encode())
    assert "\ufffd" not in kept.text() and "\ufffd" not in kept.tail(2)
    assert kept.tail(2) == "€😀"


@pytest.mark.parametrize("ends", [True, False])
def test_a_key_that_comes_line_by_line_is_never_in_the_log(tmp_path: Path, ends: bool):
    """Not while it is written, when the program may be killed, and not at the end."""
    import base64
    import random

    body = [base64.b64encode(random.Random(each).randbytes(48)).decode() for each in range(20)]
    lines = ["before", "-----BEGIN RSA PRIVATE KEY-----", *body]
    lines += ["-----END RSA PRIVATE KEY-----", "after"] * ends
    path = tmp_path / "log"
    with Log(path) as log:
        for line in lines:
            log.add(f"{line}\n".encode())
            assert not any(each in path.read_text() for each in body)
    text = path.read_text()
    assert not any(each in text for each in body)
    assert text.startswith("before\n") and text.endswith("after\n") == ends


def test_a_log_that_cannot_be_written_does_not_end_the_command(tmp_path: Path):
    ran = run("echo said", tmp_path, log=tmp_path / "nowhere" / "log")
    assert ran.exit_code == 0 and ran.stdout.text() == "said\n"
    assert ran.problem is not None and "log" in ran.problem


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_is_told():
    with Log(Path("/dev/full")) as log:
        log.add(b"x" * 100_000)
        log.add(b"more")
    assert log.problem is not None and "space" in log.problem


def test_a_command_that_closes_its_output_is_waited_for(tmp_path: Path):
    ran = run("exec >&- 2>&-; sleep 0.5; touch done", tmp_path)
    assert ran.exit_code == 0 and (tmp_path / "done").exists()
