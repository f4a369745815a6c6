"""What the tools of a reviewer take, and the JSON schema that a model is told of it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agentlearn.models.model import Tool
from agentlearn.store.store import Refused

EVIDENCE = (
    "The lines of the transcript that say so, as they are numbered there: "
    '["L12-L15", "L40"]. Required for every write.'
)


class Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SkillList(Arguments):
    """List the skills there are: name and description of each."""


class SkillView(Arguments):
    """Read a skill whole. A skill must be viewed in this review before it is changed."""

    name: str
    file: str = Field("SKILL.md", description="SKILL.md, or another file of the skill.")


class SkillManage(Arguments):
    """Change skills. create: name, description, body. patch: name, old, new (old occurs exactly
    once), file. edit: name, description and/or body, whole. write_file, remove_file: name, file
    (under references/, templates/, scripts/ or assets/), content. delete: name, absorbed_by."""

    action: Literal["create", "patch", "edit", "write_file", "remove_file", "delete"]
    name: str = Field(description="Small letters, digits and dashes; names a class of work.")
    evidence: Any = Field(None, description=EVIDENCE)
    description: str | None = Field(
        None, description='What the skill does and "Use when …"; at most 1024 characters.'
    )
    body: str | None = Field(
        None, description="Markdown: trigger, numbered steps with exact commands, pitfalls."
    )
    old: str | None = None
    new: str | None = None
    file: str | None = None
    content: str | None = None
    absorbed_by: str | None = None


class Memory(Arguments):
    """Change the memory. Target MEMORY: how this project is; USER: what the person wants.
    add: text. replace: old (a note, or a part that only it has) and text. remove: old."""

    action: Literal["add", "replace", "remove"]
    target: Literal["MEMORY", "USER", "memory", "user"]
    evidence: Any = Field(None, description=EVIDENCE)
    text: str | None = Field(None, description="One note, one sentence or two.")
    old: str | None = None


TOOLS: dict[str, type[Arguments]] = {
    "skill_list": SkillList,
    "skill_view": SkillView,
    "skill_manage": SkillManage,
    "memory": Memory,
}


def schemas() -> list[Tool]:
    """The tools as a model is told of them."""
    return [
        Tool(name, " ".join((kind.__doc__ or "").split()), _schema(kind))
        for name, kind in TOOLS.items()
    ]


def parsed(kind: type[Arguments], arguments: str | dict[str, Any]) -> Arguments:
    try:
        if isinstance(arguments, dict):
            return kind.model_validate(arguments)
        return kind.model_validate_json(arguments or "{}")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"])[:60]
        message = f"{where}: {first['msg']}" if where else first["msg"]
        raise ValueError(f"wrong arguments: {message[:300]}") from None


def given(wanted: Arguments, name: str) -> str:
    value = getattr(wanted, name)
    if value is None:
        raise Refused(f"{name} is missing")
    return str(value)


def _schema(kind: type[Arguments]) -> dict[str, Any]:
    """The JSON schema of the arguments, without what only pydantic wants."""
    schema = kind.model_json_schema()
    schema.pop("title", None)
    schema.pop("description", None)
    for field in schema.get("properties", {}).values():
        field.pop("title", None)
    evidence = schema.get("properties", {}).get("evidence")
    if evidence is not None:
        evidence.update({"type": "array", "items": {"type": "string"}})
        evidence.pop("default", None)
        schema.setdefault("required", []).append("evidence")
    return schema
