// Where the words for errors did not come, as in a tab that is older than the server, the server's own are shown.

import { beforeAll, expect, test } from "vitest";
import { startTexts } from "../i18n";
import { messageOf } from "../ui/states";
import { ApiError, problemsOf } from "./errors";

beforeAll(() => startTexts() as Promise<void>);

test("an error is told in the server's words", () => {
  expect(messageOf(new ApiError("not_found", "Source 'shop' not found", 404))).toBe("Source 'shop' not found");
});

test("so is what is wrong with a value", () => {
  const violations = [
    { path: "$", expected: 'property "b"', got: "{}" },
    { path: "$.a", expected: "type number", got: '"x"' },
    { path: "$.u", expected: "an address" },
  ];
  expect(problemsOf({ details: { violations } }).map((one) => one.message)).toEqual([
    'property "b"',
    'type number (≠ "x")',
    "an address",
  ]);
});
