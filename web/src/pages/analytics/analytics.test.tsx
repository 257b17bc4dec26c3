// The numbers go on while one looks, as on the other pages.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { meQuery } from "../../api/me";
import { loadTexts } from "../../i18n";
import type { Span } from "../../span";
import Analytics from "./analytics";

const asked: Array<{ span: Span; options: { refetchInterval?: number } }> = [];
vi.mock("../../api/stats", () => ({
  useStats: (span: Span, _most: number, _filter: object, options: object) => {
    asked.push({ span, options });
    return { steps: [], isPending: true };
  },
}));
vi.mock("../../search", () => ({ useAddress: () => [{}, () => {}] }));

beforeAll(() => loadTexts(["analytics", "frame"]));
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

test("they are counted anew, up to now", () => {
  vi.useFakeTimers({ now: Date.parse("2026-11-18T12:00:00Z") });
  const queries = new QueryClient();
  queries.setQueryData(meQuery.queryKey, { name: "kim", scopes: ["admin"] } as never);
  render(
    <QueryClientProvider client={queries}>
      <Analytics />
    </QueryClientProvider>,
  );
  const first = asked.at(-1)!;
  expect(first.options.refetchInterval).toBe(15_000);
  act(() => void vi.advanceTimersByTime(60_000));
  expect(asked.at(-1)!.span.to - first.span.to).toBe(60_000);
});
