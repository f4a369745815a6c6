"""A shell command with limits, of which nothing is left running.

It has a process group of its own and no terminal. Its output is read as it comes: up to a limit it
goes to a log, and its two ends are kept. When it ends, takes too long, or the person stops us, all
that it started is ended too. On Linux that includes daemons: this process is their subreaper while
the command runs, so whoever leaves the group becomes a child of ours; and a mark in the environment
finds those of a run that was killed itself. Elsewhere only the process group is known.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from msgspec import Struct

from agentlearn.reflexion.kept import Kept, Log
from agentlearn.store.uninterrupted import uninterrupted

MARK = "AGENTLEARN_RUN_MARK"
GRACE_SECONDS = 2.0
"""Between asking a command to end and ending it."""
LINGER_SECONDS = 0.5
"""The same for what a command left behind when it ended by itself."""
POLL_SECONDS = 0.05
LAST_WORDS_SECONDS = 1.0
"""How long what a command said is still read after it has ended."""
KILL_SECONDS = 10.0
SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER, of linux/prctl.h."""


class Ran(Struct, frozen=True):
    exit_code: int | None
    """As a shell gives it (128 + signal); None if the command ran out of time or never began."""
    timed_out: bool
    stdout: Kept
    stderr: Kept
    elapsed_ms: int
    problem: str | None = None
    """Why it did not begin, or why its log is not whole."""


def run_command(
    command: str,
    cwd: Path,
    env: dict[str, str],
    timeout_seconds: float,
    log: Path | None = None,
    stdin: IO[bytes] | None = None,
) -> Ran:
    """Run `sh -c command`; whatever happens, nothing of it runs on when this returns."""
    started = time.monotonic()
    stdout, stderr = Kept(), Kept()
    with Log(log) as written, _Family(env.get(MARK)) as family:
        try:
            process = subprocess.Popen(
                ["sh", "-c", command],
                cwd=cwd,
                env=env,
                stdin=stdin or subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = f"the command cannot be started: {getattr(error, 'strerror', None) or error}"
            return Ran(None, False, stdout, stderr, _ms_since(started), reason)
        family.root = process
        kept = {process.stdout: stdout, process.stderr: stderr}
        timed_out = not _read_until_it_ends(process, kept, written, started + timeout_seconds)
        family.end(GRACE_SECONDS if timed_out else LINGER_SECONDS)
        _drain(kept, written)
        code = None if timed_out else _as_shell_code(process.wait())
    return Ran(code, timed_out, stdout, stderr, _ms_since(started), written.problem)


def _ms_since(started: float) -> int:
    return int((time.monotonic() - started) * 1000)


def _as_shell_code(code: int) -> int:
    return 128 - code if code < 0 else code


def _read_until_it_ends(
    process: subprocess.Popen[bytes], kept: dict[Any, Kept], log: Log, deadline: float
) -> bool:
    """Take what it says until it ends; false if it ran out of time."""
    with selectors.DefaultSelector() as selector:
        for pipe in kept:
            selector.register(pipe, selectors.EVENT_READ)
        ended_at = None
        while selector.get_map() or process.poll() is None:
            now = time.monotonic()
            if process.poll() is not None:
                ended_at = ended_at or now
                if now - ended_at > LAST_WORDS_SECONDS:
                    return True  # what goes on talking was left in the background
            left = deadline - now
            if left <= 0:
                return False
            if not selector.get_map():  # it closed its output, and works on
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(min(left, 1.0))
                continue
            ready = selector.select(min(left, POLL_SECONDS))
            for key, _ in ready:
                if not _take(key.fileobj, kept, log):
                    selector.unregister(key.fileobj)
            if not ready and process.poll() is not None:
                return True  # what it left in the background holds the pipes open
    return True


def _take(pipe: Any, kept: dict[Any, Kept], log: Log) -> bool:
    block = os.read(pipe.fileno(), 1 << 16)
    kept[pipe].add(block)
    log.add(block)
    return bool(block)


def _drain(kept: dict[Any, Kept], log: Log) -> None:
    """What still stands in the pipes, whose writers are gone."""
    for pipe in kept:
        os.set_blocking(pipe.fileno(), False)
        with contextlib.suppress(OSError):
            while _take(pipe, kept, log):
                pass
        pipe.close()


class _Family:
    """A command and all that it starts, from before its start until all of it is gone."""

    def __init__(self, mark: str | None) -> None:
        self.mark = mark
        self.root: subprocess.Popen[bytes] | None = None
        self.ended = False

    def __enter__(self) -> _Family:
        self.before = set(_children()) if _has_proc() else set()
        _adopt_orphans(True)
        return self

    def __exit__(self, *error: object) -> None:
        """Also on Ctrl-C, and then without a way to be stopped in the middle of it."""
        try:
            if not self.ended:
                self.end(GRACE_SECONDS if self._root_lives() else 0.0)
        finally:
            _adopt_orphans(False)
        if self.root is not None:
            for pipe in (self.root.stdout, self.root.stderr):
                if pipe is not None:
                    pipe.close()

    def end(self, grace_seconds: float) -> None:
        with uninterrupted():
            until = time.monotonic() + grace_seconds
            if self._signal(signal.SIGTERM):
                while time.monotonic() < until and (self._members() or self._root_lives()):
                    time.sleep(0.01)
            until = time.monotonic() + KILL_SECONDS
            while self._signal(signal.SIGKILL) and time.monotonic() < until:
                time.sleep(0.01)
            if self.root is not None:
                self.root.wait()
            self.ended = True

    def _signal(self, number: signal.Signals) -> bool:
        """Send it to everybody; false if nobody is left."""
        found = self._root_lives()
        if self.root is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.root.pid, number)
                found = found or not _has_proc()
        for pid in self._members():
            found = True
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, number)
        return found and (_has_proc() or number == signal.SIGTERM)

    def _root_lives(self) -> bool:
        return self.root is not None and self.root.poll() is None

    def _members(self) -> set[int]:
        """Those that are alive. The dead among our children are buried on the way."""
        if not _has_proc():
            return set()
        parents = _parents()
        adopted = {pid for pid, parent in parents.items() if parent == os.getpid()} - self.before
        found = _descendants(adopted, parents)
        if self.mark:
            found |= marked(self.mark, parents)
        own = self.root.pid if self.root is not None else None
        for pid in adopted - {own}:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(pid, os.WNOHANG)[0]:
                    found.discard(pid)
        if self.root is not None and self.root.poll() is not None:
            found.discard(self.root.pid)
        return {pid for pid in found if not _is_dead(pid)}


