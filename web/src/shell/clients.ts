// What each client wants to have written where.

/** What is connected to, under a name of its own: two sets in one client must not take each other's place. */
export type Place = { url: string; key: string; name: string; toolset?: string };

/** The one place that is no name of a file or a command: it is said in words. */
export const TERMINAL = "terminal";

type Client = { id: string; name: string; where: string; text: (place: Place) => string };

const json = (value: unknown) => JSON.stringify(value, null, 2);
const headers = (key: string) => ({ "X-API-Key": key });

export const clients: Client[] = [
  {
    id: "claude-code",
    name: "Claude Code",
    where: TERMINAL,
    text: ({ url, key, name }) => `claude mcp add --transport http ${name} ${url} --header "X-API-Key: ${key}"`,
  },
  {
    id: "claude-desktop",
    name: "Claude Desktop",
    where: "claude_desktop_config.json",
    // It starts programs only: one that speaks to the address in its stead. The key stands apart from the arguments, which break at spaces on Windows.
    text: ({ url, key, name }) => {
      const { protocol, hostname } = new URL(url);
      const isOpen = protocol === "http:" && hostname !== "localhost" && hostname !== "127.0.0.1";
      const args = [
        "-y",
        "mcp-remote",
        url,
        "--header",
        "X-API-Key:${TOOLCRIB_KEY}",
        ...(isOpen ? ["--allow-http"] : []),
      ];
      return json({ mcpServers: { [name]: { command: "npx", args, env: { TOOLCRIB_KEY: key } } } });
    },
  },
  {
    id: "cursor",
    name: "Cursor",
    where: "~/.cursor/mcp.json",
    text: ({ url, key, name }) => json({ mcpServers: { [name]: { url, headers: headers(key) } } }),
  },
  {
    id: "vscode",
    name: "VS Code",
    where: ".vscode/mcp.json",
    text: ({ url, key, name }) => json({ servers: { [name]: { type: "http", url, headers: headers(key) } } }),
  },
  {
    id: "windsurf",
    name: "Windsurf",
    where: "~/.codeium/windsurf/mcp_config.json",
    text: ({ url, key, name }) => json({ mcpServers: { [name]: { serverUrl: url, headers: headers(key) } } }),
  },
  {
    id: "codex",
    name: "Codex",
    where: "~/.codex/config.toml",
    text: ({ url, key, name }) =>
      [`[mcp_servers.${name}]`, `url = "${url}"`, `http_headers = { "X-API-Key" = "${key}" }`].join("\n"),
  },
  {
    id: "gemini",
    name: "Gemini CLI",
    where: "~/.gemini/settings.json",
    text: ({ url, key, name }) => json({ mcpServers: { [name]: { httpUrl: url, headers: headers(key) } } }),
  },
  {
    id: "stdio",
    name: "stdio",
    where: "mcp.json",
    text: ({ name, toolset }) => {
      const args = ["mcp", "--workspace", "/path/to/workspace", ...(toolset ? ["--toolset", toolset] : [])];
      return json({ mcpServers: { [name]: { command: "toolcrib", args } } });
    },
  },
  {
    id: "python",
    name: "Python",
    where: "pip install mcp",
    text: ({ url, key }) =>
      [
        "import asyncio",
        "from mcp import ClientSession",
        "from mcp.client.streamable_http import streamablehttp_client",
        "",
        "async def main():",
        `    async with streamablehttp_client("${url}", headers={"X-API-Key": "${key}"}) as (read, write, _):`,
        "        async with ClientSession(read, write) as session:",
        "            await session.initialize()",
        "            print(await session.list_tools())",
        "",
        "asyncio.run(main())",
      ].join("\n"),
  },
  {
    id: "curl",
    name: "curl (REST)",
    where: TERMINAL,
    text: ({ url, key }) =>
      `curl -s ${new URL("/api/v1/tools/calculator/call", url).href} \\\n  -H "X-API-Key: ${key}" -H "Content-Type: application/json" \\\n  -d '{"arguments": {"expression": "12.5 / 100 * 340"}}'`,
  },
];

/** A name that every client takes: not all of them know dots. */
export const nameFor = (toolset: string | undefined) =>
  toolset ? `toolcrib-${toolset.replaceAll(/[^A-Za-z0-9_-]/g, "-")}` : "toolcrib";
