"""What a Codex call gave back: its text, its exit code and whether it failed."""

from __future__ import annotations

import re

import msgspec
from msgspec import Raw

from agentlearn.sessions.text import content_text, number_in
from agentlearn.sessions.values import Status

EXIT_CODE = re.compile(r"(?:^Process exited with code|^Exit code:) (-?\d{1,6})\b", re.MULTILINE)
FAILED = (
    "apply_patch verification failed",
    "exec_command failed for",
    "collab spawn failed",
    "failed to parse function arguments",
    "unsupported call",
    "write_stdin failed",
    "Full-history forked agents",
)
HEAD = 400
"""Exit codes stand in the head that is put before the output, never in the output itself."""


def output_text(raw: Raw) -> tuple[str, int | None]:
    """The text of an output, and the exit code if it is stated as a field."""
    data = memoryview(raw)
    if not data:
        return "", None
    try:
        value = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return bytes(data).decode("utf-8", "replace"), None
    if isinstance(value, str) and value.startswith('{"output"'):
        return _structured(value)
    if isinstance(value, dict) and "content" in value:
        value = value["content"]
    return content_text(value), None


def _structured(text: str) -> tuple[str, int | None]:
    """The old shell and patch tools give JSON inside the string."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return text, None
    metadata = value.get("metadata") if isinstance(value, dict) else None
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    output = value.get("output")
    return (
        output if isinstance(output, str) else text,
        code if isinstance(code, int) and not isinstance(code, bool) else None,
    )


def judge_output(text: str) -> tuple[Status, int | None]:
    """Status and exit code as the words of the harness tell them."""
    head = text[:HEAD]
    if "rejected by user" in head:
        return "rejected", None
    if "aborted by user" in head:
        return "interrupted", None
    code = number_in(EXIT_CODE, head.split("\nOutput:\n", 1)[0], HEAD)
    return ("error" if head.startswith(FAILED) else "ok"), code
