// Times that stand together are told by one clock, and go on as it does.

import { act, cleanup, render, screen } from "@testing-library/react";
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { duration, When } from "./time";

beforeAll(() => i18next.use(initReactI18next).init({ lng: "en", resources: {} }));
beforeEach(() => void vi.useFakeTimers({ now: 1_000_000_000_000 }));
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

test("all of them go on together, also those of rows that are not drawn anew", () => {
  const first = ago(10);
  render(<When at={first} />);
  act(() => void vi.advanceTimersByTime(20_000));
  render(<When at={ago(1)} />);
  expect(screen.getByText("30 seconds ago")).toBeTruthy();
  act(() => void vi.advanceTimersByTime(200_000));
  expect(screen.getByText("4 minutes ago")).toBeTruthy();
  expect(screen.getByText("3 minutes ago")).toBeTruthy();
});

test("what has just come is now, whenever the clock ticked last", () => {
  render(<When at={ago(10)} />);
  act(() => void vi.advanceTimersByTime(3_000));
  render(<When at={ago(0)} />);
  expect(screen.getByText("now")).toBeTruthy();
});

test("a duration is told in its unit, with no digit lost", () => {
  expect([0.000_25, 0.001, 0.0055, 0.02, 0.1, 0.12, 0.1234, 0.25, 0.5, 0.99].map(duration)).toEqual([
    "250 µs",
    "1 ms",
    "5.5 ms",
    "20 ms",
    "100 ms",
    "120 ms",
    "123 ms",
    "250 ms",
    "500 ms",
    "990 ms",
  ]);
  expect([0.9996, 1, 2.5, 12, 59.96, 60, 119.7, 3_600].map(duration)).toEqual([
    "1.00 s",
    "1.00 s",
    "2.50 s",
    "12.0 s",
    "1 min 0 s",
    "1 min 0 s",
    "2 min 0 s",
    "60 min 0 s",
  ]);
});
