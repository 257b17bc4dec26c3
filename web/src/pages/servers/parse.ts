// Servers as desktop clients keep them (`mcpServers`, VS Code's `servers`), read from pasted text.

import type { Definition } from "./queries";

export type Found = { name: string; definition: Definition; left: string[] };
export type Parsed = { found: Found[]; problem?: "syntax" | "shape"; detail?: string };

const KNOWN = new Set([
  "url",
  "transport",
  "headers",
  "command",
  "args",
  "env",
  "cwd",
  "timeout_seconds",
  "pinning",
  "disabled",
  "auth",
]);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `${env:NAME}`, as some editors write it, is `${NAME}` here. */
function withOurVariables(value: unknown): unknown {
  if (typeof value === "string") return value.replace(/\$\{env:(\w+)\}/g, "${$1}");
  if (Array.isArray(value)) return value.map(withOurVariables);
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withOurVariables(inner)]));
  return value;
}

function oneOf(name: string, given: Record<string, unknown>): Found {
  const definition: Record<string, unknown> = {};
  const left: string[] = [];
  for (const [key, value] of Object.entries(given)) {
    if (KNOWN.has(key)) definition[key] = withOurVariables(value);
    else if (key === "serverUrl" || key === "httpUrl") definition.url = withOurVariables(value);
    else if (key === "type" || key === "transportType") {
      if (value === "sse") definition.transport = "sse";
      else if (value === "http" || value === "streamable-http" || value === "streamableHttp")
        definition.transport = "http";
    } else left.push(key);
  }
  // A transport is only said of addresses.
  if (!definition.url) delete definition.transport;
  return { name, definition, left };
}

export function parseServers(text: string): Parsed {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { found: [], problem: "syntax", detail: (error as Error).message };
  }
  if (!isObject(value)) return { found: [], problem: "shape" };
  const inner = value.mcp;
  const all = [value.mcpServers, value.servers, isObject(inner) ? inner.servers : undefined, value].find(isObject);
  if (!all) return { found: [], problem: "shape" };
  const found = Object.entries(all).flatMap(([name, given]) =>
    isObject(given) && ("url" in given || "command" in given || "serverUrl" in given || "httpUrl" in given)
      ? [oneOf(name, given)]
      : [],
  );
  return found.length > 0 ? { found } : { found, problem: "shape" };
}
