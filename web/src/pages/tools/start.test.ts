// Links from elsewhere in the page begin a tool with what they name.

import { expect, test } from "vitest";
import { bodyOf, schemaOf } from "./draft";
import { startKey, startOf } from "./start";

test("a server's tool brings its name, its description and its parameters", () => {
  const found = { kind: "mcp", server: "files", tool: "read" };
  const offer = {
    name: "read",
    description: "Reads a file",
    inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  };
  const draft = startOf(found, undefined, offer);
  expect(bodyOf(draft)).toMatchObject({
    name: "read",
    description: "Reads a file",
    kind: "mcp",
    config: { server_name: "files", tool_name: "read" },
    input_schema: offer.inputSchema,
  });
  // A server that does not answer now: what the link says is kept.
  expect(startOf(found).config).toEqual({ server_name: "files", tool_name: "read" });
  expect(startOf(found, undefined, { ...offer, name: "read a file" }).name).toBe("");
});

test("a table of a source brings a query", () => {
  const draft = startOf({ source: "shop", table: '"주문"' });
  expect(draft).toMatchObject({ kind: "sql", config: { source: "shop", query: 'SELECT * FROM "주문"' } });
  expect(schemaOf(draft).properties).toEqual({});
});

test("a kind that is none begins with nothing", () => {
  expect(startOf({ kind: "nonsense" }).kind).toBe("sql");
  expect(startOf({ kind: "expression" }).config).toEqual({ expression: "" });
});

test("drafts that began differently are kept apart", () => {
  const all = [{}, { from: "a" }, { kind: "http" }, { source: "a" }, { source: "a", table: "b" }];
  expect(new Set(all.map(startKey)).size).toBe(all.length);
  expect(startKey({})).toBe("");
});
