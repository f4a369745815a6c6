"""The marks of each dialect: what its objects look like, whatever they say.

`at_object` and `at_list` judge a file that is one JSON value (the first rule that fits wins);
`at_line` judges one object of many and gives votes. Weights and order come from counting real
files; the traps are look-alikes such as a `session_meta` without a payload.
"""

from __future__ import annotations

from typing import Any

import msgspec

Raws = dict[str, msgspec.Raw]

CODEX_TYPES = {
    "session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state",
    "inter_agent_communication", "inter_agent_communication_metadata", "security_risk_score",
}  # fmt: skip
CODEX_LEGACY_ITEMS = {
    "message",
    "function_call",
    "function_call_output",
    "reasoning",
    "local_shell_call",
}
CLAUDE_TYPES = {"user", "assistant", "system", "attachment", "progress"}
CLAUDE_SIDE_TYPES = {
    "summary", "file-history-snapshot", "file-history-delta", "queue-operation", "last-prompt",
    "ai-title", "custom-title", "agent-name", "mode", "permission-mode", "bridge-session",
    "pr-link",
}  # fmt: skip
STREAM_TYPES = {"system", "assistant", "user", "result", "stream_event"}
EXEC_TYPES = {"thread.started", "turn.started", "turn.completed", "turn.failed"}
COPILOT_PREFIXES = ("session.", "assistant.", "tool.execution", "user.message", "hook.", "system.")
OPENCODE_EVENTS = {"step_start", "tool_use", "text", "step_finish", "error"}


def peek(raw: msgspec.Raw | None) -> Any:
    """The value of a small part; None where it is missing or unreadable."""
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def shape(raw: msgspec.Raw | None) -> str:
    """The first character of a raw value tells what it is, without decoding it."""
    return bytes(memoryview(raw)[:1]).decode("latin-1") if raw is not None else ""


def at_object(value: Raws) -> tuple[str | None, bool]:
    """The dialect of one JSON object (None: unknown), and whether it is a sidecar."""
    has = value.keys().__contains__

    def starts(key: str, opening: str) -> bool:
        return shape(value.get(key)) == opening

    if has("steps") and str(peek(value.get("schema_version"))).startswith("ATIF-"):
        return "atif", False
    if has("trajectory_format") and has("messages") and has("info"):
        return "mini-swe-agent", False
    if starts("history", "[") and (has("instance_id") or has("issue")) and has("instruction"):
        return "openhands", False
    if starts("history", "[") and (has("info") or has("trajectory") or len(value) <= 3):
        return "swe-agent", False
    if has("sessionId") and has("projectHash"):
        return "gemini-cli", False
    if starts("info", "{") and starts("messages", "[") and _first_has(value["messages"], "parts"):
        return "opencode", False
    if has("eval") and has("status") and has("plan"):
        return "inspect", False
    if starts("messages", "[") and has("sessionId") and has("agent") and has("updated_at"):
        return "cline", False
    if starts("loglines", "["):
        return "claude-code", False
    if starts("traj", "[") and has("reward"):
        return "openai-chat", False
    if starts("messages", "[") and has("stats") and has("source") and has("session_id"):
        return "dataclaw", False
    if starts("messages", "[") and has("session_start"):
        return "hermes", False
    if starts("conversations", "["):
        return "sharegpt", False
    if starts("session", "{") and starts("items", "["):
        return "codex", False
    if starts("trajectory", "[") and _first_has(value["trajectory"], "source"):
        return "openhands", False
    if has("goal") and starts("turns", "["):
        return "native", False
    if starts("messages", "[") and _first_has(value["messages"], "role"):
        return "openai-chat", False
    if starts("input", "{") and (has("preferred_output") or has("non_preferred_output")):
        return "openai-chat", False
    return None, _is_sidecar(value)


def _is_sidecar(value: Raws) -> bool:
    """Files that stand beside transcripts: labels, verdicts, state, attribution."""
    has = value.keys().__contains__
    return (
        has("agentType")
        or (has("resolved_ids") or has("resolved_instances") or has("submitted_instances"))
        or (has("instance_results") and has("resolved"))
        or (has("instances") and _first_has(value["instances"], "instance_id"))
        or (has("resolved") and (has("generated") or has("applied") or has("no_generation")))
        or (has("execution_status") and has("agent"))
        or (has("checkpoint_id") and has("session_id"))
        or (has("initial_attribution") or has("files_touched"))
        or (has("verifier_result") or has("trial_name"))
    )


