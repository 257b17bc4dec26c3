// How a client reaches the tools: the address, and what each client wants to have written where.

import { useState } from "react";
import { useTranslation } from "react-i18next";
import { CopyBlock } from "../ui/copy";
import { Field, Input, Select } from "../ui/field";
import { Drawer } from "../ui/overlay";

type Client = { id: string; name: string; where: string; text: (url: string, key: string) => string };

const json = (value: unknown) => JSON.stringify(value, null, 2);

const clients: Client[] = [
  {
    id: "claude-code",
    name: "Claude Code",
    where: "terminal",
    text: (url, key) => `claude mcp add --transport http toolcrib ${url} --header "X-API-Key: ${key}"`,
  },
  {
    id: "cursor",
    name: "Cursor",
    where: "~/.cursor/mcp.json",
    text: (url, key) => json({ mcpServers: { toolcrib: { url, headers: { "X-API-Key": key } } } }),
  },
  {
    id: "vscode",
    name: "VS Code",
    where: ".vscode/mcp.json",
    text: (url, key) => json({ servers: { toolcrib: { type: "http", url, headers: { "X-API-Key": key } } } }),
  },
  {
    id: "stdio",
    name: "stdio",
    where: "mcp.json",
    text: () => json({ mcpServers: { toolcrib: { command: "toolcrib", args: ["mcp", "--workspace", "."] } } }),
  },
  {
    id: "python",
    name: "Python",
    where: "pip install mcp",
    text: (url, key) =>
      [
        "from mcp import ClientSession",
        "from mcp.client.streamable_http import streamablehttp_client",
        "",
        `async with streamablehttp_client("${url}", headers={"X-API-Key": "${key}"}) as (read, write, _):`,
        "    async with ClientSession(read, write) as session:",
        "        await session.initialize()",
        "        print(await session.list_tools())",
      ].join("\n"),
  },
  {
    id: "curl",
    name: "curl (REST)",
    where: "terminal",
    text: (url, key) =>
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
  const client = clients.find((one) => one.id === chosen) ?? clients[0]!;
  return (
    <Drawer open={open} onClose={onClose} title={t("connect.title")} about={t("connect.about")}>
      <div className="grid gap-4">
        <CopyBlock label={t("connect.address")} text={url} />
        <Field label={t("connect.client")}>
          {(told) => (
            <Select {...told} value={chosen} onChange={(event) => setChosen(event.target.value)}>
              {clients.map((one) => (
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
        <CopyBlock label={client.where} text={client.text(url, key || "YOUR_KEY")} />
      </div>
    </Drawer>
  );
}
