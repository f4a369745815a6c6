"""The server behind `agentlearn mcp`, with the official package."""

from __future__ import annotations

from typing import Any

import anyio
from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server

from agentlearn import __version__
from agentlearn.cli.bases import base_to_write, both_bases, scope_of
from agentlearn.cli.stores import open_store
from agentlearn.guard import plain
from agentlearn.knowledge.tools import KnowledgeTools
from agentlearn.store.memory import TARGETS, memory_path
from agentlearn.store.shelf import Desk

MARKDOWN = "text/markdown"


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
    text, is_error = await anyio.to_thread.run_sync(tools().call, params.name, params.arguments)
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


async def list_resources(ctx: Any, params: Any) -> types.ListResourcesResult:
    listed = [
        types.Resource(uri=uri, name=name, mime_type=MARKDOWN)
        for uri, (name, _) in resources().items()
    ]
    return types.ListResourcesResult(resources=listed)


async def read_resource(
    ctx: Any, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    found = resources().get(str(params.uri))
    if found is None:
        raise ValueError(f"there is no {plain(str(params.uri))[:200]}")
    content = types.TextResourceContents(uri=params.uri, mime_type=MARKDOWN, text=plain(found[1]))
    return types.ReadResourceResult(contents=[content])


def serve() -> None:
    server = Server(
        "agentlearn",
        version=__version__,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(run)
