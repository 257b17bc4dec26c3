// Settings survive being shown and saved, also those that the page does not know.

import { expect, test } from "vitest";
import en from "../../i18n/en/agents.json";
import { CONFIG_KEYS, configSchema, MEMORY_KEYS, parted, withPart } from "./settings";

const config = {
  temperature: 0.5,
  max_steps: 3,
  at_limit: "fail",
  api_key: { $secret: "openai" },
  new_in_next_version: { a: 1 },
};

test("the parts together are what was there, but for the key", () => {
  const { model, modelMore, runs, runsMore } = parted(config);
  expect(runs).toEqual({ max_steps: 3 });
  expect(runsMore).toEqual({ at_limit: "fail" });
  const { api_key: _, ...others } = config;
  expect({ ...model, ...modelMore, ...runs, ...runsMore }).toEqual(others);
});

test("changing one part leaves all others and the key alone", () => {
  expect(withPart(config, "runs", {})).toEqual({
    temperature: 0.5,
    at_limit: "fail",
    api_key: { $secret: "openai" },
    new_in_next_version: { a: 1 },
  });
});

test("every setting says what it is for", () => {
  for (const key of CONFIG_KEYS) expect(en.setting, key).toHaveProperty(key);
  for (const key of MEMORY_KEYS) expect(en.memory, key).toHaveProperty(key);
  expect(configSchema("modelMore", (key) => `about ${key}`).properties?.top_p?.description).toBe("about top_p");
});
