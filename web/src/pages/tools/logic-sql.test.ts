// Looking at a query changes nothing.

import { expect, test } from "vitest";
import { emptyDraft } from "./draft";
import { sourceOf } from "./logic-sql";

test("the only source there is needs no choice, for a tool that is new", () => {
  const draft = emptyDraft();
  expect(sourceOf(draft, ["demo"])).toBe("demo");
  expect(sourceOf(draft, ["demo", "shop"])).toBe("");
  expect(sourceOf({ ...draft, version: 1 }, ["demo"])).toBe("");
  expect(sourceOf({ ...draft, config: { source: "gone" } }, ["demo"])).toBe("gone");
});
