"""Ctrl-C waits until a change is whole."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from typing import Any

HELD = ("SIGINT", "SIGTERM", "SIGHUP")


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Signals that would end the program are kept, and raised again when this is over.

    Blocking them would not do: another thread takes them, and Python acts on them in the main
    one. There alone they interrupt anything, and there alone a handler can be set.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before: dict[int, Any] = {}
    for name in HELD:
        number = getattr(signal, name, None)
        handler = None if number is None else signal.getsignal(number)
        if number is not None and handler not in (None, signal.SIG_IGN):
            before[number] = handler
            signal.signal(number, lambda found, frame: came.append(found))
    try:
        yield
    finally:
        for number, handler in reversed(before.items()):  # Ctrl-C last: it may come right here
            signal.signal(number, handler)
        for number in dict.fromkeys(came):
            signal.raise_signal(number)
