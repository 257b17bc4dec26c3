// What a description does to the choice is told while a tool is still being made.

import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { loadTexts } from "../../i18n";
import { checked } from "./editor-state";

type Sent = { url: string; body: Record<string, unknown> };
let sent: Sent[] = [];

beforeAll(() => loadTexts(["errors"]));
beforeEach(() => {
  sent = [];
});
afterEach(() => vi.restoreAllMocks());

const effect = { n: 2, right_before: 1, right_after: 2, changed: [] };
const refusal = {
  error: {
    code: "invalid",
    message: "…",
    details: { problems: [{ path: "$.config.query", expected: "one statement", found: "two" }] },
    request_id: "r",
  },
};

/** A server that refuses logic other than a plain expression. */
function server() {
  vi.spyOn(globalThis, "fetch").mockImplementation(async (asked) => {
    const request = asked as Request;
    const body = await request.json();
    sent.push({ url: request.url, body });
    const isFine = body.kind === "expression";
    const answer = isFine ? { name: body.name, effect, trouble: "config.expression uses nothing" } : refusal;
    return new Response(JSON.stringify(answer), {
      status: isFine ? 200 : 422,
      headers: { "content-type": "application/json" },
    });
  });
}

const body = {
  name: "open_orders",
  description: "Lists open orders.",
  kind: "sql",
  config: { source: "", query: "" },
  input_schema: { type: "object", properties: {} },
  examples: ["open orders?"],
  auth_config: { type: "bearer", token: "x" },
};
const signal = new AbortController().signal;

test("a new tool without logic is tried by its name, description and schema alone", async () => {
  server();
  const found = await checked({ body, isWhole: false }, "", true, signal);
  expect(sent).toHaveLength(1);
  expect(sent[0]?.url).toContain("effect=if_known");
  expect(sent[0]?.body).toMatchObject({ name: "open_orders", description: "Lists open orders.", kind: "expression" });
  expect(sent[0]?.body).not.toHaveProperty("auth_config");
  expect(found.tool?.effect).toEqual(effect);
  // What stands in the place of the logic is nobody's trouble.
  expect(found.tool?.trouble).toBeNull();
  expect(found.problems).toEqual([]);
});

test("logic that is wrong is told, and so is the effect", async () => {
  server();
  const found = await checked({ body: { ...body, config: { query: "a; b" } }, isWhole: true }, "", true, signal);
  expect(found.problems.map((one) => one.path)).toEqual(["config.query"]);
  expect(found.tool?.effect).toEqual(effect);
});

test("a tool that is stored is only tried as it is", async () => {
  server();
  const found = await checked({ body, isWhole: true }, "open_orders", true, signal);
  expect(sent).toHaveLength(1);
  expect(found.tool).toBeUndefined();
  expect(found.problems).toHaveLength(1);
});
