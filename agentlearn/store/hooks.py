"""Hooks in the settings of agents: written without disturbing what is there, and taken out again.

The settings are JSON that a person may have written. What is not ours keeps its place and value; a
file that is no JSON, or has something else where hooks belong, is told and not touched.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from typing import Any

from msgspec import Struct

from agentlearn.errors import BadInput
from agentlearn.store import files
from agentlearn.store.files import Folder
from agentlearn.store.places import Places
from agentlearn.store.setup import Step, inside_project

OURS = re.compile(r"\bagentlearn\b.* hook (?:session-start|user-prompt|session-end)\b")


class Hooks(Struct, frozen=True):
    file: str
    """The settings of the project that the agent reads hooks from."""
    events: dict[str, str]
    """Its name for each moment."""
    hint: str | None = None


HOOKS: dict[str, Hooks] = {
    "claude": Hooks(
        ".claude/settings.json",
        {
            "SessionStart": "session-start",
            "UserPromptSubmit": "user-prompt",
            "SessionEnd": "session-end",
        },
    ),
    "codex": Hooks(
        ".codex/hooks.json",
        {
            "SessionStart": "session-start",
            "UserPromptSubmit": "user-prompt",
            "Stop": "session-end",
        },
        "older versions of Codex want codex_hooks = true under [features] in config.toml",
    ),
    "gemini": Hooks(
        ".gemini/settings.json",
        {
            "SessionStart": "session-start",
            "BeforeAgent": "user-prompt",
            "SessionEnd": "session-end",
        },
    ),
}


def plan_hooks(places: Places, names: list[str], remove: bool) -> list[Step]:
    """What has to be written for the hooks of these agents, or to be rid of them."""
    steps = []
    for name in names:
        if name not in HOOKS:
            raise BadInput(f"--hooks are for {', '.join(HOOKS)}, not for {name}")
        hooks = HOOKS[name]
        path = inside_project(places, hooks.file, "")
        before = files.read_text(Folder(places.home), path)
        after = without_hooks(before, path) if remove else with_hooks(before, path, hooks.events)
        done = after == before
        steps.append(Step("unhook" if remove else "hook", path, after or "", is_done=done))
    return steps


def program() -> str:
    """How a hook calls us."""
    return (
        "agentlearn"
        if shutil.which("agentlearn")
        else f"{shlex.quote(sys.executable)} -m agentlearn"
    )


def with_hooks(text: str | None, name: str, events: dict[str, str]) -> str:
    """Settings with our hooks beside those that are there."""
    settings = _settings(text, name)
    hooks = settings.setdefault("hooks", {})
    if not isinstance(hooks, dict):
        raise BadInput(f"{name} has something else under hooks: it is not touched")
    changed = False
    for event, moment in events.items():
        groups = hooks.setdefault(event, [])
        if not isinstance(groups, list):
            raise BadInput(f"{name} has no list under hooks.{event}: it is not touched")
        if not any(_is_ours(group) for group in groups):
            changed = True
            command = f"{program()} hook {moment}"
            groups.append({"hooks": [{"type": "command", "command": command}]})
    return _written(settings, text) if changed or text is None else text


def without_hooks(text: str | None, name: str) -> str | None:
    """Settings without our hooks; lists that held nothing else go with them."""
    if text is None:
        return None
    settings = _settings(text, name)
    hooks = settings.get("hooks")
    if not isinstance(hooks, dict):
        return text
    changed = False
    for event, groups in list(hooks.items()):
        if isinstance(groups, list) and any(_is_ours(group) for group in groups):
            changed = True
            hooks[event] = [kept for group in groups if (kept := _without_ours(group))]
            if not hooks[event]:
                del hooks[event]
    if changed and not hooks:
        del settings["hooks"]
    return _written(settings, text) if changed else text


def _settings(text: str | None, name: str) -> dict[str, Any]:
    try:
        value = json.loads(text) if text and text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{name} is no JSON: {error}: it is not touched") from None
    if not isinstance(value, dict):
        raise BadInput(f"{name} holds no settings: it is no JSON object")
    return value


def _commands(group: Any) -> list[Any]:
    inner = group.get("hooks") if isinstance(group, dict) else None
    return inner if isinstance(inner, list) else []


def _is_our_command(hook: Any) -> bool:
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and OURS.search(command) is not None


def _is_ours(group: Any) -> bool:
    return any(map(_is_our_command, _commands(group)))


def _without_ours(group: Any) -> Any:
    """A group without our commands; nothing if it had no others."""
    if not _is_ours(group):
        return group
    others = [hook for hook in _commands(group) if not _is_our_command(hook)]
    return {**group, "hooks": others} if others else None


def _written(settings: dict[str, Any], before: str | None) -> str:
    """JSON, indented as the file was."""
    found = re.search(r"^(\t|[ ]{2,})\S", before or "", re.MULTILINE)
    indent: str | int = found[1] if found else 2
    return json.dumps(settings, indent=indent, ensure_ascii=False) + "\n"
