"""The dialects that are read: adding an agent is one module and one line here.

A module has `read_lines`, `read_document`, `read_zip` or `read_sqlite`, one for each layout its
dialect comes in; each takes a `Source` and yields `Session`s. Modules are imported when needed.
Their marks, by which a file is recognised, are in `look`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module

from agentlearn.sessions.source import Source
from agentlearn.sessions.values import Session

READERS = {
    "native": "native",
    "claude-code": "claude_code",
    "claude-stream-json": "claude_stream",
    "codex": "codex",
    "codex-exec": "codex_exec",
    "gemini-cli": "gemini",
    "gemini-stream-json": "gemini_stream",
    "qwen": "qwen",
    "openai-chat": "openai_chat",
    "sharegpt": "sharegpt",
    "atif": "atif",
    "swe-agent": "swe_agent",
    "mini-swe-agent": "mini_swe_agent",
    "openhands": "openhands",
    "inspect": "inspect_log",
    "opencode": "opencode",
    "copilot-cli": "copilot",
    "pi": "pi",
    "cline": "cline",
    "dataclaw": "dataclaw",
    "hermes": "hermes",
    "cursor": "cursor",
    "droid": "droid",
    "kimi": "kimi",
    "antigravity": "antigravity",
}


def reader(dialect: str, layout: str) -> Callable[[Source], Iterator[Session]] | None:
    module = import_module(f"agentlearn.sessions.{READERS[dialect]}")
    return getattr(module, f"read_{layout}", None)
