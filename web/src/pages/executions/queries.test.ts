// What comes while one looks is filtered like what is there.

import { expect, test, vi } from "vitest";

const asked = vi.hoisted(() => vi.fn(async () => ({ data: { items: [] }, response: new Response() })));
vi.mock("../../api/client", () => ({
  api: { GET: asked },
  got: async (answer: Promise<{ data: unknown }>) => (await answer).data,
}));

import { executionsAfter, filterOf } from "./queries";

test("the tail keeps to every filter, time too", async () => {
  const found = {
    tool: "a",
    status: "error",
    caller: "kim",
    transport: "mcp",
    since: "1h",
    until: "2026-01-31T12:00:00Z",
  };
  await executionsAfter("0190", filterOf(found), new AbortController().signal);
  expect(asked).toHaveBeenCalledWith(
    "/api/v1/executions",
    expect.objectContaining({ params: { query: { ...found, after: "0190", limit: 100 } } }),
  );
});
