"""stdin and stdout for the server behind `agentlearn mcp`: no request stays without its answer.

The package has streams of its own for this, but a server on them drops what it is working on when
stdin ends, and on Ctrl-C waits for the next line. Here the end of stdin is told to the server once
every request that was read is answered; who went away altogether is not waited for. A line that is
no message is skipped, and the first one is told on stderr.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from functools import partial
from threading import Thread
from typing import Any, BinaryIO, TypeVar

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.shared.message import SessionMessage

LAST_SECONDS = 30.0
"""So long after the end of stdin an answer may take; a base that is in use is waited for less."""
MOST_LINE = 64 * 1024 * 1024
"""What is longer is read in parts, none of which is a message."""
CANCELLED = "notifications/cancelled"
ToServer = MemoryObjectSendStream[SessionMessage | Exception]
FromServer = MemoryObjectReceiveStream[SessionMessage]
Serve = Callable[
    [
        MemoryObjectReceiveStream[SessionMessage | Exception],
        MemoryObjectSendStream[SessionMessage],
    ],
    Awaitable[None],
]
T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """What may block, in a thread that the end of the program does not wait for."""
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)

    # Not to be cancelled with who waits for it: it could not be told its result then.
    future.set_running_or_notify_cancel()
    Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(future)


async def on_stdio(serve: Serve) -> int:
    """Serve whoever started us; the exit code, or OSError if stdout takes no more."""
    # Copies: at its end Python takes the locks of its own streams, which a reading thread holds.
    stdin: BinaryIO = os.fdopen(os.dup(sys.stdin.fileno()), "rb", closefd=False)
    stdout: BinaryIO = os.fdopen(os.dup(sys.stdout.fileno()), "wb", 0, closefd=False)
    pipes = Pipes(stdin, stdout)
    to_server, reading = anyio.create_memory_object_stream[SessionMessage | Exception]()
    writing, from_server = anyio.create_memory_object_stream[SessionMessage]()
    with contextlib.redirect_stdout(sys.stderr):  # the client gets messages and nothing else
        try:
            async with anyio.create_task_group() as group:
                _heed_signals(pipes, group.cancel_scope)
                group.start_soon(pipes.read, to_server)
                group.start_soon(pipes.write, from_server, group.cancel_scope)
                await serve(reading, writing)
                # All that was asked is answered, or took too long: a client that does not read
                # it must not keep us.
                group.cancel_scope.deadline = anyio.current_time() + 1
        except* anyio.BrokenResourceError:
            # The server stumbles over its own streams when it is ended with a message in hand.
            if not pipes.code and pipes.failed is None:
                raise
    if pipes.failed is not None:
        raise pipes.failed
    return pipes.code


def _heed_signals(pipes: Pipes, everything: anyio.CancelScope) -> None:
    """The handlers of the program raise wherever they are: in a task that is a bug to the loop."""

    def leave(number: int) -> None:
        pipes.code = 128 + number
        everything.cancel()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        if signal.getsignal(number) is not signal.SIG_IGN:  # under nohup it is
            asyncio.get_running_loop().add_signal_handler(number, leave, number)


class Pipes:
    def __init__(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        self.stdin = stdin
        self.stdout = stdout
        self.waiting: set[str] = set()
        """The ids of requests that were read and not answered."""
        self.settled = anyio.Event()
        self.has_skipped = False
        self.failed: OSError | None = None
        """Why nothing can be written any more."""
        self.code = 0
        """How the program ends: by a signal, or well."""

    async def read(self, to_server: ToServer) -> None:
        async with to_server:
            while line := await in_thread(self._line):
                message = self._message(line)
                if message is not None:
                    self._expect(message)
                    await to_server.send(SessionMessage(message))
            with anyio.move_on_after(LAST_SECONDS):
                while self.waiting:
                    self.settled = anyio.Event()
                    await self.settled.wait()

    async def write(self, from_server: FromServer, everything: anyio.CancelScope) -> None:
        async with from_server:
            async for each in from_server:
                text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    await in_thread(partial(_write_whole, self.stdout, text.encode() + b"\n"))
                except OSError as error:
                    self.failed = error
                    everything.cancel()
                    return
                if isinstance(each.message, (types.JSONRPCResponse, types.JSONRPCError)):
                    self._settle(each.message.id)

    def _line(self) -> bytes:
        try:
            return self.stdin.readline(MOST_LINE)
        except OSError as error:  # a terminal that was closed, a folder: there is nothing to read
            print(f"note: stdin ends: {error.strerror}", file=sys.stderr)
            return b""

    def _message(self, line: bytes) -> types.JSONRPCMessage | None:
        try:
            return types.jsonrpc_message_adapter.validate_json(line, by_name=False)
        except ValueError:
            if line.strip() and not self.has_skipped:
                self.has_skipped = True
                print("note: a line that is no message of MCP was skipped", file=sys.stderr)
            return None

    def _expect(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest):
            self.waiting.add(str(message.id))
        elif getattr(message, "method", None) == CANCELLED:  # what is cancelled gets no answer
            self._settle((getattr(message, "params", None) or {}).get("requestId"))

    def _settle(self, id: Any) -> None:
        self.waiting.discard(str(id))
        self.settled.set()


def _write_whole(file: BinaryIO, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
