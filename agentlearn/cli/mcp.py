"""A Model Context Protocol server over stdio: recall and store knowledge, read skills and memory.

For any agent that speaks MCP; needs the extra agentlearn[mcp]. It serves the project of the folder
it is started in.
"""

from __future__ import annotations

import sys

from agentlearn.errors import AgentlearnError


def main() -> None:
    try:
        from agentlearn.cli.mcp_server import serve
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        raise AgentlearnError(
            "agentlearn mcp needs the package mcp", "pip install 'agentlearn[mcp]'"
        ) from None
    if sys.stdin.isatty():
        print("note: this speaks MCP on stdin and stdout; Ctrl-C ends it", file=sys.stderr)
    serve()