def _first_has(raw: msgspec.Raw, key: str) -> bool:
    """Whether the first object of a list has the key."""
    try:
        items = msgspec.json.decode(raw, type=list[msgspec.Raw])
        return bool(items) and key in msgspec.json.decode(items[0], type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return False


def at_list(items: list[msgspec.Raw]) -> tuple[str | None, bool]:
    """The dialect of a JSON list, by its first elements."""
    first = [value for value in map(peek, items[:10]) if isinstance(value, dict)]
    if not first:
        return None, False
    head = first[0]
    if "traj" in head and "reward" in head:
        return "openai-chat", False
    if "conversations" in head:
        return "sharegpt", False
    if any("session_id" in v and str(v.get("type")) in STREAM_TYPES for v in first):
        return "claude-stream-json", False
    if any("kind" in v and "source" in v and "timestamp" in v for v in first):
        return "openhands", False
    if any("source" in v and ("action" in v or "observation" in v) for v in first):
        return "openhands", False
    if "goal" in head and "turns" in head:
        return "native", False
    if isinstance(head.get("messages"), list):
        return "openai-chat", False
    if "role" in head and ("content" in head or "tool_calls" in head):
        if any("ts" in v for v in first):
            return "cline", False
        texts = [v["content"] for v in first if isinstance(v.get("content"), str)]
        marks = ("<returncode>", "bash code block", "```mswea_bash_command")
        if any(mark in text for text in texts for mark in marks):
            return "mini-swe-agent", False
        return "openai-chat", False
    return None, False


def at_line(value: dict[str, Any]) -> list[tuple[str, int]]:
    """The votes of one object among many."""
    kind = value.get("type")
    if isinstance(kind, str):
        return _typed_line(value, kind)
    return _untyped_line(value)


def _typed_line(value: dict[str, Any], kind: str) -> list[tuple[str, int]]:
    has = value.__contains__
    if kind == "session" and str(value.get("schema", "")).startswith("agentlearn-session/"):
        return [("native", 1000)]
    if kind == "session_start":
        return [("droid", 1000)]
    if kind in CODEX_TYPES and isinstance(value.get("payload"), dict):
        return [("codex", 3)]
    if kind in EXEC_TYPES or (kind.startswith("item.") and has("item")):
        return [("codex-exec", 3)]
    if kind.startswith(COPILOT_PREFIXES) and has("data"):
        return [("copilot-cli", 3)]
    if has("uuid") and has("parentUuid") and has("sessionId"):
        message = value.get("message")
        if isinstance(message, dict) and "parts" in message:
            return [("qwen", 3)]
        if kind in CLAUDE_TYPES:
            return [("claude-code", 3)]
        return [("qwen", 1), ("claude-code", 1)]
    if kind in CLAUDE_SIDE_TYPES and (has("sessionId") or has("leafUuid") or has("messageId")):
        return [("claude-code", 2)]
    if kind in STREAM_TYPES and has("session_id") and not has("parentUuid"):
        return [("claude-stream-json", 3)]
    if kind == "init" and has("session_id"):
        return [("gemini-stream-json", 4)]
    if kind in ("tool_use", "tool_result") and has("tool_id"):
        return [("gemini-stream-json", 2)]
    if kind == "session" and has("id") and has("cwd"):
        return [("pi", 4)]
    if kind == "metadata" and has("protocol_version"):
        return [("kimi", 4)]
    if kind in OPENCODE_EVENTS and has("sessionID") and (has("part") or has("error")):
        return [("opencode", 3)]
    if has("step_index") and has("source"):
        return [("antigravity", 3)]
    if has("sessionId") and has("projectHash"):
        return [("gemini-cli", 4)]
    if kind in ("user", "gemini") and has("id") and has("content"):
        return [("gemini-cli", 1)]
    if kind == "message" and isinstance(value.get("message"), dict) and not has("role"):
        return [("pi", 1)] if "role" in value["message"] else []
    if kind in CODEX_LEGACY_ITEMS and not has("session_id") and _is_legacy_item(value, kind):
        return [("codex", 1)]
    if isinstance(value.get("messages"), list):
        return [("openai-chat", 4)]
    if isinstance(value.get("conversations"), list):
        return [("sharegpt", 4)]
    return []


def _is_legacy_item(value: dict[str, Any], kind: str) -> bool:
    """A bare Codex item of 2025, without its envelope."""
    if kind == "message":
        return isinstance(value.get("role"), str) and isinstance(value.get("content"), list)
    return "call_id" in value or kind == "reasoning"


def _untyped_line(value: dict[str, Any]) -> list[tuple[str, int]]:
    has = value.__contains__
    if has("sessionId") and has("projectHash"):
        return [("gemini-cli", 4)]
    if has("$set") or has("$rewindTo"):
        return [("gemini-cli", 3)]
    if has("kind") and has("source") and has("timestamp"):
        return [("openhands", 3)] if _is_event_kind(value["kind"]) else []
    if isinstance(value.get("history"), list) and (has("instance_id") or has("issue")):
        return [("openhands", 4)]
    if has("source") and has("timestamp") and (has("action") or has("observation")):
        return [("openhands", 2)]
    if has("session_id") and has("stats") and isinstance(value.get("messages"), list):
        return [("dataclaw", 5)]
    if has("goal") and isinstance(value.get("turns"), list):
        return [("native", 4)]
    if isinstance(value.get("traj"), list) and has("reward"):
        return [("openai-chat", 4)]
    if isinstance(value.get("messages"), list):
        return [("openai-chat", 4)]
    if isinstance(value.get("conversations"), list):
        return [("sharegpt", 4)]
    if isinstance(value.get("input"), dict) and has("preferred_output"):
        return [("openai-chat", 4)]
    if has("role") and isinstance(value.get("message"), dict) and "content" in value["message"]:
        return [("cursor", 3)]
    if has("step_index") and has("source"):
        return [("antigravity", 3)]
    if has("role") and (has("content") or has("tool_calls")):
        return [("openai-chat", 1)]
    if has("id") and has("timestamp") and has("instructions"):
        return [("codex", 2)]
    return []


def _is_event_kind(kind: Any) -> bool:
    endings = ("Event", "Observation", "Condensation", "Request")
    return isinstance(kind, str) and kind.endswith(endings)
