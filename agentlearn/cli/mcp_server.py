"""The server behind `agentlearn mcp`, with the official package."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
from mcp import MCPError, types
from mcp.server import Server

from agentlearn import __version__
from agentlearn.cli.bases import base_to_write, both_bases, scope_of
from agentlearn.cli.mcp_pipes import in_thread, on_stdio
from agentlearn.cli.stores import open_store
from agentlearn.errors import AgentlearnError
from agentlearn.guard import plain
from agentlearn.guard.secrets import redact
from agentlearn.knowledge.tools import KnowledgeTools
from agentlearn.store.memory import TARGETS, memory_path
from agentlearn.store.shelf import Desk

MARKDOWN = "text/markdown"
AT_ONCE = anyio.CapacityLimiter(8)


def tools() -> KnowledgeTools:
    return KnowledgeTools(both_bases(), lambda: base_to_write(user=False), scope_of)


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(name=tool.name, description=tool.description, input_schema=tool.parameters)
            for tool in tools().schemas()
        ]
    )


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    # In a thread: a base that is in use is waited for, and others must not wait with it.
    async with AT_ONCE:
        text, is_error = await in_thread(partial(tools().call, params.name, params.arguments))
    content = types.TextContent(type="text", text=text)
    return types.CallToolResult(content=[content], is_error=is_error)


def resources() -> dict[str, tuple[str, str]]:
    """The skills and the memory: address, name and text."""
    store = open_store()
    found = {}
    for target in TARGETS:
        if text := store.read(memory_path(target)):
            found[f"agentlearn://memory/{target}.md"] = (f"{target}.md", text)
    for skill in Desk(store).look().skills():
        found[f"agentlearn://skills/{skill.folder}/SKILL.md"] = (skill.folder, skill.text)
    return found


def offered() -> dict[str, tuple[str, str]]:
    """The resources; what is wrong with the store is told to the client in a sentence."""
    try:
        return resources()
    except AgentlearnError as error:
        raise MCPError(types.INTERNAL_ERROR, error.message) from None


async def list_resources(ctx: Any, params: Any) -> types.ListResourcesResult:
    listed = [
        types.Resource(uri=uri, name=name, mime_type=MARKDOWN)
        for uri, (name, _) in offered().items()
    ]
    return types.ListResourcesResult(resources=listed)


async def read_resource(
    ctx: Any, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    found = offered().get(str(params.uri))
    if found is None:
        raise MCPError(types.INVALID_PARAMS, f"there is no {plain(str(params.uri))[:200]}")
    text = redact(plain(found[1]))  # a person may have written into it what no client should get
    content = types.TextResourceContents(uri=params.uri, mime_type=MARKDOWN, text=text)
    return types.ReadResourceResult(contents=[content])


def serve() -> int:
    """Serve until the client ends it, or somebody else does; the exit code."""
    server = Server(
        "agentlearn",
        version=__version__,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )

    async def run() -> int:
        options = server.create_initialization_options()
        return await on_stdio(lambda reading, writing: server.run(reading, writing, options))

    return anyio.run(run)
