// The menu says how many runs wait for somebody, wherever one is.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, render, screen } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { meQuery } from "../api/me";
import { RailPlaces } from "./rail-places";

vi.mock("@tanstack/react-router", () => ({
  Link: ({ to, children }: { to: string; children: ReactNode }) => <a href={to}>{children}</a>,
}));

afterEach(cleanup);

async function shown(items: number, next: string | null) {
  vi.stubGlobal("fetch", async () => Response.json({ items: Array(items).fill({}), next_cursor: next }));
  const queries = new QueryClient();
  queries.setQueryData(meQuery.queryKey, { user: "kim", role: "USER", scopes: ["read"] } as never);
  render(
    <QueryClientProvider client={queries}>
      <RailPlaces slim={false} />
    </QueryClientProvider>,
  );
  await act(() => vi.waitFor(() => expect(queries.isFetching()).toBe(0)));
  return screen.getAllByRole("link").find((one) => one.getAttribute("href") === "/runs")?.textContent;
}

test("none, some, and more than are counted", async () => {
  expect(await shown(0, null)).toBe("nav.runs");
  cleanup();
  expect(await shown(3, null)).toContain("3nav.waiting");
  cleanup();
  expect(await shown(50, "more")).toContain("50+");
});
