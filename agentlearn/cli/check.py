"""A linter for skills and memory: format, duplicates, secrets, hidden characters, dead evidence.

Every finding has the code of its rule, and any finding makes the exit code 1. --ignore CODE leaves
a rule out: AL006, say, where transcripts are cleared away. --fix mends what is safe: leftovers of a
crash, hidden characters in what agentlearn wrote, and notes that stand there twice.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from agentlearn.cli import options
from agentlearn.cli.output import choose_format, write_json
from agentlearn.cli.stores import User, budgets, open_store
from agentlearn.errors import BadInput
from agentlearn.guard import one_line, plain
from agentlearn.store.check import RULES, Finding, check_store, shown
from agentlearn.store.store import Store

FORMATS = ("text", "json", "github")
COMMANDS = {"error": "error", "warning": "warning", "note": "notice"}
"""What GitHub calls the levels."""


def main(
    fix: Annotated[bool, typer.Option("--fix", help="Mend what is safe to mend.")] = False,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            "--ignore",
            metavar="CODE",
            help="Leave this rule out; may be given several times.",
            show_default=False,
        ),
    ] = None,
    user: User = False,
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
    store = open_store(user)
    limits = budgets()
    ignored = known_codes(ignore or [])

    def look() -> list[Finding]:
        return [finding for finding in check_store(store, limits) if finding.code not in ignored]

    found = look()
    fixed: list[str] = []
    if fix and found:
        from agentlearn.store.fixing import fix_store

        fixed = fix_store(store, found)
        found = look()
    if chosen == "json":
        write_json(_as_dict(store, found, fixed))
    elif chosen == "github":
        for finding in found:
            print(annotation(store, finding))
    else:
        _print(store, found, fixed)
    if found:
        raise typer.Exit(1)


def known_codes(wanted: list[str]) -> set[str]:
    codes = {code.strip().upper() for each in wanted for code in each.split(",") if code.strip()}
    if unknown := sorted(codes - set(RULES)):
        raise BadInput(
            f"{one_line(unknown[0], 40)} is the code of no rule",
            f"they go from {min(RULES)} to {max(RULES)}",
        )
    return codes


def _print(store: Store, found: list[Finding], fixed: list[str]) -> None:
    for text in fixed:
        print(plain(f"fixed: {text}"))
    for finding in found:
        place = one_line(f"{shown(store, finding.path)}:{finding.line}", 500)
        said = one_line(finding.message, 1000)
        print(f"{place}: {finding.level} {finding.code}: {said}")
    if not found:
        print("note: nothing to complain of", file=sys.stderr)


def _as_dict(store: Store, found: list[Finding], fixed: list[str]) -> dict[str, Any]:
    return {
        "findings": [
            {
                "code": finding.code,
                "title": finding.title,
                "level": finding.level,
                "path": shown(store, finding.path),
                "line": finding.line,
                "message": finding.message,
            }
            for finding in found
        ],
        "fixed": fixed,
        "summary": {
            f"{level}s": sum(finding.level == level for finding in found) for level in COMMANDS
        },
    }


def annotation(store: Store, finding: Finding) -> str:
    """A line that GitHub shows at its place in a pull request."""
    properties = {
        "file": shown(store, finding.path),
        "line": str(finding.line),
        "title": f"{finding.code} {finding.title}",
    }
    told = ",".join(f"{key}={_escaped(plain(value), ':,')}" for key, value in properties.items())
    return f"::{COMMANDS[finding.level]} {told}::{_escaped(plain(finding.message))}"


def _escaped(text: str, more: str = "") -> str:
    """Nothing in a name or a message ends the line or begins another command."""
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
