// Spans and steps of time.

import { expect, test } from "vitest";
import { spanLength, spanOf, stepsOf } from "./span";

const NOW = Date.parse("2026-11-18T12:34:56Z");

test("a span back from now, two moments, and nonsense", () => {
  expect(spanLength("24h")).toBe(86_400_000);
  expect(spanLength("yesterday")).toBeUndefined();
  expect(spanOf("1h", undefined, NOW)).toEqual({ from: NOW - 3_600_000, to: NOW });
  expect(spanOf("2026-11-18T10:00:00Z", "2026-11-18T11:00:00Z", NOW)).toEqual({
    from: Date.parse("2026-11-18T10:00:00Z"),
    to: Date.parse("2026-11-18T11:00:00Z"),
  });
  expect(spanOf("nonsense", undefined, NOW)).toEqual({ from: NOW - 86_400_000, to: NOW });
  // An end before its beginning is no span either.
  expect(spanOf("2026-11-18T11:00:00Z", "2026-11-18T10:00:00Z", NOW).to).toBe(NOW);
});

test("steps are round, without gaps, cover the span, and are not too many", () => {
  for (const since of ["1m", "15m", "1h", "24h", "7d", "30d"]) {
    const span = spanOf(since, undefined, NOW);
    const steps = stepsOf(span, 48);
    const size = steps[0]!.to - steps[0]!.from;
    expect(steps.length).toBeLessThanOrEqual(48);
    expect(steps.length).toBeGreaterThan(10);
    expect(steps[0]!.from).toBeLessThanOrEqual(span.from);
    expect(steps.at(-1)!.to).toBeGreaterThanOrEqual(span.to);
    for (const [at, step] of steps.entries()) {
      expect(step.from % size).toBe(0);
      if (at > 0) expect(step.from).toBe(steps[at - 1]!.to);
    }
  }
});

test("looking again a moment later asks for the same steps", () => {
  const first = stepsOf(spanOf("24h", undefined, NOW), 48);
  const again = stepsOf(spanOf("24h", undefined, NOW + 2_000), 48);
  expect(again).toEqual(first);
});
