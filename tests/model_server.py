"""A server with the OpenAI chat API on this machine that misbehaves on purpose.

A test gives it one behaviour a request; the last one stays. What it was asked is kept.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from msgspec import Struct

Behaviour = Callable[["Handler"], None]


class Asked(Struct):
    path: str
    headers: dict[str, str]
    body: Any
    at: float


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ModelServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self._answer(json.loads(body))

    def do_GET(self) -> None:
        self._answer(None)

    def _answer(self, body: Any) -> None:
        server = self.server
        headers = {name.lower(): value for name, value in self.headers.items()}
        with server.turn:
            server.asked.append(Asked(self.path, headers, body, time.monotonic()))
            if self.path.endswith("/models"):
                behave = server.models
            else:
                behave = server.behaviours[0]
                if len(server.behaviours) > 1:
                    server.behaviours.pop(0)
        with contextlib.suppress(ConnectionError):  # the client may be gone: that is the test
            behave(self)

    def send(self, code: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(code)
        for name, value in {"content-length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


class ModelServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, behaviours: list[Behaviour], models: Behaviour) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviours = behaviours
        self.models = models
        self.asked: list[Asked] = []
        self.turn = threading.Lock()
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    @property
    def chats(self) -> list[Any]:
        """The bodies of the requests, without the look for models."""
        return [asked.body for asked in self.asked if not asked.path.endswith("/models")]

    def handle_error(self, *_: Any) -> None:
        pass  # a connection that a test broke off


@contextlib.contextmanager
def model_server(*behaviours: Behaviour, models: Behaviour | None = None) -> Iterator[ModelServer]:
    server = ModelServer(list(behaviours), models or status(404))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def sent(body: Any, code: int = 200, headers: dict[str, str] | None = None) -> Behaviour:
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda handler: handler.send(code, text, headers)


def status(code: int, message: str = "no", headers: dict[str, str] | None = None) -> Behaviour:
    return sent({"error": {"message": message}}, code, headers)


def answer(
    text: str | None = None, calls: list[Any] | None = None, finish: str = "stop", **more: Any
) -> Behaviour:
    """A reply as a well-behaved server gives it."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls is not None:
        message["tool_calls"] = calls
    usage = {"prompt_tokens": 11, "completion_tokens": 5, "total_tokens": 16}
    choices = [{"index": 0, "message": message, "finish_reason": finish}]
    return sent({"object": "chat.completion", "choices": choices, "usage": usage, **more})


def called(name: Any, arguments: Any, call_id: Any = "c1") -> dict[str, Any]:
    return {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }


def hang(handler: Handler) -> None:
    handler.server.over.wait(30)


def hang_up(handler: Handler) -> None:
    handler.close_connection = True


def half_a_body(handler: Handler) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"message": {"content": "the first ha')
    handler.close_connection = True


def half_without_length(handler: Handler) -> None:
    """Where the end of the connection is the end of the answer, nothing tells that it is cut."""
    handler.send_response(200)
    handler.send_header("connection", "close")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [{"message": {"content": "the first ha')
    handler.close_connection = True


def drip(code: int = 200) -> Behaviour:
    """A byte now and then, for ever."""

    def behave(handler: Handler) -> None:
        handler.send_response(code)
        handler.send_header("content-length", "1000000")
        handler.end_headers()
        while not handler.server.over.wait(0.05):
            handler.wfile.write(b" ")
            handler.wfile.flush()

    return behave


def flood(code: int = 200) -> Behaviour:
    """More and more, for ever."""

    def behave(handler: Handler) -> None:
        handler.send_response(code)
        handler.send_header("connection", "close")
        handler.end_headers()
        while not handler.server.over.is_set():
            handler.wfile.write(b" " * 1_000_000)

    return behave
