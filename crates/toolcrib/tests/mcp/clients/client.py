"""A client for tests, made with the Python SDK 2. It says what it sees, a line of JSON for each.

usage: python client.py TARGET [option...] list
       python client.py TARGET [option...] call NAME [ARGUMENTS]
       python client.py TARGET [option...] read URI
       python client.py TARGET [option...] get PROMPT [ARGUMENTS]
       python client.py TARGET [option...] watch COUNT
       python client.py TARGET [option...] script

TARGET is a URL or, with --transport stdio, a command line. ARGUMENTS are JSON. Options stand before the action.
`watch`, like --watch with a call, waits for that many changes of lists. `script` reads steps from stdin and does them in
their order over one connection: `[{"action": "call", "name": "echo", "arguments": {}, "progress": true}, …]`. A step has
members named like the action's arguments and options; it may also have `cancel_on_progress` (at the first progress) or
`cancel_when` (as soon as this file is there). Its events have its number as `step`, and a step that fails ends nothing.

Each line has `event`: connected, tools, resources, templates, prompts, result, progress, log, elicitation, sampling,
roots, list_changed, watching, cancelled, alive, error. The exit code is 1 after an `error`, and 0 otherwise.
"""

import argparse
import contextlib
import json
import shlex
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

MODES = {"auto": "auto", "legacy": "legacy", "modern": MODERN_PROTOCOL_VERSIONS[-1]}


def main():
    arguments = parsed_arguments()
    try:
        anyio.run(run, arguments)
    except BaseException as failure:
        complain(failure)
        return 1
    return 0


def parsed_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("target")
    parser.add_argument("--transport", choices=("http", "sse", "stdio"), default="http")
    parser.add_argument("--era", choices=MODES, default="auto")
    parser.add_argument("--header", action="append", default=[], metavar="NAME:VALUE")
    parser.add_argument("--oauth", nargs=3, metavar=("ISSUER", "CLIENT", "SECRET"), help="get a token as this program")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for everything")
    parser.add_argument("--progress", action="store_true", help="ask for progress")
    parser.add_argument("--cancel-after", type=float, metavar="SECONDS")
    parser.add_argument("--elicit", metavar="ANSWER", help="JSON to accept with, or decline, or cancel")
    parser.add_argument("--sample", metavar="TEXT", help="what to answer to sampling")
    parser.add_argument("--root", metavar="URI", help="what to answer when asked for roots")
    parser.add_argument("--log-level")
    parser.add_argument("--watch", type=int, default=0, metavar="COUNT")
    parser.add_argument("action", choices=("list", "call", "read", "get", "watch", "script"))
    parser.add_argument("name", nargs="?")
    parser.add_argument("arguments", nargs="?", type=json.loads)
    parser.set_defaults(cancel_on_progress=False, cancel_when=None)
    return parser.parse_args()


async def run(arguments):
    client = Client(
        transport(arguments),
        mode=MODES[arguments.era],
        cache=None,  # a test wants to see the server's answers
        log_level=arguments.log_level,
        logging_callback=log,
        message_handler=heard,
        elicitation_callback=elicitation(arguments.elicit) if arguments.elicit else None,
        sampling_callback=sampling(arguments.sample) if arguments.sample else None,
        list_roots_callback=roots(arguments.root) if arguments.root else None,
    )
    steps = json.load(sys.stdin) if arguments.action == "script" else []
    with anyio.fail_after(arguments.timeout):
        async with client:
            say("connected", protocolVersion=client.protocol_version, serverInfo=client.server_info, capabilities=client.server_capabilities)
            if arguments.action == "watch":
                await watched(client, int(arguments.name))
            elif arguments.watch:
                await watched(client, arguments.watch, act(client, arguments))
            elif arguments.action == "script":
                await follow_script(client, arguments, steps)
            else:
                await act(client, arguments)


def transport(arguments):
    headers = dict(header.split(":", 1) for header in arguments.header)
    headers = {name.strip(): value.strip() for name, value in headers.items()}
    if arguments.transport == "stdio":
        command, *rest = shlex.split(arguments.target)
        return StdioServerParameters(command=command, args=rest)
    if arguments.transport == "sse":
        return sse_client(arguments.target, headers=headers)
    auth = as_program(arguments) if arguments.oauth else None
    return streamable_http_client(arguments.target, http_client=create_mcp_http_client(headers=headers, auth=auth))


def as_program(arguments):
    """Finds out where to get a token from what the server answers, and gets one."""
    issuer, client, secret = arguments.oauth
    return ClientCredentialsOAuthProvider(arguments.target, Forgetful(), client, secret, issuer=issuer)


class Forgetful:
    """Keeps tokens for as long as the program runs."""

    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


