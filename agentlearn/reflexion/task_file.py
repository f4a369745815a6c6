"""Task files: YAML that people write, so what is wrong is told with its line and a near match."""

from __future__ import annotations

import difflib
import os
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
TEXT = "tag:yaml.org,2002:str"
PLAIN = ("tag:yaml.org,2002:seq", "tag:yaml.org,2002:map")
RESOLVER: Any = yaml.SafeLoader("")
UNUSABLE = re.compile("[\\0\ud800-\udfff]")
UNIONS = (("evaluator", "score"), ("reflector",))
TEMPLATE = Path(__file__).parent / "task.yaml"


def load_task(path: Path, needs_workspace: bool = True) -> Task:
    """The task of a file, or BadInput with the line that is wrong."""
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
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read: {' '.join(str(error).split())[:200]}") from None
    if not isinstance(data, dict):
        raise BadInput(f"{path} holds no task: it is no mapping of names")
    try:
        task = Task.model_validate(data)
    except ValidationError as error:
        raise _explained(path, root, data, error) from None
    if not needs_workspace:
        return task
    workspace = workspace_of(task, path)
    if not _is_folder(workspace):
        line = _line_of(root, ("workspace",))
        raise BadInput(f"{path}:{line}: workspace: there is no folder {workspace}")
    return task


def workspace_of(task: Task, path: Path) -> Path:
    place = path.absolute().parent / Path(task.workspace).expanduser()
    return Path(os.path.realpath(place))  # Path.resolve raises where links go round in circles


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # such as a name that is too long
        return False


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
    """Plain values under plain names: no aliases, which could make a few lines stand for billions,
    no tags, no name twice, and no character that neither a command nor a path can hold."""
    if isinstance(node, yaml.ScalarNode):
        if UNUSABLE.search(node.value):
            raise _refused(node, "NUL and half characters (\\0, \\ud800) are not taken here")
        if node.tag not in (TEXT, RESOLVER.resolve(yaml.ScalarNode, node.value, (True, False))):
            raise _refused(node, "tags (!name) are not taken here")
        return
    if id(node) in seen or depth > DEEPEST:
        raise _refused(node, "aliases (*name) and deep nesting are not taken here")
    if node.tag not in PLAIN:
        raise _refused(node, "tags (!name) are not taken here")
    seen.add(id(node))
    names: set[str] = set()
    for item in node.value:
        key, value = item if isinstance(node, yaml.MappingNode) else (None, item)
        if key is not None:
            _check_key(key, names)
        _check(value, seen, depth + 1)


def _check_key(key: Any, names: set[str]) -> None:
    if not isinstance(key, yaml.ScalarNode):
        raise _refused(key, "a key is a name, and no list or mapping (is a quote missing?)")
    _check(key, set(), 0)
    if key.tag != TEXT:
        raise _refused(key, f"a key is a name, and {key.value} is none")
    if key.value in names:
        raise _refused(key, f"{key.value} stands there twice")
    names.add(key.value)


def _refused(node: Any, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)


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
    # A key that is not known tells more than the one that is missing in its place.
    first = next((each for each in errors if each["type"] == "extra_forbidden"), errors[0])
    loc = _keys(first["loc"])
    where = ".".join(part for part in loc if isinstance(part, str))
    line = _line_of(root, loc)
    if first["type"] == "extra_forbidden":
        *parents, name = loc
        known = _known_keys(tuple(parents))
        if name in known:
            told = "it is {file: …, key: …} or {regex: …}: key goes with file"
            return BadInput(f"{path}:{line}: {where} does not go with regex", told)
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


def _keys(loc: tuple[Any, ...]) -> tuple[Any, ...]:
    """The place of an error without the kind of value that pydantic names after a union."""
    return tuple(part for index, part in enumerate(loc) if loc[:index] not in UNIONS)


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
