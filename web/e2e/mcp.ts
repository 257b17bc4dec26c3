// Somebody's agent: the official TypeScript client of MCP, connected to our server. And the server of others that we ask.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Toolcrib } from "./toolcrib";

function programs(): string {
  const found = process.env.E2E_PROGRAMS;
  if (!found) throw new Error("E2E_PROGRAMS names no folder: run `make e2e`");
  return join(found, "npm/node_modules");
}

/** A server over stdio that others wrote, as mcp.json names it. */
export const everything = () => ({
  command: process.execPath,
  args: [join(programs(), "@modelcontextprotocol/server-everything/dist/index.js"), "stdio"],
});

type Listed = { name: string; description?: string; inputSchema: { properties?: object; required?: string[] } };
type Called = { content: Array<{ type: string; text?: string }>; isError?: boolean };

type Client = {
  connect(transport: unknown): Promise<void>;
  listTools(): Promise<{ tools: Listed[] }>;
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<Called>;
  close(): Promise<void>;
};

export class Agent {
  private constructor(private readonly client: Client) {}

  static async connect(server: Toolcrib): Promise<Agent> {
    const part = (name: string) =>
      import(pathToFileURL(join(programs(), `@modelcontextprotocol/sdk/dist/esm/client/${name}.js`)).href);
    const [{ Client }, { StreamableHTTPClientTransport }] = await Promise.all([part("index"), part("streamableHttp")]);
    const client: Client = new Client({ name: "e2e", version: "1" });
    const headers = { Authorization: `Bearer ${server.key()}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }));
    return new Agent(client);
  }

  async tool(name: string): Promise<Listed | undefined> {
    return (await this.client.listTools()).tools.find((tool) => tool.name === name);
  }

  /** What the tool answered. Behind it the server may tell the model where that comes from. */
  async call(name: string, args: Record<string, unknown>): Promise<string> {
    const { content, isError } = await this.client.callTool({ name, arguments: args });
    const text = content[0]?.text ?? "";
    if (isError) throw new Error(text);
    return text;
  }

  close = () => this.client.close();
}
