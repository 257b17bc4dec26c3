// What cannot be read is never saved as something else.

import { expect, test } from "vitest";
import { emptyDraft, ofKind, parameter, unreadIn } from "./draft";
import { readJson } from "./json-text";
import { bindingsOf } from "./logic-sql";

test("a text is a value, nothing, or itself", () => {
  expect(readJson('{"a": 1}')).toEqual({ value: { a: 1 } });
  expect(readJson(" ")).toEqual({ value: undefined });
  expect(readJson('{"a": 1')).toEqual({ unread: '{"a": 1' });
  expect(readJson("[1]")).toEqual({ value: [1] });
  expect(readJson("[1]", true)).toEqual({ unread: "[1]" });
});

test("a line without what it is filled in from is not dropped", () => {
  expect(bindingsOf("who = user\n\nteam=claims.team")).toEqual({ value: { who: "user", team: "claims.team" } });
  expect(bindingsOf("")).toEqual({ value: undefined });
  expect(bindingsOf("who = user\nteam")).toEqual({ unread: "who = user\nteam" });
});

test("what cannot be read counts where it is shown", () => {
  const draft = { ...emptyDraft(), unread: { "config.caller": "who" } };
  expect(unreadIn(draft)).toEqual(["config.caller"]);
  expect(unreadIn(ofKind(draft, "http"))).toEqual([]);
  const post = { ...ofKind(draft, "http"), unread: { "config.body": "{" } };
  expect(unreadIn({ ...post, config: { ...post.config, method: "POST" } })).toEqual(["config.body"]);
  expect(unreadIn(post)).toEqual([]);
  const schema = { ...parameter("id"), unread: "{" };
  expect(unreadIn({ ...emptyDraft(), parameters: [schema] })).toEqual(["input_schema.properties.id"]);
});

test("a default that is no value of its type counts, too", () => {
  const one = { ...parameter("id"), unreadDefault: "abc" };
  expect(unreadIn({ ...emptyDraft(), parameters: [one] })).toEqual(["input_schema.properties.id"]);
});