async def act(client, arguments):
    if arguments.action == "list":
        await list_everything(client)
    elif arguments.action == "read":
        say("result", result=await client.read_resource(arguments.name))
    elif arguments.action == "get":
        say("result", result=await client.get_prompt(arguments.name, arguments.arguments))
    else:
        await call(client, arguments)


step = None


async def follow_script(client, arguments, steps):
    global step
    for step, members in enumerate(steps):
        try:
            await act(client, argparse.Namespace(**{**vars(arguments), "name": None, "arguments": None, **members}))
        except Exception as failure:
            complain(failure)


async def list_everything(client):
    capabilities = client.server_capabilities
    # An era that is set rather than found has asked the server for nothing yet; then we try.
    unknown = not capabilities.model_dump(exclude_none=True)
    if capabilities.tools or unknown:
        say("tools", tools=await pages(client.list_tools, "tools"))
    if capabilities.resources or unknown:
        say("resources", resources=await pages(client.list_resources, "resources"))
        say("templates", templates=await pages(client.list_resource_templates, "resource_templates"))
    if capabilities.prompts or unknown:
        say("prompts", prompts=await pages(client.list_prompts, "prompts"))


async def pages(ask, member):
    found, cursor = [], None
    while True:
        page = await ask(cursor=cursor)
        found += getattr(page, member)
        cursor = page.next_cursor
        if cursor is None:
            return found


async def call(client, arguments):
    async def heard_progress(done, total, message):
        say("progress", progress=done, total=total, message=message)
        if arguments.cancel_on_progress:
            patience.cancel()

    callback = heard_progress if arguments.progress or arguments.cancel_on_progress else None
    async with anyio.create_task_group() as tasks:
        with anyio.move_on_after(arguments.cancel_after) as patience:
            if arguments.cancel_when:
                tasks.start_soon(cancel_when, arguments.cancel_when, patience)
            result = await client.call_tool(arguments.name, arguments.arguments, progress_callback=callback)
            say("result", result=result)
        tasks.cancel_scope.cancel()
    if patience.cancelled_caught:
        say("cancelled")
        say("alive", tools=len(await pages(client.list_tools, "tools")))


async def cancel_when(file, patience):
    while not await anyio.Path(file).exists():
        await anyio.sleep(0.02)
    patience.cancel()


changes_heard = 0
change = None


async def watched(client, count, action=None):
    """Waits until `count` changes of lists were heard, while `action` runs."""
    global change
    change = anyio.Event()
    async with contextlib.AsyncExitStack() as stack:
        tasks = await stack.enter_async_context(anyio.create_task_group())
        if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
            listen = client.listen(tools_list_changed=True, prompts_list_changed=True, resources_list_changed=True)
            tasks.start_soon(follow, await stack.enter_async_context(listen))
        say("watching")
        if action:
            await action
        while changes_heard < count:
            await change.wait()
            change = anyio.Event()
        tasks.cancel_scope.cancel()


async def follow(subscription):
    async for _event in subscription:
        pass  # `heard` hears of it too, in both eras


async def heard(message):
    global changes_heard
    method = getattr(message, "method", "")
    if method.endswith("/list_changed"):
        changes_heard += 1
        say("list_changed", what=method.split("/")[1])
        if change:
            change.set()
    elif isinstance(message, Exception):
        say("error", kind=type(message).__name__, message=str(message))


async def log(params):
    say("log", level=params.level, data=params.data)


def elicitation(answer):
    async def answered(_context, params):
        say("elicitation", params=params)
        if answer in ("decline", "cancel"):
            return ElicitResult(action=answer)
        return ElicitResult(action="accept", content=json.loads(answer))

    return answered


def sampling(text):
    async def answered(_context, params):
        say("sampling", params=params)
        return CreateMessageResult(role="assistant", content=TextContent(text=text), model="test", stop_reason="endTurn")

    return answered


def roots(uri):
    async def answered(_context):
        say("roots")
        return ListRootsResult(roots=[Root(uri=uri)])

    return answered


def say(event, **members):
    def plain(value):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)

    if step is not None:
        members["step"] = step
    print(json.dumps({"event": event, **members}, default=plain, ensure_ascii=False), flush=True)


def complain(failure):
    for cause in causes(failure):
        say("error", kind=type(cause).__name__, code=getattr(cause, "code", None), message=str(cause), data=getattr(cause, "data", None))


def causes(failure):
    """The failures that a task group has put together, one by one."""
    if isinstance(failure, BaseExceptionGroup):
        for one in failure.exceptions:
            yield from causes(one)
    else:
        yield failure


if __name__ == "__main__":
    sys.exit(main())
