"""Kill a process that changes a store, again and again, and look at what it left.

`python -m tests.store_kills FOLDER ROUNDS SEED`. This process has one thread only, so that it can
fork: two hundred interpreters would take minutes to start. Prints how often a kill fell within a
change; ends with an assertion, which names the round's seed, if anything is lost or torn.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path

from tests.store_worker import one_change
from tests.stores import assert_whole, new_store

FRESH_AFTER = 10
"""A journal that grows for ever makes every change slower, and so rarer."""


def kill_one(project: Path, seed: int) -> list[str]:
    """Start a worker, kill it at some moment; the ids of what it said was done."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        store, pick = new_store(project), random.Random(seed)
        os.write(writing, b"ready\n")
        while True:
            for change_id in one_change(store, pick):
                os.write(writing, f"{change_id}\n".encode())
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        said.readline()
        moment = random.Random(f"moment {seed}")
        time.sleep(moment.uniform(0, 0.12))
        if seed % 2:
            await_change(project)
            time.sleep(moment.uniform(0, 0.002))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return said.read().decode().split()


def await_change(project: Path) -> None:
    """Until the journal grows: random moments alone seldom fall within a change."""
    journal = new_store(project).places.journal
    size, until = _size(journal), time.monotonic() + 5
    while _size(journal) == size and time.monotonic() < until:
        pass


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


def look(project: Path, done: list[str]) -> int:
    """In a process of its own: open the store as any command does, and check it."""
    child = os.fork()
    if child == 0:
        try:
            store = new_store(project)
            before = store.journal.state()
            torn = store.places.journal.exists() and not store.places.journal.read_bytes().endswith(
                b"\n"
            )
            with store.writing() as pen:
                pass
            assert_whole(store)
            assert set(done) <= set(pen.state.changes), "what was said to be done is lost"
            ids = list(pen.state.changes)
            assert len(ids) == len(set(ids))
            os._exit(10 if before.unfinished is not None else 11 if torn else 0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    folder, rounds, seed = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    pick = random.Random(seed)
    for _ in range(20):  # what is imported late, is imported before the first fork
        one_change(new_store(folder / "warm"), pick)
    counts = {0: 0, 10: 0, 11: 0}
    changes = 0
    for number in range(rounds):
        project = folder / str(number // FRESH_AFTER)
        done = kill_one(project, seed + number)
        changes += len(done)
        code = look(project, done)
        assert code in counts, f"seed {seed + number}: see above, and {project}"
        counts[code] += 1
    print(f"unfinished {counts[10]} torn {counts[11]} whole {counts[0]} changes {changes}")


if __name__ == "__main__":
    main()
