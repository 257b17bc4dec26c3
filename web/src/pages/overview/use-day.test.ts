// What the tiles say follows from the counts.

import { expect, test } from "vitest";
import type { Stats } from "../../api/stats";
import { change, dayOf, errorShare, failing } from "./use-day";

const tool = (tool_name: string, calls: number, errors: number, p95_us: number) => ({
  tool_name,
  calls,
  errors,
  p50_us: 1,
  p95_us,
});
const stats = (tools: Stats["tools"]): Stats => ({
  total: tools.reduce((sum, one) => sum + one.calls, 0),
  complete: true,
  covered_since: 0,
  by_status: {},
  by_error_code: {},
  tools,
  callers: [],
  errors: tools.reduce((sum, one) => sum + one.errors, 0),
  callers_in_all: 0,
  steps: [],
});

test("a change needs something before it", () => {
  expect(change(15, 10)).toBe(0.5);
  expect(change(5, 0)).toBeUndefined();
  expect(change(0, 10)).toBe(-1);
});

test("the share of errors, also of nothing", () => {
  expect(errorShare(stats([tool("a", 8, 2, 1), tool("b", 2, 0, 1)]))).toBe(0.2);
  expect(errorShare(stats([]))).toBe(0);
  expect(errorShare(undefined)).toBe(0);
});

test("failing tools, most errors first, without those that have none", () => {
  const names = failing(stats([tool("a", 9, 1, 1), tool("b", 9, 0, 1), tool("c", 9, 4, 1)])).map(
    (one) => one.tool_name,
  );
  expect(names).toEqual(["c", "a"]);
});

test("the day is the last 24 hours, as the list behind it; the one before is asked for once an hour", () => {
  const now = Date.parse("2026-11-18T12:34:56Z");
  const { day, before } = dayOf(now);
  expect(Math.abs(day.from - (now - 86_400_000))).toBeLessThanOrEqual(15_000);
  expect(day.to).toBeGreaterThanOrEqual(now);
  expect(before.to - before.from).toBe(86_400_000);
  expect(dayOf(now + 600_000).before).toEqual(before);
});
