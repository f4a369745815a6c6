"""A Model Context Protocol server over stdio: recall and store knowledge, read skills and memory.

For any agent that speaks MCP; needs the extra mcp. It serves the project of the folder
it is started in, and ends when its client closes stdin or goes away: every request that was read
whole is answered first.
"""

from __future__ import annotations

import sys

import typer

from agentlearn.cli.app import INTERRUPTED
from agentlearn.errors import AgentlearnError, BadInput


def main() -> None:
    try:
        from agentlearn.cli.mcp_server import serve
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        raise AgentlearnError(
            "agentlearn mcp needs the package mcp",
            "in the folder of agentlearn: pip install '.[mcp]'",
        ) from None
    if sys.stdin is None:
        raise BadInput("stdin is closed: there is nobody to serve")
    if sys.stdin.isatty():
        print("note: this speaks MCP on stdin and stdout; Ctrl-C ends it", file=sys.stderr)
    code = serve()
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    raise typer.Exit(code)
