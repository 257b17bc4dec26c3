// What the tiles say of the last day, and of what is different from the day before.

import { cleanup, render, screen } from "@testing-library/react";
import i18next from "i18next";
import type { ReactNode } from "react";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import type { Stats } from "../../api/stats";
import home from "../../i18n/en/home.json";
import { Tiles } from "./tiles";
import type { Day } from "./use-day";

vi.mock("@tanstack/react-router", () => ({
  Link: ({ children }: { children: ReactNode }) => <a href="/">{children}</a>,
}));

beforeAll(async () => {
  await i18next.use(initReactI18next).init({ lng: "en", resources: { en: { home } } });
});
afterEach(cleanup);

const stats = (total: number, errors: number, callers_in_all: number) =>
  ({ total, errors, callers_in_all, tools: [] }) as unknown as Stats;

const told = (now: Stats, before: Stats) => {
  const day = { steps: [], isPending: false, now, before, error: null, again: () => {} } satisfies Day;
  render(<Tiles day={day} />);
  return screen.getAllByRole("link").map((one) => one.textContent);
};

test("more and fewer are told apart without the arrow, and errors in points", () => {
  const [calls, errors, , callers] = told(stats(150, 15, 2), stats(100, 5, 4));
  expect(calls).toContain("+50% against the day before");
  expect(errors).toContain("10%");
  expect(errors).toContain("+5 percentage points against the day before");
  expect(callers).toContain("-50% against the day before");
});

test("a single error among thousands is seen", () => {
  const [, errors] = told(stats(3000, 1, 1), stats(3000, 1, 1));
  expect(errors).toContain("<0.1%");
  expect(errors).toContain("0 percentage points against the day before");
});
