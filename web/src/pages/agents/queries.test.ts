// An agent is saved on the version it was begun on, and nothing else of the form goes along.

import { afterEach, expect, test, vi } from "vitest";
import { NEW_AGENT, saveAgent } from "./queries";

afterEach(() => vi.restoreAllMocks());

test("the version it was begun on goes along, and is no part of what is saved", async () => {
  const sent: Request[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (request) => {
    sent.push((request as Request).clone());
    return new Response("{}", { headers: { "content-type": "application/json" } });
  });
  await saveAgent({ ...NEW_AGENT, name: "clerk ", model_name: "m", version: 3 }, "clerk");
  expect(sent[0]?.headers.get("If-Match")).toBe("3");
  const body = await sent[0]!.json();
  expect(body).toMatchObject({ name: "clerk", memory_config: null });
  expect(body).not.toHaveProperty("version");
  expect(body).not.toHaveProperty("memory");
});
