// @vitest-environment happy-dom
import { afterEach, expect, test, vi } from "vitest";
import { rememberWay, takeWay } from "./way";

afterEach(() => {
  vi.useRealTimers();
  sessionStorage.clear();
});

test("who had to log in first goes on where they wanted to go, once", () => {
  expect(takeWay()).toBeUndefined();
  rememberWay("/executions?status=error#x");
  expect(takeWay()).toBe("/executions?status=error#x");
  expect(takeWay()).toBeUndefined();
});

test("who comes back much later does not", () => {
  vi.useFakeTimers();
  rememberWay("/tools");
  vi.advanceTimersByTime(31 * 60_000);
  expect(takeWay()).toBeUndefined();
});
