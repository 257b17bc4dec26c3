// An agent is saved on the version it was begun on, and nothing else of the form goes along.

import { afterEach, expect, test, vi } from "vitest";
import { type Agent, bodyOf, draftOf, lacksTools, NEW_AGENT, saveAgent } from "./queries";

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

const stored = {
  name: "a",
  model_provider: "openai",
  model_name: "m",
  config: {},
  tools_missing: ["2"],
} as unknown as Agent;

test("tools that are gone are sent back: without them the agent would have every tool", () => {
  const draft = draftOf({ ...stored, tools: ["2"] });
  expect(draft.isEvery).toBe(false);
  expect(bodyOf(draft)).toMatchObject({ tools: ["2"] });
  expect(bodyOf(draft)).not.toHaveProperty("isEvery");
});

test("every tool is a choice: a list that got empty is not one", () => {
  expect(lacksTools({ ...draftOf({ ...stored, tools: ["2"] }), tools: [] })).toBe(true);
  expect(lacksTools(draftOf({ ...stored, tools: [] }))).toBe(false);
  expect(bodyOf({ ...NEW_AGENT, isEvery: true, tools: ["1"] })).toMatchObject({ tools: [] });
});
