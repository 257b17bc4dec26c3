// What a form sends is what was stored and what was changed, masks kept.

import { expect, test } from "vitest";
import { definitionOf, draftOf, withoutSecrets } from "./draft";
import type { ServerView } from "./queries";

const stored = {
  name: "search",
  source: "database",
  transport: "http",
  url: "https://a.example/mcp",
  headers: { Authorization: { set: true, last4: "efgh" } },
  pinning: "approve",
  auth: { type: "oauth", for: "user", scopes: ["mail:read"] },
} as unknown as ServerView;

test("what nobody touched goes back as it came, the mask included", () => {
  expect(definitionOf(draftOf(stored))).toEqual({
    url: "https://a.example/mcp",
    transport: "http",
    headers: { Authorization: { set: true, last4: "efgh" } },
    pinning: "approve",
    auth: { type: "oauth", for: "user", scopes: ["mail:read"] },
  });
});

test("a program has nothing of what an address has, and a new value stands in place of the mask", () => {
  const draft = draftOf(stored);
  expect(definitionOf({ ...draft, transport: "stdio", command: " npx ", args: ["-y"] })).toEqual({
    command: "npx",
    args: ["-y"],
    pinning: "approve",
  });
  const headers = draft.headers.map((pair) => ({ ...pair, value: "Bearer new" }));
  expect(definitionOf({ ...draft, headers }).headers).toEqual({ Authorization: "Bearer new" });
});

test("plain OAuth is one word; a wrong number is left for the server to judge", () => {
  const draft = { ...draftOf(), url: "https://a", auth: "server" as const, timeout: "soon" };
  expect(definitionOf(draft)).toEqual({ url: "https://a", transport: "http", auth: "oauth", timeout_seconds: "soon" });
});

test("a secret that was typed and not kept leaves the stored one", () => {
  const draft = draftOf(stored);
  const headers = draft.headers.map((pair) => ({ ...pair, value: "Bearer new" }));
  const kept = withoutSecrets({ ...draft, headers, clientSecret: "new" }, draft);
  expect(definitionOf(kept)).toEqual(definitionOf(draft));
});
