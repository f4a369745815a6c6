"""Task files: YAML that people write, so what is wrong is told with its line and a near match."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from agentlearn.errors import BadInput
from agentlearn.reflexion.task import (
    Agent,
    CommandReflector,
    Evaluator,
    FileScore,
    RegexScore,
    Task,
)

DEEPEST = 20
TEMPLATE = Path(__file__).parent / "task.yaml"


def load_task(path: Path, written_for: Path | None = None) -> Task:
    """The task of a file, or BadInput with the line that is wrong.

    `written_for` is the folder that its paths are relative to, if that is not its own.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        hint = "agentlearn reflexion new writes one to start from"
        raise BadInput(f"cannot read the task {path}: {reason}", hint) from None
    try:
        root = yaml.compose(text, yaml.SafeLoader)
        data = _plain(root)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise BadInput(f"{path}:{line}: it cannot be read: {error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(data, dict):
        raise BadInput(f"{path} holds no task: it is no mapping of names")
    try:
        task = Task.model_validate(data)
    except ValidationError as error:
        raise _explained(path, root, data, error) from None
    workspace = workspace_of(task, (written_for or path.absolute().parent) / path.name)
    if not workspace.is_dir():
        line = _line_of(root, ("workspace",))
        raise BadInput(f"{path}:{line}: workspace: there is no folder {workspace}")
    return task


def workspace_of(task: Task, path: Path) -> Path:
    return (path.absolute().parent / Path(task.workspace).expanduser()).resolve()


def _plain(node: Any) -> Any:
    """The value of a YAML node."""
    if node is None:
        return None
    _check(node, set(), 0)
    loader = yaml.SafeLoader("")
    try:
        return _tuples(loader.construct_document(node))
    finally:
        loader.dispose()


def _check(node: Any, seen: set[int], depth: int) -> None:
    """No aliases, which could make a few lines stand for billions, and no name twice."""
    if isinstance(node, yaml.ScalarNode):
        return
    if id(node) in seen or depth > DEEPEST:
        raise yaml.MarkedYAMLError(
            problem="aliases (*name) and deep nesting are not taken here",
            problem_mark=node.start_mark,
        )
    seen.add(id(node))
    names: set[str] = set()
    for item in node.value:
        key, value = item if isinstance(node, yaml.MappingNode) else (None, item)
        if key is not None:
            if key.value in names:
                raise yaml.MarkedYAMLError(
                    problem=f"{key.value} stands there twice", problem_mark=key.start_mark
                )
            names.add(str(key.value))
        _check(value, seen, depth + 1)


def _tuples(value: Any) -> Any:
    """Lists as the tuples that frozen values hold; whole numbers stay what they are."""
    if isinstance(value, dict):
        return {key: _tuples(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(_tuples(item) for item in value)
    return value


def _explained(path: Path, root: Any, data: Any, error: ValidationError) -> BadInput:
    """The first thing that is wrong, with its line and a near match."""
    errors = error.errors()
    # Of the members of a union the one that was meant is the one whose keys were used.
    first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    if "score" in map(str, first["loc"]) or "reflector" in map(str, first["loc"]):
        first = _of_union(errors, data) or first
    loc = tuple(part for part in first["loc"] if _is_key(part))
    where = ".".join(str(part) for part in loc)
    line = _line_of(root, loc)
    if first["type"] == "extra_forbidden":
        *parents, name = loc
        known = _known_keys(tuple(parents))
        near = difflib.get_close_matches(str(name), known, 1)
        told = f"did you mean {near[0]}?" if near else f"known here: {', '.join(known)}"
        return BadInput(f"{path}:{line}: unknown key {where}", told)
    if first["type"] == "missing":
        return BadInput(f"{path}:{line}: {where} is missing")
    message = first["msg"].removeprefix("Value error, ").replace("valid tuple", "list")
    hint: str | None = None
    if first["type"] in ("literal_error", "string_type") and isinstance(first["input"], str):
        options = re.findall(r"'([^']+)'", first["msg"])
        near = difflib.get_close_matches(first["input"], options, 1)
        hint = f"did you mean {near[0]}?" if near else None
    return BadInput(f"{path}:{line}: {where}: {message[:1].lower()}{message[1:]}", hint)


UNION_PARTS = re.compile(r"(?:function-\w+|literal|FileScore|RegexScore|CommandReflector).*|str")


def _is_key(part: Any) -> bool:
    return isinstance(part, int) or not UNION_PARTS.fullmatch(str(part))


def _of_union(errors: list[Any], data: Any) -> Any:
    """The error of that member of a union whose kind the value is."""
    for each in errors:
        loc = [str(part) for part in each["loc"]]
        value: Any = data
        for part in loc:
            if not _is_key(part) or not isinstance(value, dict) or part not in value:
                break
            value = value[part]
        kinds = [part for part in loc if not _is_key(part)]
        if isinstance(value, dict):
            wanted = "RegexScore" if "regex" in value else "FileScore"
            wanted = "CommandReflector" if "reflector" in loc else wanted
            if wanted in kinds:
                return each
        elif any(kind.startswith("literal") for kind in kinds):
            return each
    return None


def _known_keys(parents: tuple[Any, ...]) -> list[str]:
    kinds: dict[Any, Any] = {"agent": Agent, "evaluator": Evaluator, "reflector": CommandReflector}
    if not parents:
        return list(Task.model_fields)
    if parents[-1] == "score":
        return [*FileScore.model_fields, *RegexScore.model_fields]
    kind = kinds.get(parents[-1])
    return list(kind.model_fields) if kind else []


def _line_of(root: Any, loc: tuple[Any, ...]) -> int:
    """The line of a key; that of the mapping it belongs in, if it is missing."""
    node, line = root, 1
    for part in loc:
        if isinstance(node, yaml.MappingNode):
            found = [(key, value) for key, value in node.value if key.value == str(part)]
            if not found:
                break
            key, node = found[0]
            line = key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line


def new_task(path: Path) -> str:
    """A commented task file, named after the folder it is for."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", path.absolute().parent.name).strip("-.") or "task"
    text = TEMPLATE.read_text(encoding="utf-8")
    return text.replace("name: example", f"name: {name[:64]}", 1)
