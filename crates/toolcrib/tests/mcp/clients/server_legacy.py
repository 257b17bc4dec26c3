"""The upstream server of server.py, made with the Python SDK 1: it knows the legacy era only.

usage: python server_legacy.py [--transport stdio|sse|http] [--port PORT] [--note FILE]
"""

import asyncio

from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.server.lowlevel import NotificationOptions
from mcp.types import ToolAnnotations

from upstream import Answer, fill, serve

server = FastMCP("fixture-legacy", instructions="A server for tests.", log_level="ERROR")


async def ask(question: str, ctx: Context) -> str:
    asked = await ctx.elicit(question, Answer)
    return f"{asked.action}: {asked.data.answer}" if asked.action == "accept" else asked.action


async def changed(ctx):
    await ctx.session.send_tool_list_changed()


def version(ctx):
    # What the client asked for, and got, as long as this SDK knows it.
    return ctx.session.client_params.protocolVersion


@server.tool(structured_output=False)
async def visit(address: str, ctx: Context) -> str:
    """Sends a person to an address, and says that what they were sent for is done once this call is."""
    asked = await ctx.session.elicit_url("Please go there.", address, "visit-1", ctx.request_id)
    asyncio.get_running_loop().call_later(0.1, lambda: asyncio.ensure_future(ctx.session.send_elicit_complete("visit-1")))
    return asked.action


fill(server, Context, ToolAnnotations, ToolError, ask, changed, version)

if __name__ == "__main__":
    serve(server, server._mcp_server, NotificationOptions)
