// Spans and steps of time.

import { expect, test } from "vitest";
import { spanLength, spanOf, stepsOf } from "./span";

const NOW = Date.parse("2026-11-18T12:34:56Z");
const AT = Date.parse("2026-11-18T12:34:45Z");

test("a span back from now, two moments, and nonsense", () => {
  expect(spanLength("24h")).toBe(86_400_000);
  expect(spanLength("yesterday")).toBeUndefined();
  // What comes while one looks belongs to it.
  expect(spanOf("1h", undefined, NOW)).toEqual({ from: AT - 3_600_000, to: AT + 15_000 });
  expect(spanOf("2026-11-18T10:00:00Z", "2026-11-18T11:00:00Z", NOW)).toEqual({
    from: Date.parse("2026-11-18T10:00:00Z"),
    to: Date.parse("2026-11-18T11:00:00Z"),
  });
  expect(spanOf("nonsense", undefined, NOW)).toEqual({ from: AT - 86_400_000, to: AT + 15_000 });
  // An end before its beginning is no span either.
  expect(spanOf("2026-11-18T11:00:00Z", "2026-11-18T10:00:00Z", NOW).to).toBe(AT + 15_000);
});

test("steps are equal, without gaps, not too many, and hold the span and nothing else", () => {
  const own = spanOf("2026-11-18T10:07:13Z", "2026-11-18T11:00:00.001Z", NOW);
  for (const span of [own, ...["1m", "15m", "1h", "24h", "7d", "30d"].map((since) => spanOf(since, undefined, NOW))]) {
    const steps = stepsOf(span, 48);
    const size = steps[0]!.to - steps[0]!.from;
    expect(steps.length).toBeLessThanOrEqual(48);
    expect(steps.length).toBeGreaterThan(10);
    expect(steps[0]!.from).toBe(span.from);
    expect(steps.at(-1)!.to).toBe(span.to);
    for (const [at, step] of steps.entries()) {
      // As the server divides it: whole milliseconds, the last one has what is left.
      if (at < steps.length - 1) expect(step.to - step.from).toBe(size);
      if (at > 0) expect(step.from).toBe(steps[at - 1]!.to);
    }
  }
});

test("a list goes back as far as its bars, to a few seconds", () => {
  for (const [since, length] of [
    ["15m", 900_000],
    ["24h", 86_400_000],
    ["7d", 604_800_000],
  ] as const)
    expect(NOW - length - stepsOf(spanOf(since, undefined, NOW), 48)[0]!.from).toBeLessThan(15_000);
});

test("looking again a moment later asks for the same steps", () => {
  const first = stepsOf(spanOf("24h", undefined, NOW), 48);
  const again = stepsOf(spanOf("24h", undefined, NOW + 2_000), 48);
  expect(again).toEqual(first);
});
