"""Every setting, its value, and where the value came from.

Settings are taken from: options, then AGENTLEARN_* variables, then agentlearn.toml in the
project, then the user's config file, then the defaults.
"""

from __future__ import annotations

from typing import Annotated

import typer

from agentlearn.cli import options
from agentlearn.cli.output import choose_format, write_json, write_table
from agentlearn.config import PROJECT_FILE, find_project, load_settings, user_config_file


def main(
    format: Annotated[
        str | None, typer.Option("--format", help="text, json.", show_default=False)
    ] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, ("text", "json"))
    settings = load_settings()
    if chosen == "json":
        found = {
            item.name: {"value": item.value, "from": item.origin} for item in settings.values()
        }
        write_json(found)
        return
    rows = [
        [item.name, "–" if item.value is None else str(item.value), item.origin]
        for item in settings.values()
    ]
    write_table(["setting", "value", "from"], rows)
    print()
    for path in (find_project() / PROJECT_FILE, user_config_file()):
        print(f"{path}{'' if path.is_file() else '  (not there)'}")
