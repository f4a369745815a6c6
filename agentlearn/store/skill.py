"""SKILL.md: the open Agent Skills format, with the ids of our changes under `metadata`.

The part between the dashes is written so that every reader of the format takes it: plain
`key: value` lines, no flow style. What a person added there is kept as it stands.
"""

from __future__ import annotations

import json
import re
from typing import Any

from agentlearn.store.values import Skill

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MOST_NAME, MOST_DESCRIPTION, MOST_BODY = 64, 1024, 40_000
MOST_HEAD, MOST_NESTED = 16_000, 200
KEY = "agentlearn"
PIN = "pinned"
METADATA = re.compile(r"^metadata:[ \t]*\r?\n((?:[ \t]+[^\n]*\n)*)", re.MULTILINE)
HEAD = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
PLAIN = re.compile(r"[A-Za-z][^:#\"'\n]*[A-Za-z0-9.)]")
WORDS_OF_YAML = {"true", "false", "null", "yes", "no", "on", "off", "y", "n"}
FIELDS = {"name", "description", "license", "allowed-tools", "metadata", "compatibility"}
OWN = (
    r"^name:[^\n]*\n",
    r"^description:[^\n]*\n(?:[ \t]+[^\n]*\n)*",
    rf"^metadata:[ \t]*\n(?=[ \t]+{KEY}:[^\n]*\n(?![ \t]))",
    rf"^[ \t]+{KEY}:[^\n]*\n",
)
USE_WHEN = re.compile(r"\buse\b[^.]{0,40}\b(?:when|whenever|if|for|before|after)\b", re.IGNORECASE)


def format_skill(name: str, description: str, body: str, changes: tuple[str, ...]) -> str:
    ids = f'metadata:\n  {KEY}: "{" ".join(changes)}"\n'
    head = f"name: {name}\ndescription: {_scalar(description)}\n{ids}"
    return f"---\n{head}---\n\n{unix(body).strip()}\n"


def rewritten(skill: Skill, description: str | None, body: str | None) -> str | None:
    """The same SKILL.md with another description or body; None if its head is not as ours are."""
    head = HEAD.match(skill.text)
    lines = re.findall(r"^description:[^\n]*\n(?![ \t])", head[1], re.MULTILINE) if head else []
    if head is None or len(lines) != 1:
        return None
    fields = head[1]
    if description is not None:
        fields = fields.replace(lines[0], f"description: {_scalar(description)}\n")
    text = f"---\n{fields}---\n\n{(skill.body if body is None else body).strip()}\n"
    return like(skill.text, text)


def unix(text: str) -> str:
    return text.replace("\r\n", "\n")


def like(model: str, text: str) -> str:
    """The text with the line ends of another."""
    return unix(text).replace("\n", "\r\n") if "\r\n" in model else text


def with_changes(text: str, changes: tuple[str, ...]) -> str:
    """The same SKILL.md with these ids; the rest of it stays to the letter."""
    return _with_metadata(text, KEY, " ".join(changes))


def with_pin(text: str, pinned: bool) -> str:
    return _with_metadata(text, PIN, "true" if pinned else None)


def without_changes(text: str | None) -> str | None:
    """For comparing: the ids of changes are ours, not part of what the skill says."""
    if text is None or not parse_skill("", text).changes:
        return text
    return with_changes(text, ())


def _with_metadata(text: str, key: str, value: str | None) -> str:
    head = HEAD.match(text)
    if head is None:
        return text
    block = METADATA.search(head[1])
    if block is None:
        if value is None or re.search(r"^metadata:", head[1], re.MULTILINE):
            return text  # on one line with its braces: written by hand, left to the hand
        return _spliced(text, head.end(1), 0, f'metadata:\n  {key}: "{value}"\n')
    first = re.match(r"[ \t]*", block[1])
    indent = first[0] if first and first[0] else "  "
    line = "" if value is None else f'{indent}{key}: "{value}"\n'
    known = re.search(rf"^[ \t]+{key}:[^\n]*\n", block[1], re.MULTILINE)
    at = head.start(1) + block.start(1) + (known.start() if known else 0)
    return _spliced(text, at, len(known[0]) if known else 0, line)


