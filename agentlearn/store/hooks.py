"""Hooks in the settings of agents: written without disturbing what is there, and taken out again.

The settings are JSON that a person may have written. What is not ours keeps its place, its value
and its look; a file that is no JSON, or has something else where hooks belong, is told and not
touched. Taken out are commands that are ours to the letter: what a person made of one is not.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from agentlearn.errors import BadInput
from agentlearn.store import files
from agentlearn.store.files import Folder
from agentlearn.store.json_text import Style, remove_member, set_member, spans_of, style_of
from agentlearn.store.places import Places
from agentlearn.store.setup import Step, inside_project

NOTHING = "{\n}\n"
MADE = Style("    ", "\n")
"""How a file of ours looks. What was an empty object of a person's has two spaces, so that the one
is known from the other when the hooks are all that is in it."""
MOMENT = r" hook (?:session-start|user-prompt|session-end)"
CALLS = re.compile(rf"\bagentlearn\b.*{MOMENT}\b")
PLAIN_PATH = r"[\w./+@~-]"
OURS = re.compile(
    rf"(?:(?:{PLAIN_PATH}*/)?agentlearn|(?:{PLAIN_PATH}|'[^']*'|\"'\")+ -P -m agentlearn){MOMENT}"
)
"""As `program` has it, here or on another machine, and nothing before or after."""


class Hooks(Struct, frozen=True):
    file: str
    """The settings of the project that the agent reads hooks from."""
    events: dict[str, tuple[str, int]]
    """Its name for each moment, what we call that, and how long we may take, in its own unit."""
    hint: str | None = None


# As their documentation has it in 2026. Without a time of their own, the hooks at the end of a
# session get 1.5 s of Claude Code and 1 s of Codex, which warns at every start of more than 3 s.
# None of them has a matcher: a session that is resumed, cleared or made compact is told again.
HOOKS: dict[str, Hooks] = {
    "claude": Hooks(
        ".claude/settings.json",
        {
            "SessionStart": ("session-start", 10),
            "UserPromptSubmit": ("user-prompt", 10),
            "SessionEnd": ("session-end", 10),
        },
    ),
    "codex": Hooks(
        ".codex/hooks.json",
        {
            "SessionStart": ("session-start", 10),
            "UserPromptSubmit": ("user-prompt", 10),
            "SessionEnd": ("session-end", 3),
        },
        "Codex runs new hooks once you trust them (/hooks), and those at the end since 0.145",
    ),
    "gemini": Hooks(
        ".gemini/settings.json",
        {
            "SessionStart": ("session-start", 10_000),
            "BeforeAgent": ("user-prompt", 10_000),
            "SessionEnd": ("session-end", 10_000),
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
        path = _inside_project(places, hooks, remove)
        before = files.read_text(Folder(places.home), path)
        after = without_hooks(before, path) if remove else with_hooks(before, path, hooks.events)
        done = after == before
        if remove and not done and _is_all_ours(before or "", after or ""):
            after = None
        steps.append(Step("unhook" if remove else "hook", path, after or "", is_done=done))
    return steps


def _inside_project(places: Places, hooks: Hooks, remove: bool) -> str:
    try:
        return inside_project(places, hooks.file, "")
    except BadInput as error:
        ours = {event: [_group(*given)] for event, given in hooks.events.items()}
        raise BadInput(
            error.message,
            "take the commands with agentlearn hook out of it yourself"
            if remove
            else f'put this under "hooks" in it yourself: {json.dumps(ours)}',
        ) from None


def _is_all_ours(before: str, after: str) -> bool:
    """Whether a file was made for the hooks and holds nothing without them."""
    is_made = before.startswith(f'{{{MADE.newline}{MADE.indent}"hooks": ')
    return is_made and not json.loads(after)


def program() -> str:
    """How a hook calls us."""
    return (
        "agentlearn"
        if shutil.which("agentlearn")
        else f"{shlex.quote(sys.executable)} -P -m agentlearn"
    )


def with_hooks(text: str | None, name: str, events: dict[str, tuple[str, int]]) -> str:
    """Settings with our hooks beside those that are there."""
    known = _hooks(text, name)
    changed = {}
    for event, (moment, timeout) in events.items():
        groups = (known or {}).get(event, [])
        if not isinstance(groups, list):
            raise BadInput(f"{name} has no list under hooks.{event}: it is not touched")
        if not any(CALLS.search(command) for group in groups for command in _commands(group)):
            changed[event] = [*groups, _group(moment, timeout)]
    whole = text if text and text.strip() else NOTHING
    if not changed:
        return whole
    style = MADE if text is None else style_of(whole)
    if known is None:
        return set_member(whole, "hooks", changed, style, 1)
    return _with_inner(whole, lambda inner: _set_all(inner, changed, style))


def _group(moment: str, timeout: int) -> dict[str, Any]:
    command = f"{program()} hook {moment}"
    return {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}


def calls_left(text: str) -> list[str]:
    """Commands in settings that call us, but are a person's own."""
    hooks = _hooks(text, "")
    return [
        command
        for groups in (hooks or {}).values()
        for group in (groups if isinstance(groups, list) else [])
        for command in _commands(group)
        if CALLS.search(command) and not OURS.fullmatch(command)
    ]


