// What came while one looked belongs to the filter it came under.

import { act, cleanup, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ApiError, Unreachable } from "../../api/errors";
import type { Execution, ExecutionFilter } from "./queries";
import { useTail } from "./use-tail";

const after = vi.hoisted(() => vi.fn());
vi.mock("./queries", () => ({ executionsAfter: after }));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const FILTER = {} as ExecutionFilter;
const call = (id: string) => ({ id, status: "success" }) as Execution;
const pass = () => act(() => vi.advanceTimersByTimeAsync(2_100));

test("new calls stand above the list, and go with their filter", async () => {
  after.mockResolvedValueOnce([call("2"), call("3")]).mockResolvedValue([]);
  const items = [call("1")];
  const { result, rerender } = renderHook(({ tool, on }) => useTail(on, items, { tool } as ExecutionFilter), {
    initialProps: { tool: "sum", on: true },
  });
  const ids = () => result.current.map((one) => one.id);
  await pass();
  expect(ids()).toEqual(["3", "2", "1"]);
  expect(after.mock.calls[0]?.[0]).toBe("1");
  await pass();
  expect(ids()).toEqual(["3", "2", "1"]);
  expect(after.mock.calls[1]?.[0]).toBe("3");
  rerender({ tool: "other", on: true });
  expect(ids()).toEqual(["1"]);
});

test("a refusal is told, and taken back once they come again", async () => {
  const tell = vi.fn();
  after.mockRejectedValueOnce(new ApiError("forbidden", "not you", 403)).mockResolvedValue([]);
  renderHook(() => useTail(true, [], FILTER, tell));
  await pass();
  expect(tell.mock.lastCall?.[0]).toMatchObject({ code: "forbidden" });
  await pass();
  expect(tell.mock.lastCall?.[0]).toBeUndefined();
  // That the server is gone is said above the page.
  after.mockRejectedValueOnce(new Unreachable());
  await pass();
  expect(tell.mock.lastCall?.[0]).toBeUndefined();
});
