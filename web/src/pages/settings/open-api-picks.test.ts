// Nothing that may destroy is taken before somebody chose it.

import { expect, test } from "vitest";
import type { ImportedTool, OpenApiImported } from "../../api/schema";
import { firstPicks, madeWith, missingOf, shownOf, takenOf } from "./open-api-picks";

const tool = (method: string, path: string, more: object = {}) =>
  ({
    name: `${method}_x`.toLowerCase(),
    method,
    path,
    lost: [],
    outcome: "added",
    definition: {},
    ...more,
  }) as ImportedTool;
const found = {
  title: "Pets",
  left_out: [],
  secrets: [{ name: "pets_key", what: "a key", is_set: false, shown_to: ["https://a.example"] }],
  tools: [
    tool("GET", "/pets"),
    tool("DELETE", "/pets/{id}"),
    tool("HEAD", "/pets"),
    tool("GET", "/owners", {
      outcome: "failed",
      definition: { auth_config: { type: "header", name: "X", value: { $secret: "pets_key" } } },
    }),
  ],
} as unknown as OpenApiImported;

test("only what reads is picked beforehand", () => {
  expect([...firstPicks(found)]).toEqual(["GET /pets", "HEAD /pets", "GET /owners"]);
});

test("what cannot be made and what was made is not taken again", () => {
  const picked = new Set([...firstPicks(found), "DELETE /pets/{id}"]);
  expect(takenOf(found, picked, {})).toEqual(["GET /pets", "DELETE /pets/{id}", "HEAD /pets"]);
  const made = madeWith({}, { ...found, tools: [tool("GET", "/pets"), tool("HEAD", "/pets", { outcome: "failed" })] });
  expect(takenOf(found, picked, made)).toEqual(["DELETE /pets/{id}", "HEAD /pets"]);
});

test("a tool knows which secret it waits for, until that is set", () => {
  expect(found.tools.map((one) => missingOf(one, found))).toEqual([[], [], [], ["pets_key"]]);
  const set = { ...found, secrets: [{ ...found.secrets[0]!, is_set: true }] };
  expect(missingOf(found.tools[3]!, set)).toEqual([]);
});

test("operations are found by method and words", () => {
  const paths = (text: string, method = "") => shownOf(found, { text, method }).map((one) => one.path);
  expect(paths("", "GET")).toEqual(["/pets", "/owners"]);
  expect(paths("DELETE pets")).toEqual(["/pets/{id}"]);
  expect(paths("nothing")).toEqual([]);
});
