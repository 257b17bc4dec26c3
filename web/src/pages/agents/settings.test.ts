// Settings survive being shown and saved, also those that the page does not know.

import { expect, test } from "vitest";
import en from "../../i18n/en/agents.json";
import { halves, MEMORY_KEYS, MODEL_KEYS, modelSchema, RUN_KEYS } from "./settings";

test("both halves together are what was there", () => {
  const config = { temperature: 0.5, max_steps: 3, at_limit: "fail", new_in_next_version: { a: 1 } };
  const { model, runs } = halves(config);
  expect(runs).toEqual({ max_steps: 3, at_limit: "fail" });
  expect({ ...model, ...runs }).toEqual(config);
});

test("every setting says what it is for", () => {
  for (const key of [...MODEL_KEYS, ...RUN_KEYS]) expect(en.setting, key).toHaveProperty(key);
  for (const key of MEMORY_KEYS) expect(en.memory, key).toHaveProperty(key);
  expect(modelSchema((key) => `about ${key}`).properties?.top_p?.description).toBe("about top_p");
});
