import { expect, test } from "vitest";
import { contains, expecting, partOfText, passes, textOfPart } from "./cases";
import type { Answer } from "./queries";

const rows = {
  rows: [
    { id: 1, name: "Kim Minsu" },
    { id: 2, name: "Lee" },
  ],
  count: 2,
};

test("a part is found wherever it stands", () => {
  for (const part of [
    "Minsu",
    { count: 2 },
    { rows: [{ id: 2 }, { name: "Kim" }] },
    { rows: { id: 2, name: "Lee" } },
    {},
  ])
    expect(contains(rows, part), JSON.stringify(part)).toBe(true);
  for (const part of ["minsu", { count: 3 }, { rows: [{ id: 2, name: "Kim" }] }, { others: null }, 2])
    expect(contains(rows, part), JSON.stringify(part)).toBe(false);
});

test("a test expects all of an answer, a part of it, or an error", () => {
  const answer = { status: "success", data: rows } as unknown as Answer;
  const all = { arguments: {}, expect: rows };
  expect(passes(all, answer)).toBe(true);
  const part = { ...expecting(all, "part"), expect_contains: "Lee" };
  expect(part).toEqual({ arguments: {}, expect_contains: "Lee" });
  expect(passes(part, answer)).toBe(true);
  expect(passes({ arguments: {}, expect_contains: "Park" }, answer)).toBe(false);
  const failed = { status: "error", data: null, error: { code: "timeout", message: "" } } as unknown as Answer;
  expect(passes({ arguments: {}, expect_contains: {} }, failed)).toBe(false);
  expect(passes({ arguments: {}, expect_error: "timeout" }, failed)).toBe(true);
});

test("a part is typed as a text or as JSON, and shown as it was typed", () => {
  for (const [text, part] of [
    ["Kim", "Kim"],
    ["3", 3],
    ['{"id":2}', { id: 2 }],
    ['"quoted"', '"quoted"'],
    ["{half", "{half"],
  ] as const) {
    expect(partOfText(text)).toEqual(part);
    expect(textOfPart(part)).toBe(text);
  }
});
