// Every code that the server can refuse or fail with has a sentence in both languages.

import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { ApiError, problemsOf, Unreachable } from "../api/errors";
import { PageMissing } from "../stale";
import { messageOf } from "../ui/states";
import { loadTexts, speak } from ".";
import enCodes from "./en/codes.json";
import en from "./en/errors.json";
import koCodes from "./ko/codes.json";
import ko from "./ko/errors.json";

// The server's own table; the document of its API does not list the codes.
const table = readFileSync(`${import.meta.dirname}/../../../crates/executor/src/code.rs`, "utf8");
const codes = [...table.matchAll(/^ {4}\w+ +"(\w+)" +\d{3} /gm)].map((row) => row[1]!);

beforeAll(async () => {
  await loadTexts(["errors"]);
  await speak("ko");
});

test("the table of codes is read", () => {
  expect(codes.length).toBeGreaterThan(25);
  expect(codes).toContain("tool_not_found");
});

test.each([
  ["en", en.code as Record<string, string>],
  ["ko", ko.code as Record<string, string>],
])("every code of the API has a sentence in %s, and no two the same one", (_, sentences) => {
  expect(codes.filter((code) => !sentences[code])).toEqual([]);
  expect(new Set(Object.values(sentences)).size).toBe(Object.keys(sentences).length);
});

test.each([
  ["en", enCodes.error as Record<string, string>],
  ["ko", koCodes.error as Record<string, string>],
])("every code of the API has a few words for a badge in %s", (_, words) => {
  expect(codes.filter((code) => !words[code])).toEqual([]);
});

test("an error is told in the reader's language, with the server's own words below", () => {
  const [what, detail] = messageOf(new ApiError("not_found", "Source 'shop' not found", 404)).split("\n");
  expect(what).toBe(ko.code.not_found);
  expect(detail).toBe("Source 'shop' not found");
});

test("a code from a newer server is told in the server's words", () => {
  expect(messageOf(new ApiError("brand_new", "Something new", 418))).toBe("Something new");
});

test("what the page says itself is in the reader's language", () => {
  expect(messageOf(new Unreachable())).toBe("서버가 응답하지 않습니다.");
  expect(messageOf(new PageMissing(null))).toMatch(/^페이지의 일부/);
});

test("what is wrong with a value is told in the reader's language", () => {
  const violations = [
    { path: "$", expected: 'property "b"', got: "{}" },
    { path: "$.a", expected: "type number", got: '"x"' },
    { path: "$.n", expected: "minimum 3", got: "1" },
    { path: "$.u", expected: "an http or https address" },
  ];
  expect(problemsOf({ details: { violations } }).map((one) => one.message)).toEqual([
    "꼭 필요한 값입니다.",
    '필요한 값: 숫자. 받은 값: "x".',
    "필요한 값: 3 이상. 받은 값: 1.",
    "필요한 값: an http or https address.",
  ]);
});