def _spliced(text: str, at: int, length: int, new: str) -> str:
    return text[:at] + like(text, new) + text[at + length :]


def frame_of(text: str) -> str:
    """The front matter without what a reviewer may set: name, description, the ids of changes."""
    head = HEAD.match(text)
    if head is None:
        return ""
    fields = unix(head[1])
    for own in OWN:
        fields = re.sub(own, "", fields, count=1, flags=re.MULTILINE)
    return fields


def extra_fields(text: str) -> list[str]:
    """The fields that no review sets: who did, a person or another tool, has to know of them."""
    head = HEAD.match(text)
    fields = _fields(head[1])[0] if head is not None else {}
    return sorted(set(map(str, fields)) & (FIELDS - {"name", "description", "metadata"}))


def parse_skill(folder: str, text: str) -> Skill:
    """A SKILL.md taken apart; what is wrong with it is told in `problem`, never raised."""
    head = HEAD.match(text)
    if head is None:
        return Skill(folder, text, folder, "", text, (), False, "it has no front matter")
    fields, problem = _fields(head[1])
    metadata = fields.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    name, description, ids = fields.get("name"), fields.get("description"), metadata.get(KEY)
    problem = problem or _problem(folder, fields, head[1])
    return Skill(
        folder=folder,
        text=text,
        name=name if isinstance(name, str) else folder,
        description=description if isinstance(description, str) else "",
        body=text[head.end() :].strip(),
        changes=tuple(ids.split()) if isinstance(ids, str) else (),
        pinned=metadata.get(PIN) in (True, "true", "True"),
        problem=problem,
    )


def _fields(head: str) -> tuple[dict[str, Any], str | None]:
    """All values as text: what YAML makes of `!!int` or a merge is nothing to trust a file with."""
    import yaml

    if len(head) > MOST_HEAD or sum(map(head.count, "[{&*")) > MOST_NESTED:
        return {}, "its front matter is too long or nested"
    try:
        value = yaml.load(head, Loader=getattr(yaml, "CBaseLoader", yaml.BaseLoader))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        reason = str(getattr(error, "problem", None) or error).splitlines()[0]
        return {}, f"its front matter is not YAML: {reason}"
    if not isinstance(value, dict):
        return {}, "its front matter is no mapping"
    return value, None


def _problem(folder: str, fields: dict[str, Any], head: str) -> str | None:
    name, description = fields.get("name"), fields.get("description")
    if not isinstance(name, str) or not name.strip():
        return "it has no name"
    if name != folder:
        return f"its name {name!r} is not that of its folder {folder!r}"
    if (wrong := name_problem(name)) is not None:
        return wrong
    if not isinstance(description, str) or not description.strip():
        return "it has no description"
    if len(description) > MOST_DESCRIPTION:
        return f"its description has {len(description)} characters, over {MOST_DESCRIPTION}"
    if "---" in head:
        return "its front matter has --- inside, which other readers take for its end"
    if extra := sorted(set(map(str, fields)) - FIELDS):
        return f"its front matter has unknown fields: {', '.join(extra)}"
    return None


def name_problem(name: str) -> str | None:
    if len(name) > MOST_NAME:
        return f"the name has {len(name)} characters, over {MOST_NAME}"
    if not NAME.fullmatch(name):
        return f"{name[:80]!r} is no name: small letters and digits, words joined by one dash"
    return None


def _scalar(text: str) -> str:
    """A value on one line: bare if no reader can mistake it, else in double quotes."""
    folded = " ".join(text.split())
    if PLAIN.fullmatch(folded) and folded.lower() not in WORDS_OF_YAML and " #" not in folded:
        return folded
    return json.dumps(folded, ensure_ascii=False)
