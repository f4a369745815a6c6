"""Lines of a session as Claude Code 2.1 writes them, one after the other, into an open file."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any, BinaryIO

import orjson

CWD = "/home/sam/work/depot"
REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was"
    " a file edit, the new_string was NOT written to the file). To tell you how to proceed, the"
    " user said:\n"
)
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"


class Lines:
    """Every method writes one line and gives its number."""

    def __init__(self, out: BinaryIO, random: Random) -> None:
        self.written = 0
        """Bytes so far."""
        self.count = 0
        self._out = out
        self._random = random
        self._session = self._uuid()
        self._parent: str | None = None
        self._call = ("", "")
        self._now = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
        self._context = 18_000

    def opening(self) -> int:
        """What stands before the first message."""
        message = self._uuid()
        snapshot = {"messageId": message, "trackedFileBackups": {}, "timestamp": self._time(0)}
        return self._put(
            {
                "type": "file-history-snapshot",
                "messageId": message,
                "snapshot": snapshot,
                "isSnapshotUpdate": False,
            }
        )

    def person(self, text: str) -> int:
        """What the person typed; they take their time."""
        seconds = self._random.uniform(20, 400)
        message = {"role": "user", "content": text}
        rest = {"promptId": self._uuid(), "origin": {"kind": "human"}}
        return self._entry("user", seconds, {"message": message, **rest})

    def agent(self, text: str) -> int:
        return self._assistant({"type": "text", "text": text}, "end_turn")

    def thought(self) -> int:
        """Reasoning, of which this version keeps only the signature."""
        signature = base64.b64encode(self._random.randbytes(self._random.randint(300, 900)))
        block = {"type": "thinking", "thinking": "", "signature": signature.decode()}
        return self._assistant(block, "tool_use")

    def call(self, tool: str, **arguments: Any) -> int:
        made = "toolu_01" + "".join(self._random.choices(LETTERS, k=22))
        block = {"type": "tool_use", "id": made, "name": tool, "input": arguments}
        line = self._assistant(block, "tool_use")
        self._call = (made, self._parent or "")
        return line

    def bash(self, command: str, description: str = "Run the command") -> int:
        return self.call("Bash", command=command, description=description)

    def result(self, text: str, told: Any) -> int:
        """What the last call gave; `told` is what the program itself keeps of it."""
        return self._result({"content": text, "is_error": False}, told)

    def failure(self, text: str) -> int:
        return self._result({"content": text, "is_error": True}, f"Error: {text}")

    def ran(self, output: str, exit_code: int = 0) -> int:
        if exit_code:
            return self.failure(f"Exit code {exit_code}\n{output}")
        told = {"stdout": output, "stderr": "", "interrupted": False, "isImage": False}
        return self.result(output, told)

    def edited(self, path: str, old: str, new: str) -> int:
        patch = {
            "oldStart": self._random.randint(1, 400),
            "oldLines": old.count("\n") + 1,
            "newLines": new.count("\n") + 1,
            "lines": [*(f"-{row}" for row in old.split("\n")), *(f"+{r}" for r in new.split("\n"))],
        }
        told = {
            "filePath": path,
            "oldString": old,
            "newString": new,
            "structuredPatch": [patch],
            "userModified": False,
            "replaceAll": False,
        }
        return self.result(f"The file {path} has been updated successfully.", told)

    def rejected(self, reason: str) -> int:
        return self.failure(REJECTED + reason)

    def turn_ended(self) -> int:
        took = self._random.randint(4_000, 400_000)
        rest = {"subtype": "turn_duration", "durationMs": took, "isMeta": False}
        return self._entry("system", 0.1, rest)

    def _assistant(self, block: dict[str, Any], stop: str) -> int:
        random = self._random
        self._context = min(160_000, self._context + random.randint(50, 900))
        usage = {
            "input_tokens": random.randint(1, 12),
            "cache_creation_input_tokens": random.randint(100, 4000),
            "cache_read_input_tokens": self._context,
            "output_tokens": random.randint(20, 900),
            "service_tier": "standard",
        }
        message = {
            "model": "claude-opus-4-8",
            "id": "msg_01" + "".join(random.choices(LETTERS, k=22)),
            "type": "message",
            "role": "assistant",
            "content": [block],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage,
        }
        request = "req_011" + "".join(random.choices(LETTERS, k=21))
        return self._entry(
            "assistant", random.uniform(1, 15), {"message": message, "requestId": request}
        )

    def _result(self, block: dict[str, Any], told: Any) -> int:
        made, source = self._call
        content = [{"tool_use_id": made, "type": "tool_result", **block}]
        rest = {"toolUseResult": told, "sourceToolAssistantUUID": source}
        message = {"role": "user", "content": content}
        return self._entry("user", self._random.uniform(0.05, 9), {"message": message, **rest})

    def _entry(self, kind: str, seconds: float, rest: dict[str, Any]) -> int:
        parent, self._parent = self._parent, self._uuid()
        return self._put(
            {
                "parentUuid": parent,
                "isSidechain": False,
                "userType": "external",
                "cwd": CWD,
                "sessionId": self._session,
                "version": "2.1.118",
                "gitBranch": "main",
                "type": kind,
                **rest,
                "uuid": self._parent,
                "timestamp": self._time(seconds),
            }
        )

    def _put(self, value: dict[str, Any]) -> int:
        line = orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
        self._out.write(line)
        self.written += len(line)
        self.count += 1
        return self.count

    def _uuid(self) -> str:
        made = self._random.randbytes(16).hex()
        return f"{made[:8]}-{made[8:12]}-{made[12:16]}-{made[16:20]}-{made[20:]}"

    def _time(self, seconds: float) -> str:
        self._now += timedelta(seconds=seconds)
        return self._now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self._now.microsecond // 1000:03}Z"
