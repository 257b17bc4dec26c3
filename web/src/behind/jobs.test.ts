// What comes to the page of a long answer is what would be looked at in it.

import { expect, test } from "vitest";
import { type Get, jobs, shortened, slowest } from "./jobs";

const tool = (tool_name: string, calls: number, errors = 0, p95_us = 1) => ({
  tool_name,
  calls,
  errors,
  p50_us: 1,
  p95_us,
});

type Slots = { calls_by_slot?: number[]; errors_by_slot?: number[] };
const counted = (tools: Array<ReturnType<typeof tool> & Slots>) => ({
  total: tools.reduce((all, one) => all + one.calls, 0),
  complete: true,
  covered_since: 0,
  by_status: {},
  by_error_code: {},
  tools,
  callers: [{ caller: "kim", calls: 3, errors: 1 }],
});

const stop = new AbortController().signal;

test("the slowest tool is one that was called more than by chance, if there is one", () => {
  expect(slowest([tool("rare", 1, 0, 900), tool("often", 50, 0, 30)])?.tool_name).toBe("often");
  expect(slowest([tool("rare", 1, 0, 900)])?.tool_name).toBe("rare");
});

test("of many tools the most called, the failing and the slowest stay, and all are counted", () => {
  const many = Array.from({ length: 5_000 }, (_, at) => tool(`t${at}`, 10_000 - at));
  many[4_000] = tool("failing", 6_000, 7);
  many[4_500] = tool("slow", 5_500, 0, 1e9);
  const short = shortened(counted(many));
  expect(short.tools.length).toBeLessThan(400);
  expect(short.tools.map((one) => one.tool_name)).toEqual(expect.arrayContaining(["t0", "t299", "failing", "slow"]));
  expect(short.errors).toBe(7);
  expect(short.total).toBe(many.reduce((all, one) => all + one.calls, 0));
});

test("the slots of a span are steps at the server's moments, and no tool's slots come along", () => {
  const all = {
    ...counted([{ ...tool("a", 3, 1), calls_by_slot: [1, 2], errors_by_slot: [0, 1] }]),
    series: { from: 5_000, slot_ms: 1_000, calls: [1, 2], errors: [0, 1] },
  };
  const { steps, tools } = shortened(all);
  expect(steps).toEqual([
    { from: 5_000, to: 6_000, calls: 1, errors: 0 },
    { from: 6_000, to: 7_000, calls: 2, errors: 1 },
  ]);
  expect(tools).toEqual([tool("a", 3, 1)]);
  expect(shortened(counted([])).steps).toEqual([]);
});

test("what is filtered by is counted by the server, in one question", async () => {
  const asked: unknown[] = [];
  const get = (async (_: string, query: unknown) => {
    asked.push(query);
    return counted([]);
  }) as Get;
  const span = { from: 0, to: 60_000 };
  await jobs(get).stats({ span, slots: 6, tool: "a", status: "error", caller: "kim" }, stop);
  const [since, until] = ["1970-01-01T00:00:00.000Z", "1970-01-01T00:01:00.000Z"];
  expect(asked).toEqual([{ since, until, slots: 6, tool: "a", status: "error", caller: "kim" }]);
});

test("a tool's day is its slots, for those that were called; pages of a list share one question", async () => {
  let asked = 0;
  const get = (async () => {
    asked += 1;
    const slots = { calls_by_slot: [2, 4], errors_by_slot: [0, 1] };
    return counted([{ ...tool("a", 6, 1), ...slots }, tool("b", 9)]);
  }) as Get;
  const { days } = jobs(get);
  const [first, second] = await Promise.all([days({ names: ["a", "never"] }), days({ names: ["b"] })]);
  expect(Object.keys(first)).toEqual(["a"]);
  expect(first.a).toEqual({ calls: 6, errors: 1, p50_us: 1, p95_us: 1, series: [2, 4], bad: [0, 1] });
  expect(Object.keys(second)).toEqual(["b"]);
  expect(asked).toBe(1);
});

/** Ten calls of a: two failed, one was cancelled, one interrupted; b was only cancelled. */
const mixed = (query: { status?: string; slots?: number }) => {
  const isFailed = query.status === "error";
  const a = { ...tool("a", isFailed ? 2 : 10, isFailed ? 2 : 4), calls_by_slot: isFailed ? [0, 2] : [5, 5] };
  return {
    ...counted(isFailed ? [{ ...a, errors_by_slot: [0, 2] }] : [{ ...a, errors_by_slot: [2, 2] }, tool("b", 1, 1)]),
    by_status: isFailed ? { error: 2 } : { success: 6, error: 2, cancelled: 2, interrupted: 1 },
    callers: [{ caller: "kim", calls: isFailed ? 2 : 11, errors: isFailed ? 2 : 5 }],
    series: { from: 0, slot_ms: 5, calls: isFailed ? [0, 2] : [6, 5], errors: isFailed ? [0, 2] : [3, 2] },
  };
};

