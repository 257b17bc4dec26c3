// Tests run by themselves only where a call cannot do anything, and only where they could end otherwise.

import { expect, test } from "vitest";
import { type Draft, emptyDraft, ofKind } from "./draft";
import { canTry, isHarmless, isTestable, matters } from "./testable";

const draft: Draft = {
  ...emptyDraft(),
  name: "t",
  config: { source: "demo", query: "SELECT 1" },
  tests: [{ arguments: {}, expect: 1 }],
};
const http = (method: string, annotations?: object): Draft => ({
  ...ofKind(draft, "http"),
  config: { base_url: "https://a.example", method },
  rest: annotations ? { annotations } : {},
});

test("what reads or computes is harmless, and what its author calls so", () => {
  expect(isHarmless(draft)).toBe(true);
  expect(isHarmless({ ...draft, config: { ...draft.config, write: true } })).toBe(false);
  expect(isHarmless(ofKind(draft, "expression"))).toBe(true);
  expect(isHarmless(http("GET"))).toBe(true);
  expect(isHarmless(http("POST"))).toBe(false);
  expect(isHarmless(http("POST", { read_only: true }))).toBe(true);
  expect(isHarmless(http("GET", { destructive: true }))).toBe(false);
  expect(isHarmless(ofKind(draft, "shell"))).toBe(false);
});

test("a call that waits for somebody, or of a tool that is off, tests nothing", () => {
  expect(isTestable(draft)).toBe(true);
  expect(isTestable({ ...draft, tests: [] })).toBe(false);
  expect(isTestable({ ...draft, is_active: false })).toBe(false);
  expect(isTestable({ ...draft, rest: { approval: "always" } })).toBe(false);
  expect(isTestable({ ...draft, rest: { approval: "never" } })).toBe(true);
  expect(canTry({ ...draft, auth_config: { type: "bearer", token: { set: true } } })).toBe(false);
});

test("another query matters, another description does not", () => {
  expect(matters(draft, { ...draft, description: "x", examples: ["y"] })).toBe(false);
  expect(matters(draft, { ...draft, config: { ...draft.config, query: "SELECT 2" } })).toBe(true);
  expect(matters(draft, { ...draft, tests: [{ arguments: {}, expect: 2 }] })).toBe(true);
});
