// What is typed into the conversation becomes exactly the answer that the schema asks for, or is refused.

import { expect, test } from "vitest";
import { isTypeable, typedAnswer } from "./typed-answer";

const two = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
};

test("one value can be typed, several are for the form", () => {
  expect(isTypeable(null)).toBe(true);
  expect(isTypeable({ type: "string" })).toBe(true);
  expect(isTypeable(two)).toBe(false);
  expect(isTypeable({ ...two, required: ["a"] })).toBe(true);
  expect(isTypeable({ type: "array", items: { type: "string" } })).toBe(false);
});

test("it becomes what is asked for", () => {
  expect(typedAnswer("blue", null)).toEqual({ answer: "blue" });
  expect(typedAnswer("12", { type: "string" })).toEqual({ answer: "12" });
  expect(typedAnswer("12", { ...two, required: ["b"] })).toEqual({ answer: { b: 12 } });
  expect(typedAnswer("TRUE", { type: "boolean" })).toEqual({ answer: true });
  expect(typedAnswer("red", { enum: ["Red", "green"] })).toEqual({ answer: "Red" });
});

test("what is none is refused, not sent as a text", () => {
  expect(typedAnswer("twelve", { ...two, required: ["b"] })).toEqual({ wrong: "number" });
  expect(typedAnswer("1.5", { type: "integer" })).toEqual({ wrong: "whole" });
  expect(typedAnswer("blue", { enum: ["red"] })).toEqual({ wrong: "choice" });
});
