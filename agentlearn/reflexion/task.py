"""A task: what to do, who does it, who judges. A value that is one has been checked as a whole."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from agentlearn.reflexion.shell import named_fields, unsafe_field

FIELDS = ("prompt_file", "prompt", "reflections_file", "workspace", "episode", "task_dir")
TELLING = ("prompt_file", "prompt", "reflections_file")
TOLD_BY_NAME = ("AGENTLEARN_PROMPT_FILE", "AGENTLEARN_REFLECTIONS_FILE")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
Feedback = Literal["none", "counts", "names", "raw"]
MOST_SECONDS = 7 * 86_400


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class FileScore(_Part):
    file: str
    """In the workspace; it is removed before judging, so that only the judge can write it."""
    key: str | None = None

    @field_validator("file")
    @classmethod
    def _inside(cls, value: str) -> str:
        return _relative(value)


class RegexScore(_Part):
    regex: str

    @field_validator("regex")
    @classmethod
    def _compiles(cls, value: str) -> str:
        try:
            re.compile(value)
        except (re.error, RecursionError) as error:
            raise ValueError(f"it is no regular expression: {error}") from None
        return value


class Agent(_Part):
    command: str | None = None
    model: str | None = None
    max_turns: int = Field(30, ge=1, le=1000)
    timeout_seconds: float = Field(900.0, gt=0, le=MOST_SECONDS, allow_inf_nan=False)
    transcript: str | None = None
    """Where the agent leaves its own transcript: a glob, from the workspace or from `~`."""

    @model_validator(mode="after")
    def _one_kind(self) -> Agent:
        if (self.command is None) == (self.model is None):
            raise ValueError("it needs a command or a model, and not both")
        return self

    @field_validator("command")
    @classmethod
    def _can_be_told(cls, value: str | None) -> str | None:
        if value is None:
            return None
        if not value.strip():
            raise ValueError("it is empty")
        if unsafe := unsafe_field(value, FIELDS):
            field, around = unsafe
            raise ValueError(
                f"{field} stands in {around}, where the shell would run what is in it: "
                "write it bare, it is quoted for you"
            )
        if not named_fields(value, TELLING) and not any(name in value for name in TOLD_BY_NAME):
            raise ValueError(
                "the agent cannot be told the reflections: use {prompt_file}, {prompt}, "
                "{reflections_file} or $AGENTLEARN_PROMPT_FILE in it"
            )
        return value


class Evaluator(_Part):
    command: str
    timeout_seconds: float = Field(300.0, gt=0, le=MOST_SECONDS, allow_inf_nan=False)
    score: Literal["exit_code"] | FileScore | RegexScore = "exit_code"
    threshold: float = Field(1.0, allow_inf_nan=False)
    protect: tuple[str, ...] = ()

    @field_validator("command")
    @classmethod
    def _is_there(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("it is empty")
        return value

    @field_validator("protect")
    @classmethod
    def _inside(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_relative(each) for each in value)


class CommandReflector(_Part):
    command: str
    timeout_seconds: float = Field(120.0, gt=0, le=86_400, allow_inf_nan=False)


class Task(_Part):
    name: str
    prompt: str
    workspace: str
    agent: Agent
    evaluator: Evaluator
    max_episodes: int = Field(3, ge=1, le=1000)
    reflector: Literal["auto", "model", "rules", "none"] | CommandReflector = "auto"
    feedback: Feedback = "names"
    keep_reflections: int = Field(3, ge=0, le=100)
    env: tuple[str, ...] = ()
    """Variables that the judge and the built-in agent's shell get although they look secret."""

    @field_validator("name")
    @classmethod
    def _plain_name(cls, value: str) -> str:
        if not NAME.fullmatch(value):
            raise ValueError("it is letters, digits, - _ and . (64 at most)")
        return value

    @field_validator("prompt")
    @classmethod
    def _says_something(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("it is empty")
        return value


def _relative(value: str) -> str:
    path = Path(value)
    if not value.strip() or path.is_absolute() or ".." in path.parts or value in (".", "./"):
        raise ValueError(f"{value!r} is no path inside the workspace")
    return value