test("errors are the calls that the list shows under Error, not those that somebody cancelled", async () => {
  const asked: Array<{ status?: string }> = [];
  const get = (async (_: string, query: { status?: string }) => {
    asked.push(query);
    return mixed(query);
  }) as never as Get;
  const stats = await jobs(get).stats({ span: { from: 0, to: 10 }, slots: 2, caller: "kim" }, stop);
  expect(stats.total).toBe(11);
  expect(stats.errors).toBe(2);
  expect(stats.tools.map(({ tool_name, calls, errors }) => [tool_name, calls, errors])).toEqual([
    ["a", 10, 2],
    ["b", 1, 0],
  ]);
  expect(stats.callers).toEqual([{ caller: "kim", calls: 11, errors: 2 }]);
  expect(stats.steps.map(({ calls, errors }) => [calls, errors])).toEqual([
    [6, 0],
    [5, 2],
  ]);
  expect(asked).toHaveLength(2);
  expect(asked[1]).toEqual({ ...asked[0], status: "error" });
  const { a, b } = await jobs(get).days({ names: ["a", "b"] });
  expect(a).toMatchObject({ calls: 10, errors: 2, series: [5, 5], bad: [0, 2] });
  expect(b).toMatchObject({ calls: 1, errors: 0 });
});

test("what was cancelled is no error where only that is counted", async () => {
  const get = (async () => ({
    ...counted([tool("a", 3, 3)]),
    by_status: { cancelled: 3 },
    series: { from: 0, slot_ms: 10, calls: [3], errors: [3] },
  })) as never as Get;
  const stats = await jobs(get).stats({ span: { from: 0, to: 10 }, slots: 1, status: "cancelled" }, stop);
  expect([stats.errors, stats.tools[0]!.errors, stats.steps[0]!.errors, stats.steps[0]!.calls]).toEqual([0, 0, 0, 3]);
});

test("a tool's day begins a day ago, as its list of calls does", async () => {
  let asked: { since?: string; until?: string } = {};
  const get = (async (_: string, query: typeof asked) => {
    asked = query;
    return counted([]);
  }) as never as Get;
  const before = Date.now();
  await jobs(get).days({ names: [] });
  const dayAgo = before - 86_400_000;
  expect(Math.abs(Date.parse(asked.since!) - dayAgo)).toBeLessThanOrEqual(15_000);
  expect(Date.parse(asked.until!)).toBeGreaterThanOrEqual(before);
});

test("the last step ends with the span", () => {
  const all = { ...counted([]), series: { from: 0, slot_ms: 4, calls: [0, 0, 1], errors: [0, 0, 0] } };
  expect(shortened(all, 10).steps.at(-1)).toEqual({ from: 8, to: 10, calls: 1, errors: 0 });
});

test("a day that could not be counted is asked for again", async () => {
  let asked = 0;
  const get = (async () => {
    asked += 1;
    if (asked === 1) throw new Error("gone");
    return counted([tool("a", 1)]);
  }) as Get;
  const { days } = jobs(get);
  await expect(days({ names: ["a"] })).rejects.toThrow("gone");
  expect(Object.keys(await days({ names: ["a"] }))).toEqual(["a"]);
});

test("tools are looked through page by page until there are enough that fit", async () => {
  const page = (at: number) =>
    Array.from({ length: 500 }, (_, one) => ({
      name: `t${at}-${one}`,
      trouble: one % 25 === 0 ? "there is no script" : undefined,
    }));
  const get = (async (_: string, { cursor }: { cursor?: string }) => {
    const at = Number(cursor ?? 0);
    return { items: page(at), next_cursor: at < 19 ? String(at + 1) : null };
  }) as never as Get;
  const { tools } = jobs(get);
  const first = await tools({ filter: {}, state: "trouble" }, stop);
  expect(first.items).toHaveLength(100);
  const rest = await tools({ filter: {}, state: "failing", cursor: first.next_cursor! }, stop);
  expect(rest).toEqual({ items: [], next_cursor: null });
});
