// What is taken back from another page, and fails, is told there.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, expect, test, vi } from "vitest";
import { useToggle } from "./card";

const told = vi.hoisted(() => vi.fn());
vi.mock("../../ui/toast", () => ({ toast: told }));

afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("switching off is told with a way back, and the way back says that it failed, wherever one is by then", async () => {
  let status = 200;
  vi.stubGlobal("fetch", async () =>
    Response.json(status === 200 ? {} : { error: { code: "internal_error", message: "not now" } }, { status }),
  );
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const wrapper = ({ children }: { children: ReactNode }) => (
    <QueryClientProvider client={queries}>{children}</QueryClientProvider>
  );
  const { result, unmount } = renderHook(() => useToggle(), { wrapper });
  act(() => result.current("files", true));
  unmount();
  await vi.waitFor(() => expect(told).toHaveBeenCalledOnce());
  status = 500;
  told.mock.lastCall?.[1].action.run();
  await vi.waitFor(() => expect(told).toHaveBeenCalledTimes(2));
  expect(told.mock.lastCall).toEqual([expect.stringContaining("not now"), { failed: true }]);
});
