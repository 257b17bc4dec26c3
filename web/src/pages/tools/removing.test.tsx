// A tool is deleted only once it is known what names it.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { useRemoving } from "./removing";

const told = vi.hoisted(() => vi.fn());
vi.mock("../../ui/toast", () => ({ toast: told }));

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("where that cannot be asked, it is told why, and nothing is deleted", async () => {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    asked.push(request.method);
    return Response.json({ error: { code: "internal_error", message: "not now" } }, { status: 500 });
  });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={new QueryClient()}>{children}</QueryClientProvider>
  );
  const { result } = renderHook(() => useRemoving(), { wrapper });
  act(() => result.current[1]("sum"));
  await vi.waitFor(() => expect(told).toHaveBeenCalledOnce());
  expect(told.mock.lastCall).toEqual([expect.stringContaining("not now"), { failed: true }]);
  expect(asked).toEqual(["GET"]);
});
