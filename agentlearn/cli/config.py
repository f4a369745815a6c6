"""Every setting, its value, and where the value came from.

Settings are taken from: options, then AGENTLEARN_* variables, then agentlearn.toml in the
project, then the user's config file, then the defaults.
"""

from __future__ import annotations

from typing import Annotated

from agentlearn.cli import options
from agentlearn.cli.output import choose_format, write_json, write_table
from agentlearn.config import PROJECT_FILE, find_project, load_settings, user_config_file
from agentlearn.rewards.rules import DEFAULTS_FILE

FORMATS = ("text", "json")


def main(
    format: Annotated[str | None, options.format_option(FORMATS)] = None,
    json: options.Json = False,
) -> None:
    chosen = choose_format(format, json, FORMATS)
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
    print(f"{DEFAULTS_FILE}  (rules for rewards, to copy)")