def without_hooks(text: str | None, name: str) -> str | None:
    """Settings without our hooks; lists that held nothing else go with them."""
    known = _hooks(text, name)
    changed = {
        event: [kept for group in groups if (kept := _without_ours(group))]
        for event, groups in (known or {}).items()
        if isinstance(groups, list) and any(_is_ours(group) for group in groups)
    }
    if text is None or not changed:
        return text
    if not any(changed.values()) and set(known or {}) == set(changed):
        return remove_member(text, "hooks")
    return _with_inner(text, lambda inner: _set_all(inner, changed, style_of(text)))


def _with_inner(text: str, change: Callable[[str], str]) -> str:
    """The settings with another text of their hooks."""
    span = spans_of(text)["hooks"]
    return text[: span.value] + change(text[span.value : span.end]) + text[span.end :]


def _set_all(inner: str, changed: dict[str, list[Any]], style: Style) -> str:
    for event, groups in changed.items():
        inner = (
            set_member(inner, event, groups, style, 2) if groups else remove_member(inner, event)
        )
    return inner


def _hooks(text: str | None, name: str) -> dict[str, Any] | None:
    """What is set under hooks; None if nothing is."""
    try:
        value = json.loads(text, object_pairs_hook=_each_once) if text and text.strip() else {}
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"{name} is no JSON: {error}: it is not touched",
            "comments and trailing commas have to go before hooks can be put in",
        ) from None
    if not isinstance(value, dict):
        raise BadInput(f"{name} holds no settings: it is no JSON object")
    hooks = value.get("hooks")
    if "hooks" in value and not isinstance(hooks, dict):
        raise BadInput(f"{name} has something else under hooks: it is not touched")
    return hooks


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of two members of one name only one would be left."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice in an object")
    return found


def _entries(group: Any) -> list[Any]:
    inner = group.get("hooks") if isinstance(group, dict) else None
    return inner if isinstance(inner, list) else []


def _command(entry: Any) -> str:
    command = entry.get("command") if isinstance(entry, dict) else None
    return command if isinstance(command, str) else ""


def _commands(group: Any) -> list[str]:
    return list(map(_command, _entries(group)))


def _is_ours(group: Any) -> bool:
    return any(map(OURS.fullmatch, _commands(group)))


def _without_ours(group: Any) -> Any:
    """A group without our commands; nothing if it had no others."""
    if not _is_ours(group):
        return group
    others = [entry for entry in _entries(group) if not OURS.fullmatch(_command(entry))]
    return {**group, "hooks": others} if others else None
