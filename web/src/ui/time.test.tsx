// Times that stand together are told by one clock, and go on as it does.

import { act, cleanup, render, screen } from "@testing-library/react";
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { When } from "./time";

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
