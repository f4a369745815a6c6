"""Keep a fact: SUBJECT PREDICATE OBJECT, such as uv is_used_for installs.

Or a procedure or a pattern from a YAML file, or JSON lines from stdin, one object each with the
fields of a fact (subject, predicate, object), or with kind: procedure|pattern and those of its
file; confidence and scope of a line go before the options. What is known already gets surer; what
says otherwise is kept beside it, and told.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import structs

from agentlearn.cli import options
from agentlearn.cli.bases import (
    as_dict,
    base_to_write,
    is_outside,
    project_base,
    scope_of,
    user_base,
)
from agentlearn.cli.load import piped_in
from agentlearn.cli.output import choose_format, write_json
from agentlearn.cli.stores import User
from agentlearn.errors import BadInput
from agentlearn.guard import plain
from agentlearn.knowledge.base import Stored
from agentlearn.knowledge.values import (
    Item,
    Pattern,
    Procedure,
    checked_confidence,
    fact,
    pattern,
    procedure,
)

FORMATS = ("text", "json")


def main(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SUBJECT PREDICATE OBJECT]", show_default=False, help="A fact."),
    ] = None,
    confidence: Annotated[
        float, typer.Option("--confidence", metavar="C", help="How sure it is, 0 to 1.")
    ] = 0.8,
    directory: Annotated[
        str | None,
        typer.Option(
            "--directory",
            metavar="D",
            help="The folder it holds for, with all below it (default: all of the project).",
            show_default=False,
        ),
    ] = None,
    procedure_file: Annotated[
        str | None,
        typer.Option(
            "--procedure",
            metavar="FILE",
            help="YAML with name, steps (do, expect, on_error), before, after, success_rate.",
            show_default=False,
        ),
    ] = None,
    pattern_file: Annotated[
        str | None,
        typer.Option(
            "--pattern",
            metavar="FILE",
            help="YAML with name, conditions, outcomes, occurrences.",
            show_default=False,
        ),
    ] = None,
    verified: Annotated[
        bool, typer.Option("--verified", help="You have checked it: prune never takes it.")
    ] = False,
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    if directory is not None and not scope_of(directory) and is_outside(directory):
        said = f"{plain(directory)} is outside of the project: it holds for all of the project"
        print(f"note: {said}", file=sys.stderr)
    items = _given(words or [], confidence, scope_of(directory), procedure_file, pattern_file)
    if verified:
        items = [structs.replace(item, verified=True) for item in items]
    with base_to_write(user) as base:
        stored = base.store_all(items)
    if chosen == "json":
        write_json([_as_dict(one, user) for one in stored])
        return
    for one in stored:
        print(_told(one))
        for other in _conflicts(one, user):
            said = f"note: conflicts with {other.shown} (id: {other.id}): both are kept"
            print(plain(f"{said}; if it is wrong: agentlearn forget {other.id}"), file=sys.stderr)


def _given(
    words: list[str],
    confidence: float,
    scope: str,
    procedure_file: str | None,
    pattern_file: str | None,
) -> list[Item]:
    about: dict[str, Any] = {
        "confidence": checked_confidence(confidence),
        "scope": scope,
        "source": "person",
    }
    ways = bool(words) + bool(procedure_file) + bool(pattern_file)
    if ways > 1:
        raise BadInput("a fact, --procedure and --pattern exclude each other")
    if procedure_file:
        return [procedure(_read(procedure_file, Procedure), **about)]
    if pattern_file:
        return [pattern(_read(pattern_file, Pattern), **about)]
    if words:
        if len(words) != 3:
            raise BadInput(
                f"a fact is three words or phrases, not {len(words)}",
                "agentlearn remember uv is_used_for 'installs, never pip'",
            )
        return [fact(words[0], words[1], words[2], **about)]
    if not piped_in():
        raise BadInput(
            "there is nothing to remember", "agentlearn remember SUBJECT PREDICATE OBJECT"
        )
    from agentlearn.knowledge.portable import items_in

    found = list(items_in(sys.stdin.buffer, **about))
    if not found:
        raise BadInput("there is nothing to remember: stdin is empty")
    return found


def _read(name: str, kind: Any) -> Any:
    """A procedure or a pattern as a person writes it."""
    import msgspec
    import yaml

    from agentlearn.knowledge.portable import sentence_of, steps_of

    try:
        value = yaml.safe_load(Path(name).read_text(encoding="utf-8"))
        if not isinstance(value, dict):
            raise BadInput(f"{name} holds no mapping of names")
        if kind is Procedure and isinstance(value.get("steps"), list):
            value = {**value, "steps": steps_of(value["steps"])}
        return msgspec.convert(value, kind)
    except OSError as error:
        raise BadInput(f"cannot read {name}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput(f"{name} is no YAML: {' '.join(str(error).split())[:200]}") from None
    except msgspec.ValidationError as error:
        raise BadInput(f"{name}: {sentence_of(error)}") from None


def _conflicts(stored: Stored, user: bool) -> list[Item]:
    """What says otherwise, in this base and in the other one."""
    other = project_base() if user else user_base()
    found = [*stored.conflicts, *other.others(stored.item)]
    return list({item.id: item for item in found if item.id != stored.item.id}.values())


def _told(stored: Stored) -> str:
    item = stored.item
    text = item.shown if item.kind == "fact" else item.subject
    again = "" if stored.is_new else f", known already: confidence {item.confidence:.2f}"
    return plain(f"Stored {item.kind}: {text} (id: {item.id}){again}")


def _as_dict(stored: Stored, user: bool) -> dict[str, Any]:
    conflicts = [as_dict(other) for other in _conflicts(stored, user)]
    return {**as_dict(stored.item), "new": stored.is_new, "conflicts": conflicts}
