// How a client reaches the tools: the address, and what each client wants to have written where.

import { useState } from "react";
import { useTranslation } from "react-i18next";
import { CopyBlock } from "../ui/copy";
import { Field, Input, Select } from "../ui/field";
import { Drawer } from "../ui/overlay";

/** What is connected to, under a name of its own: two sets in one client must not take each other's place. */
export type Place = { url: string; key: string; name: string; toolset?: string };

type Client = { id: string; name: string; where: string; text: (place: Place) => string };

const json = (value: unknown) => JSON.stringify(value, null, 2);
const headers = (key: string) => ({ "X-API-Key": key });

export const clients: Client[] = [
  {
    id: "claude-code",
    name: "Claude Code",
    where: "terminal",
    text: ({ url, key, name }) => `claude mcp add --transport http ${name} ${url} --header "X-API-Key: ${key}"`,
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
    where: "terminal",
    text: ({ url, key }) =>
      `curl -s ${new URL("/api/v1/tools/calculator/call", url).href} \\\n  -H "X-API-Key: ${key}" -H "Content-Type: application/json" \\\n  -d '{"arguments": {"expression": "12.5 / 100 * 340"}}'`,
  },
];

type Props = {
  open: boolean;
  onClose: () => void;
  toolset?: string;
  /** One that was just made: it cannot be shown again. */
  apiKey?: string;
};

export function Connect({ open, onClose, toolset, apiKey = "" }: Props) {
  const { t } = useTranslation();
  const [chosen, setChosen] = useState("claude-code");
  const [key, setKey] = useState(apiKey);
  const url = `${location.origin}/mcp${toolset ? `/${toolset}` : ""}`;
  // REST knows no toolsets.
  const all = clients.filter((one) => !toolset || one.id !== "curl");
  const client = all.find((one) => one.id === chosen) ?? all[0]!;
  const name = toolset ? `toolcrib-${toolset}` : "toolcrib";
  return (
    <Drawer open={open} onClose={onClose} title={t("connect.title")} about={t("connect.about")}>
      <div className="grid gap-4">
        <CopyBlock label={t("connect.address")} text={url} />
        <Field label={t("connect.client")}>
          {(told) => (
            <Select {...told} value={chosen} onChange={(event) => setChosen(event.target.value)}>
              {all.map((one) => (
                <option key={one.id} value={one.id}>
                  {one.name}
                </option>
              ))}
            </Select>
          )}
        </Field>
        <Field label={t("connect.key")} hint={t("connect.keyHint")}>
          {(told) => (
            <Input
              {...told}
              value={key}
              onChange={(event) => setKey(event.target.value)}
              placeholder="tck_…"
              autoComplete="off"
            />
          )}
        </Field>
        <CopyBlock label={client.where} text={client.text({ url, key: key || "YOUR_KEY", name, toolset })} />
      </div>
    </Drawer>
  );
}
