"""Any session as native JSON lines, on stdout or in a file.

The converted file gives the same turns, rewards and counts as its source; each line says which
line it came from. Converting what was converted changes nothing.
"""

from __future__ import annotations

from agentlearn.cli import options
from agentlearn.cli.load import Loader
from agentlearn.cli.output import whole_file, write_bytes
from agentlearn.config import resolve
from agentlearn.sessions.native_write import native_lines


def main(
    sessions: options.Sessions = None,
    output: options.Output = None,
    latest: options.Latest = False,
    strict: options.Strict = None,
) -> None:
    settings = resolve(strict=strict)
    loader = Loader(sessions, latest, settings.strict)
    lines = (line for session in loader.sessions() for line in native_lines(session))
    if output is None:
        for line in lines:
            write_bytes(line)
    else:
        # The file appears when it is complete: the source may be the same file.
        with (
            whole_file(output, lambda: loader.read > 0) as unfinished,
            unfinished.open("wb") as file,
        ):
            file.writelines(lines)
    loader.finish()
