"""Settings: flag > `AGENTLEARN_*` > `agentlearn.toml` in the project > user config > default.

A value knows where it came from. Files and variables are checked when there are any; a run
without them loads neither a parser nor a validator.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct, structs

from agentlearn.errors import BadInput

PREFIX = "AGENTLEARN_"
NOT_SETTINGS = {
    "AGENTLEARN_HOME",
    "AGENTLEARN_SAMPLES",
    "AGENTLEARN_COMPLETE",
    # What an evaluator is told: it may well call this program.
    "AGENTLEARN_SESSION_ID",
    "AGENTLEARN_SESSION_PATH",
    # What an agent is told that works at a task.
    "AGENTLEARN_PROMPT_FILE",
    "AGENTLEARN_REFLECTIONS_FILE",
    "AGENTLEARN_EPISODE",
    "AGENTLEARN_TASK_DIR",
    "AGENTLEARN_RUN_MARK",
}
PROJECT_FILE = "agentlearn.toml"
AT_LEAST = {
    "max_chars": 1,
    "nudge_interval": 0,
    "max_iterations": 1,
    "max_tokens": 1,
    "memory_chars": 100,
    "user_chars": 100,
    "max_context_items": 1,
    "distill_max_iterations": 1,
    "distill_max_subcalls": 0,
    "distill_max_tokens": 1,
}


class Settings(Struct, frozen=True):
    """What can be set, with its default. Field names are the names of the options."""

    gamma: float = 0.99
    """Discount of `returns` and `trajectory`, 0 to 1."""
    rewards: str | None = None
    """A file with rules for rewards, or `native`."""
    max_chars: int = 12_000
    """Budget of `render`, in characters."""
    keep: Literal["tail", "ends", "evidence"] = "tail"
    """What `render` keeps when the session is over the budget."""
    jobs: int = 1
    """Processes that read a large native file."""
    strict: bool = False
    """Fail if a line cannot be read."""
    model: str | None = None
    """The model that reviews, e.g. gpt-5; none: plain rules do."""
    long: Literal["evidence", "tail", "ends", "rlm"] = "evidence"
    """What a model reads of a session over the budget; rlm: another reads all of it first."""
    reviewer: Literal["auto", "model", "rules"] = "auto"
    """Who reviews: the model if one is named, else the rules."""
    nudge_interval: int = 10
    """So many tool calls make a session worth a review."""
    max_iterations: int = 6
    """Rounds of tools that a model's review may take."""
    max_tokens: int = 200_000
    """Tokens, read and written, that a model's review may take."""
    model_timeout_seconds: float = 120.0
    """How long one answer of the model may take."""
    root_model: str | None = None
    """The model that explores what is too long to send; none: `model`."""
    subcall_model: str | None = None
    """A cheaper one that reads parts of it; none: the root model does."""
    distill_max_iterations: int = 15
    """Rounds that an exploration may take ([distill] max_iterations)."""
    distill_max_subcalls: int = 50
    """Questions about parts that it may ask."""
    distill_max_tokens: int = 1_000_000
    """Tokens, read and written, that it may take."""
    distill_timeout: float = 900.0
    """How many seconds all of it may take."""
    skills_dir: str = ".agents/skills"
    """Where a project's skills lie."""
    memory_chars: int = 2_200
    """Budget of MEMORY.md, in characters."""
    user_chars: int = 1_375
    """Budget of USER.md, in characters."""
    relevance_threshold: float = 0.3
    """The floor for what is put into a prompt, 0 to 1."""
    max_context_items: int = 5
    """So many notes, and so many things that are known, are put into a prompt."""
    auto_persist: bool = True
    """Keep what the runs of `reflexion` taught as knowledge."""
    hooks_reviewer: Literal["rules", "model"] = "rules"
    """Who reviews a session when a hook tells that it ended ([hooks] reviewer)."""


class Setting(Struct, frozen=True):
    name: str
    value: Any
    origin: str
    """`default`, a file, a variable or the option."""


def find_project(start: Path | None = None) -> Path:
    """The first folder upward with `.agentlearn/`, `agentlearn.toml` or `.git`, else the folder."""
    here = (start or Path.cwd()).absolute()
    for folder in (here, *here.parents):
        has_settings = (folder / ".agentlearn").is_dir() or (folder / PROJECT_FILE).is_file()
        if has_settings or (folder / ".git").exists():
            return folder
    return here


