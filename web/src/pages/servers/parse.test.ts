// What clients keep of their servers is read as it is meant.

import { expect, test } from "vitest";
import { parseServers } from "./parse";

test("servers of a desktop client, with what means nothing here told apart", () => {
  const text = JSON.stringify({
    mcpServers: {
      files: { command: "npx", args: ["-y", "x"], env: { TOKEN: "${env:MINE}" }, autoApprove: ["a"], type: "stdio" },
      search: { type: "sse", url: "https://a.example/sse", headers: { Authorization: "Bearer ${T}" } },
    },
  });
  expect(parseServers(text).found).toEqual([
    {
      name: "files",
      definition: { command: "npx", args: ["-y", "x"], env: { TOKEN: "${MINE}" } },
      left: ["autoApprove"],
    },
    {
      name: "search",
      definition: { transport: "sse", url: "https://a.example/sse", headers: { Authorization: "Bearer ${T}" } },
      left: [],
    },
  ]);
});

test("VS Code's shape, one that only names servers, and other words for an address", () => {
  expect(parseServers('{"servers":{"a":{"type":"http","url":"https://a"}}}').found[0]?.definition).toEqual({
    transport: "http",
    url: "https://a",
  });
  expect(parseServers('{"b":{"serverUrl":"https://b"}}').found).toEqual([
    { name: "b", definition: { url: "https://b" }, left: [] },
  ]);
});

test("what is no JSON, and what holds no servers, is told", () => {
  expect(parseServers("{").problem).toBe("syntax");
  expect(parseServers("[1]").problem).toBe("shape");
  expect(parseServers('{"mcpServers":{}}').problem).toBe("shape");
});
