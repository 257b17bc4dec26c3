"""The tools, resources and prompts of the upstream servers in this folder, and how they are served. Not a program.

An upstream speaks the protocol only through the SDK that it is made with; see server.py and server_legacy.py.
"""

import argparse
import asyncio
import functools
import os
import socket

import uvicorn
from pydantic import BaseModel

STEP_SECONDS = 0.1


class Answer(BaseModel):
    """What `ask` asks a person for."""

    answer: str


class Measure(BaseModel):
    """What `measure` returns, as structured output."""

    text: str
    length: int


def fill(server, Context, Annotations, ToolError, ask, changed, version):
    """Registers everything but what differs between SDKs: `ask` asks a person, `changed` tells of a new tool, `version`
    is the one of the protocol that is spoken."""
    reads = Annotations.model_validate({"readOnlyHint": True})
    writes = Annotations.model_validate({"readOnlyHint": False, "idempotentHint": False})

    @server.tool(annotations=reads)
    def echo(text: str) -> str:
        """Says the text again."""
        return text

    @server.tool(annotations=reads)
    def add(a: int, b: int) -> int:
        """Adds two whole numbers."""
        return a + b

    @server.tool(annotations=reads)
    def measure(text: str) -> Measure:
        """Measures a text; the answer is structured."""
        return Measure(text=text, length=len(text))

    @server.tool(annotations=reads)
    def fail() -> str:
        """Always fails."""
        raise ToolError("this tool fails")

    @server.tool(annotations=reads)
    def spoken(ctx: Context) -> str:
        """Says which version of the protocol this call came in."""
        return version(ctx)

    @server.tool(annotations=writes)
    def count(file: str) -> int:
        """Adds a line to a file and says how many it has: how often this tool ran."""
        append(file, "ran")
        with open(file, encoding="utf-8") as lines:
            return len(lines.readlines())

    @server.tool(annotations=reads)
    async def slow(seconds: float, ctx: Context, file: str = "") -> str:
        """Takes its time and tells of its progress; notes in a file that it began, and whether it finished or was cancelled."""
        steps = max(1, round(seconds / STEP_SECONDS))
        append(file, "began")
        try:
            for step in range(steps):
                await ctx.report_progress(step, steps, f"step {step} of {steps}")
                await asyncio.sleep(seconds / steps)
            await ctx.report_progress(steps, steps, "done")
        except asyncio.CancelledError:
            append(file, "cancelled")
            raise
        append(file, "finished")
        return f"slept {seconds} s"

    server.add_tool(ask, name="ask", description="Asks a person a question and returns the answer.", structured_output=False)

    grown = []

    @server.tool(annotations=writes)
    async def grow(ctx: Context) -> str:
        """Adds a tool to this server and tells the client that the list has changed."""
        name = f"grown_{len(grown) + 1}"
        grown.append(name)
        server.add_tool(lambda: name, name=name, description="A tool that was added while the server ran.", structured_output=False)
        await changed(ctx)
        return name

    @server.resource("fixture://greeting", mime_type="text/plain")
    def greeting() -> str:
        """A text."""
        return "hello from the upstream"

    @server.resource("fixture://numbers/{number}", mime_type="text/plain")
    def square(number: str) -> str:
        """The square of a number."""
        return str(int(number) ** 2)

    @server.prompt()
    def review(subject: str) -> str:
        """Asks for a review."""
        return f"Please review {subject}."


def append(file, line):
    if file:
        with open(file, "a", encoding="utf-8") as lines:
            lines.write(line + "\n")


def serve(server, lowlevel, NotificationOptions):
    """Serves as the command line says; over HTTP the first line of output is `listening on URL`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--transport", choices=("stdio", "sse", "http"), default="stdio")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--note", default="", help="a file that gets a line with the id of this process")
    arguments = parser.parse_args()
    append(arguments.note, str(os.getpid()))
    # The SDKs say nothing of changes to clients of the legacy era unless they are told to.
    changes = NotificationOptions(tools_changed=True)
    lowlevel.create_initialization_options = functools.partial(lowlevel.create_initialization_options, changes)
    if arguments.transport == "stdio":
        server.run()
        return
    listener = socket.create_server(("127.0.0.1", arguments.port))
    app, path = (server.sse_app(), "/sse") if arguments.transport == "sse" else (server.streamable_http_app(), "/mcp")
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}{path}", flush=True)
    # Streams stay open for as long as clients like; at the end they are not waited for.
    uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)).run(sockets=[listener])
