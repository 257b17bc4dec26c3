// What the server says is wrong is found again at the member it is about.

import { beforeAll, expect, test } from "vitest";
import { loadTexts } from "../i18n";
import { ApiError, problemAt, problemsOf } from "./errors";

beforeAll(() => loadTexts(["errors"]));

const listed = new ApiError("invalid", "body:1:1: at $.url: …", 422, {
  problems: [
    {
      file: "body",
      path: "$.url",
      expected: "an http or https address",
      found: 'the string "x"',
      remedy: "Write it so.",
    },
    { file: "body", path: "$.headers.X", expected: "a string", found: "a number" },
  ],
});

test("listed problems are told by member, with what was expected, found and how to mend it", () => {
  expect(problemAt(listed, "url")).toBe('Expected an http or https address, found the string "x". Write it so.');
  expect(problemAt(listed, "headers")).toBe("Expected a string, found a number.");
  expect(problemAt(listed, "head")).toBeUndefined();
});

test("a message that begins with a member is about that member", () => {
  const error = new ApiError("invalid", "rules[0].target: there is no user 'nobody'", 422);
  expect(problemsOf(error)).toEqual([{ path: "rules[0].target", message: "there is no user 'nobody'" }]);
  expect(problemAt(error, "rules[0]")).toBe("there is no user 'nobody'");
});

test("a sentence is about no member", () => {
  expect(problemsOf(new ApiError("conflict", "The policy is at version 0 now, not 3", 409))).toEqual([]);
});

test("what is wrong with a call's arguments, a missing one at its own place", () => {
  const violations = [
    { path: "$", expected: 'property "b"', got: "{}" },
    { path: "$.a", expected: "type number", got: '"x"' },
  ];
  expect(problemsOf({ code: "invalid_input", message: "…", details: { violations } })).toEqual([
    { path: "b", message: "This is required." },
    { path: "a", message: 'Expected a number, found "x".' },
  ]);
});