def end_leftovers(mark: str, folder: Path) -> int:
    """End what a killed run left behind; how many there were.

    They have its mark, or, if they threw their environment away, they are in its workspaces.
    """
    ended = 0
    until = time.monotonic() + KILL_SECONDS
    while _has_proc() and time.monotonic() < until:
        pids = _parents()
        found = marked(mark, pids) | _at_work_in(folder, pids)
        found = {pid for pid in found if not _is_dead(pid)}
        if not found:
            break
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
                ended += 1
        time.sleep(0.02)
    return ended


def _at_work_in(folder: Path, pids: dict[int, int]) -> set[int]:
    """The processes whose folder is below another, also one that is gone; not those above us."""
    found = set()
    above, pid = {os.getpid()}, os.getpid()
    while pid := pids.get(pid, 0):
        above.add(pid)
    for pid in pids.keys() - above:
        with contextlib.suppress(OSError):
            here = os.readlink(f"/proc/{pid}/cwd")  # noqa: PTH115
            if Path(here.removesuffix(" (deleted)")).is_relative_to(folder):
                found.add(pid)
    return found


def _has_proc() -> bool:
    return sys.platform == "linux" and Path("/proc/self/stat").exists()


def _adopt_orphans(on: bool) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(SUBREAPER, int(on), 0, 0, 0)


def _children() -> Iterator[int]:
    me = os.getpid()
    return (pid for pid, parent in _parents().items() if parent == me)


def _parents() -> dict[int, int]:
    found = {}
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit() and (stat := _stat(int(name))) is not None:
            found[int(name)] = int(stat[1])
    return found


def _stat(pid: int) -> list[bytes] | None:
    """State, parent and what follows; the name before them may hold anything."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None


def _is_dead(pid: int) -> bool:
    stat = _stat(pid)
    return stat is None or stat[0] in (b"Z", b"X")


def _descendants(roots: set[int], parents: dict[int, int]) -> set[int]:
    found = set(roots)
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return found


def marked(mark: str, pids: dict[int, int]) -> set[int]:
    """The processes that have the mark in their environment, but for our own."""
    wanted = f"{MARK}={mark}".encode()
    found = set()
    for pid in pids:
        with contextlib.suppress(OSError):
            if pid != os.getpid() and wanted in Path(f"/proc/{pid}/environ").read_bytes().split(
                b"\0"
            ):
                found.add(pid)
    return found
