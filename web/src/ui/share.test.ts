// A share is never rounded to nothing, nor to all.

import { expect, test } from "vitest";
import { share } from "./share";

test("a few errors are not none, and nearly all are not all", () => {
  const whole = [
    [0, 0],
    [0, 9],
    [1, 1000],
    [1, 150],
    [1, 3],
    [995, 1000],
    [999, 1000],
    [5, 5],
  ] as const;
  expect(whole.map(([part, all]) => share(part, all, "en"))).toEqual([
    "0%",
    "0%",
    "<1%",
    "<1%",
    "33%",
    ">99%",
    ">99%",
    "100%",
  ]);
  expect(share(1, 3000, "en", 1)).toBe("<0.1%");
  expect(share(1, 3, "en", 1)).toBe("33.3%");
  expect(share(2999, 3000, "ko", 1)).toBe(">99.9%");
});
