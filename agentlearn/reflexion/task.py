"""A task: what to do, who does it, who judges. A value that is one has been checked as a whole."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    field_validator,
    model_validator,
)

from agentlearn.reflexion.shell import named_fields, unsafe_field

FIELDS = ("prompt_file", "prompt", "reflections_file", "workspace", "episode", "task_dir")
TELLING = ("prompt_file", "prompt", "reflections_file")
TOLD_BY_NAME = ("AGENTLEARN_PROMPT_FILE", "AGENTLEARN_REFLECTIONS_FILE")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
Feedback = Literal["none", "counts", "names", "raw"]
MOST_SECONDS = 7 * 86_400


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _filled(value: str) -> str:
    if not value.strip():
        raise ValueError("it is empty")
    return value


def _at_home(value: str) -> str:
    """`~nobody/x` is no path."""
    try:
        Path(value).expanduser()
    except RuntimeError:
        raise ValueError(f"there is no home folder for {Path(value).parts[0]}") from None
    return value


def _inside(value: str) -> str:
    """A path or a glob in the workspace, which is not the workspace itself."""
    path = Path(value)
    if path.is_absolute() or ".." in path.parts or set(path.parts) <= {"**"}:
        raise ValueError(f"{value!r} is no path inside the workspace")
    try:
        next(Path(os.devnull).glob(value), None)
    except (ValueError, NotImplementedError, re.error) as error:
        raise ValueError(f"{value!r} is no pattern: {str(error)[:100]}") from None
    return value


Filled = Annotated[str, AfterValidator(_filled)]
Place = Annotated[str, AfterValidator(_filled), AfterValidator(_at_home)]
Inside = Annotated[str, AfterValidator(_inside)]


class FileScore(_Part):
    file: Inside
    """In the workspace; it is removed before judging, so that only the judge can write it."""
    key: str | None = None


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


def _kind_of_score(value: Any) -> str:
    """What is meant, so that only what is wrong with that is told."""
    if isinstance(value, dict):
        is_regex = difflib.get_close_matches("regex", map(str, value), 1)
        return "RegexScore" if is_regex else "FileScore"
    return type(value).__name__ if isinstance(value, _Part) else "word"


def _kind_of_reflector(value: Any) -> str:
    return "CommandReflector" if isinstance(value, (dict, _Part)) else "word"


Score = Annotated[
    Annotated[Literal["exit_code"], Tag("word")]
    | Annotated[FileScore, Tag("FileScore")]
    | Annotated[RegexScore, Tag("RegexScore")],
    Discriminator(_kind_of_score),
]


class Agent(_Part):
    command: Filled | None = None
    model: Filled | None = None
    max_turns: int = Field(30, ge=1, le=1000)
    timeout_seconds: float = Field(900.0, gt=0, le=MOST_SECONDS, allow_inf_nan=False)
    transcript: Place | None = None
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
    command: Filled
    timeout_seconds: float = Field(300.0, gt=0, le=MOST_SECONDS, allow_inf_nan=False)
    score: Score = "exit_code"
    threshold: float = Field(1.0, allow_inf_nan=False)
    protect: tuple[Inside, ...] = ()


class CommandReflector(_Part):
    command: Filled
    timeout_seconds: float = Field(120.0, gt=0, le=86_400, allow_inf_nan=False)


Reflector = Annotated[
    Annotated[Literal["auto", "model", "rules", "none"], Tag("word")]
    | Annotated[CommandReflector, Tag("CommandReflector")],
    Discriminator(_kind_of_reflector),
]


class Task(_Part):
    name: str
    prompt: Filled
    workspace: Place
    agent: Agent
    evaluator: Evaluator
    max_episodes: int = Field(3, ge=1, le=1000)
    reflector: Reflector = "auto"
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
