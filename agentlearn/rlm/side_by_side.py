"""Several requests at once, within a time, that nobody waits for when it is over.

The threads are daemons: after Ctrl-C, or when the time is up, the process ends without them, and
with it their connections. No request outlives the command that made it.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
AT_ONCE = 4
GLANCE_SECONDS = 0.2
"""So often the waiting thread wakes up: a Ctrl-C is seen only then on some systems."""


class OutOfTime(Exception):
    """The time was up before this was done."""


def side_by_side(
    jobs: Sequence[Callable[[], T]], until: float, at_once: int = AT_ONCE
) -> list[T | Exception]:
    """What each job gave or raised, in their order; OutOfTime for those that were not done by
    `until`, as time.monotonic counts.
    """
    done: queue.SimpleQueue[tuple[int, T | Exception]] = queue.SimpleQueue()
    results: dict[int, T | Exception] = {}
    waiting = list(enumerate(jobs))
    running = 0
    while len(results) < len(jobs):
        while waiting and running < at_once:
            number, job = waiting.pop(0)
            _start(number, job, done)
            running += 1
        try:
            number, result = done.get(timeout=GLANCE_SECONDS)
        except queue.Empty:
            if time.monotonic() > until:
                break
            continue
        results[number] = result
        running -= 1
    return [results.get(number, OutOfTime()) for number in range(len(jobs))]


def _start(
    number: int, job: Callable[[], T], done: queue.SimpleQueue[tuple[int, T | Exception]]
) -> None:
    def run() -> None:
        try:
            done.put((number, job()))
        except Exception as error:
            done.put((number, error))

    threading.Thread(target=run, daemon=True).start()