def user_config_file() -> Path:
    """`AGENTLEARN_HOME` moves everything; else where the platform keeps configuration."""
    if home := os.environ.get("AGENTLEARN_HOME"):
        return Path(home) / "config.toml"
    if sys.platform == "linux":  # what platformdirs would say, without loading it at every start
        base = os.environ.get("XDG_CONFIG_HOME", "").strip() or Path.home() / ".config"
        return Path(base) / "agentlearn" / "config.toml"
    import platformdirs

    return platformdirs.user_config_path("agentlearn") / "config.toml"


def load_settings(flags: dict[str, Any] | None = None) -> dict[str, Setting]:
    """Every setting with its value and origin. `flags` are the options that were given."""
    found = {
        item.name: Setting(item.name, item.default, "default") for item in structs.fields(Settings)
    }
    for path in (user_config_file(), find_project() / PROJECT_FILE):
        if path.is_file():
            _apply(found, _from_its_folder(path, _read_toml(path)), str(path))
    variables = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(PREFIX) and name not in NOT_SETTINGS and value
    }
    for name, value in variables.items():
        _apply(found, {name.removeprefix(PREFIX).lower(): value}, name)
    for name, value in (flags or {}).items():
        if value is not None:
            _apply(found, {name: value}, _flag(name))
    return found


def _flag(name: str) -> str:
    """The option of a setting: `distill_max_tokens` is --max-tokens of that command."""
    return f"--{name.removeprefix('distill_').replace('_', '-')}"


def resolve(**flags: Any) -> Settings:
    """The settings of a run; options that are None were not given."""
    return Settings(**{item.name: item.value for item in load_settings(flags).values()})


def _read_toml(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from None


def _from_its_folder(path: Path, values: dict[str, Any]) -> dict[str, Any]:
    """A file that a settings file names stands beside it, wherever the command is run."""
    rules = values.get("rewards")
    if not isinstance(rules, str) or rules == "native":
        return values
    return {**values, "rewards": str(path.parent / Path(rules).expanduser())}


def _apply(found: dict[str, Setting], values: dict[str, Any], origin: str) -> None:
    for name, value in _flat(values).items():
        if name not in found:
            raise _unknown(name, origin, list(found))
        found[name] = Setting(name, _checked(name, value, origin), origin)


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    """`[hooks]` with `reviewer` is `hooks_reviewer`."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if name in ("hooks", "distill") and isinstance(value, dict):
            flat |= {f"{name}_{key}": inner for key, inner in value.items()}
        else:
            flat[name] = value
    return flat


def _unknown(name: str, origin: str, known: list[str]) -> BadInput:
    import difflib

    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"settings are: {', '.join(known)}"
    what = origin if origin.startswith(PREFIX) else f"{name} in {origin}"
    return BadInput(f"unknown setting: {what}", hint)


def _checked(name: str, value: Any, origin: str) -> Any:
    if origin.startswith("--"):
        checked = value
    else:
        checked = _converted(name, value, origin)
    problem = _problem(name, checked)
    if problem:
        where = "" if origin.startswith("--") else f" (from {origin})"
        option = origin if origin.startswith("--") else name
        raise BadInput(f"{option} {problem}, not {checked}{where}")
    return checked


def _converted(name: str, value: Any, origin: str) -> Any:
    """The value as the type of its setting: text from a variable becomes a number."""
    from typing import get_type_hints

    from pydantic import TypeAdapter, ValidationError

    wanted = get_type_hints(Settings)[name]
    try:
        return TypeAdapter(wanted).validate_python(value)
    except ValidationError as error:
        message = error.errors()[0]["msg"]
        raise BadInput(f"{name} from {origin}: {message[:1].lower()}{message[1:]}") from None


def _problem(name: str, value: Any) -> str | None:
    """Why a value cannot be, as the middle of a sentence."""
    if name == "gamma" and not 0.0 <= value <= 1.0:
        return "must be between 0 and 1"
    if name == "jobs" and not 1 <= value <= 64:
        return "must be between 1 and 64"
    if name in AT_LEAST and value < AT_LEAST[name]:
        return f"must be at least {AT_LEAST[name]}"
    if name == "relevance_threshold" and not 0.0 <= value <= 1.0:
        return "must be between 0 and 1"
    if name == "hooks_reviewer" and value not in ("rules", "model"):
        return "must be rules or model"
    if name == "reviewer" and value not in ("auto", "model", "rules"):
        return "must be auto, model or rules"
    if name in ("model_timeout_seconds", "distill_timeout") and not 0 < value <= 86_400:
        return "must be over 0, and at most a day"
    if name == "long" and value not in ("evidence", "tail", "ends", "rlm"):
        return "must be evidence, tail, ends or rlm"
    if name == "skills_dir" and not value.strip():
        return "must name a folder"
    if name == "keep" and value not in ("tail", "ends", "evidence"):
        return "must be tail, ends or evidence"
    return None
