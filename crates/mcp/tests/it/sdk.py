"""A server on the official Python SDK, which speaks both eras: sdk.py stdio | sse PORT | streamable-http PORT."""

import sys
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel

server = MCPServer("sdk")


class Color(BaseModel):
    color: str


def ask_color() -> Elicit[Color]:
    return Elicit("Which color?", Color)


@server.tool()
async def echo(text: str) -> str:
    return text


@server.tool()
async def paint(color: Annotated[Color, Resolve(ask_color)]) -> str:
    """Asks the person first."""
    return f"painted {color.color}"


@server.tool()
async def count_to(n: int, ctx: Context) -> str:
    for i in range(1, n + 1):
        await ctx.report_progress(i, n, f"at {i}")
    return "done"


@server.tool()
async def hang(note: str, ctx: Context) -> str:
    """Never answers; writes into the file whether it was cancelled."""
    with open(note, "a") as file:
        file.write("began\n")
    await ctx.report_progress(0)
    try:
        await anyio.sleep_forever()
    except BaseException:
        with open(note, "a") as file:
            file.write("cancelled\n")
        raise


@server.tool()
async def grow(ctx: Context) -> str:
    """Adds a tool."""
    server.add_tool(echo, name="grown")
    await ctx.notify_tools_changed()
    return "grown"


@server.tool()
async def touch(uri: str, ctx: Context) -> str:
    """Says that a resource is another."""
    await ctx.notify_resource_updated(uri)
    return "touched"


@server.resource("test://one")
async def one() -> str:
    return "the one"


@server.prompt()
async def greet(name: str) -> str:
    return f"Hello {name}"


if __name__ == "__main__":
    transport = sys.argv[1]
    if transport == "stdio":
        server.run("stdio")
    else:
        server.run(transport, host="127.0.0.1", port=int(sys.argv[2]))
