// The name stands wherever the text has it.

import { expect, test } from "vitest";
import { withName } from "./with-name";

test("a text that is looked up once has every name in its place", () => {
  let looked = 0;
  const text = withName((name) => {
    looked += 1;
    return `Test ${name}, not $& or ${name}`;
  });
  expect(text("a$1")).toBe("Test a$1, not $& or a$1");
  expect(text("도구")).toBe("Test 도구, not $& or 도구");
  expect(looked).toBe(1);
});
