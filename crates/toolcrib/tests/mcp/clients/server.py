"""An upstream server for tests, made with the Python SDK 2: it speaks both eras.

usage: python server.py [--transport stdio|sse|http] [--port PORT] [--note FILE]
"""

from mcp.server import NotificationOptions
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult, ToolAnnotations
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from upstream import Answer, fill, serve

server = MCPServer("fixture", version="2.0.0", instructions="A server for tests.", log_level="ERROR")


async def ask(question: str, ctx: Context) -> str | InputRequiredResult:
    if ctx.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        asked = await ctx.elicit(question, Answer)
        return f"{asked.action}: {asked.data.answer}" if asked.action == "accept" else asked.action
    # The modern era has no requests from servers: the question is the result, and the answer comes with the next call.
    if not ctx.input_responses:
        form = ElicitRequestFormParams(message=question, requested_schema=Answer.model_json_schema())
        return InputRequiredResult(input_requests={"answer": ElicitRequest(params=form)}, request_state=question)
    assert ctx.request_state == question, "the state comes back as it was sent"
    given = ctx.input_responses["answer"]
    return f"{given.action}: {given.content['answer']}" if given.action == "accept" else given.action


async def changed(ctx):
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        await ctx.notify_tools_changed()
    else:
        await ctx.session.send_tool_list_changed()


def version(ctx):
    return ctx.protocol_version


fill(server, Context, ToolAnnotations, ToolError, ask, changed, version)

if __name__ == "__main__":
    serve(server, server._lowlevel_server, NotificationOptions)
