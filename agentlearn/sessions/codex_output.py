"""What a Codex item holds: its text, and for the output of a call its exit code and status."""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import Raw, Struct

from agentlearn.sessions import document
from agentlearn.sessions.text import image_tag, without_data_uris
from agentlearn.sessions.values import Status

HEADER = re.compile(
    r"(?:(?:Chunk ID|Wall time|Original token count|Total output lines|Command|Warning)\b.*\n)*"
)
EXIT_CODE = re.compile(r"(?:Process exited with code|Exit code:) (-?\d{1,6})\b")
OUTPUT = re.compile(r"^Output:\r?$", re.MULTILINE)
IN_SCRIPT = re.compile(
    r'"chunk_id":\s*"[^"]*",\s*"wall_time_seconds":[^,]*,'
    r'\s*"(exit_code|session_id)":\s*(-?\d{1,12})\b'
)
"""It begins with a literal: that is looked for much faster than what may stand before it."""
BEFORE_IN_SCRIPT = re.compile(r"(?:^[ \t]*|[\[:,] ?)\{\s*\Z", re.MULTILINE)
REJECTED = "rejected by user"
ABORTED = re.compile(r"^aborted by user\b", re.MULTILINE)
FAILED = (
    "Script failed",
    "apply_patch verification failed",
    "exec_command failed for",
    "collab spawn failed",
    "failed to parse function arguments",
    "unsupported call",
    "write_stdin failed",
    "Full-history forked agents",
)
HEAD = 400
"""What the harness says of a call stands in this many characters, and before the output."""


class Part(Struct, gc=False):
    type: str | None = None
    text: str | None = None
    image_url: Raw = Raw(b"")


class Wrapped(Struct, gc=False):
    """An output inside an object, as older versions write it."""

    content: str | list[Part] | None = None
    output: str | None = None
    metadata: dict[str, Any] | None = None


def parts_text(content: str | list[Part] | None) -> str:
    if content is None:
        return ""
    if isinstance(content, str):
        return without_data_uris(content)
    if len(content) == 1:
        return _part_text(content[0])
    return "\n".join(filter(None, map(_part_text, content)))


def _part_text(part: Part) -> str:
    if part.text is not None:
        return without_data_uris(part.text)
    if part.image_url:
        return image_tag({"type": part.type, "image_url": document.value_of(part.image_url)})
    return ""


def output_text(output: str | list[Part] | Wrapped | None) -> tuple[str, int | None]:
    """The text of an output, and the exit code if it is stated as a field."""
    if isinstance(output, Wrapped):
        text = parts_text(output.content if output.content is not None else output.output)
        return text, _code_of(output.metadata)
    if isinstance(output, str) and output.startswith("{") and '"exit_code"' in output:
        return _structured(output)
    return parts_text(output), None


def _structured(text: str) -> tuple[str, int | None]:
    """The old shell and patch tools give JSON inside the string."""
    try:
        value: Any = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return text, None
    output = value.get("output")
    return (output, _code_of(value.get("metadata"))) if isinstance(output, str) else (text, None)


def _code_of(metadata: Any) -> int | None:
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def judge_output(text: str) -> tuple[Status, int | None]:
    """Status and exit code as the words of the harness tell them."""
    head = text[:HEAD]
    header = HEADER.match(head)
    code = EXIT_CODE.match(head, header.end() if header else 0)
    output = OUTPUT.search(head) if "Output:" in head else None
    if text.startswith(FAILED):
        return ("rejected" if REJECTED in head + text[-HEAD:] else "error"), None
    said = head[: output.start()] if output else text if len(text) <= HEAD else ""
    if REJECTED in said:
        return "rejected", None
    if "aborted by user" in said and ABORTED.search(said):
        return "interrupted", None
    if text.startswith("Script completed"):
        codes = [number for name, number in printed_in_script(text) if name == "exit_code"]
        return "ok", next(filter(None, codes), 0 if codes else None)
    return "ok", int(code[1]) if code else None


def printed_in_script(text: str) -> list[tuple[str, int]]:
    """A script that prints what its commands gave back, on one line or on many, shows how each
    ended (`exit_code`), or that it still runs (`session_id`).
    """
    if '"chunk_id"' not in text:
        return []
    return [
        (found[1], int(found[2]))
        for found in IN_SCRIPT.finditer(text)
        if BEFORE_IN_SCRIPT.search(text, max(found.start() - 80, 0), found.start())
    ]
