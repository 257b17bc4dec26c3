// What comes to the page of a long answer is what would be looked at in it.

import { expect, test } from "vitest";
import { type Get, jobs, shortened, slowest, stepOf } from "./jobs";

const tool = (tool_name: string, calls: number, errors = 0, p95_us = 1) => ({
  tool_name,
  calls,
  errors,
  p50_us: 1,
  p95_us,
});

const counted = (tools: Array<ReturnType<typeof tool>>) => ({
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

test("a step counts everything, or one tool, or one caller", () => {
  const all = counted([tool("a", 5, 2), tool("b", 4)]);
  const span = { from: 1, to: 2 };
  expect(stepOf(span, all)).toMatchObject({ calls: 9, errors: 2 });
  expect(stepOf(span, all, "a")).toMatchObject({ calls: 5, errors: 2 });
  expect(stepOf(span, all, "none")).toMatchObject({ calls: 0, errors: 0 });
  expect(stepOf(span, all, undefined, "kim")).toMatchObject({ calls: 3, errors: 1 });
});

test("a span that is past is asked for once; three are asked for at a time", async () => {
  let asked = 0;
  let now = 0;
  let most = 0;
  const get = (async () => {
    asked += 1;
    now += 1;
    most = Math.max(most, now);
    await new Promise((resolve) => setTimeout(resolve, 1));
    now -= 1;
    return counted([tool("a", 1)]);
  }) as Get;
  const { series } = jobs(get);
  const spans = Array.from({ length: 10 }, (_, at) => ({ from: at * 1000, to: (at + 1) * 1000 }));
  await series({ spans }, stop);
  await series({ spans, tool: "a" }, stop);
  expect(asked).toBe(10);
  expect(most).toBe(3);
});

test("whoever goes away takes nothing from those who wait for the same", async () => {
  let asked = 0;
  const get = (async () => {
    asked += 1;
    await new Promise((resolve) => setTimeout(resolve, 1));
    return counted([tool("a", 1)]);
  }) as Get;
  const { series } = jobs(get);
  const spans = Array.from({ length: 10 }, (_, at) => ({ from: at * 1000, to: (at + 1) * 1000 }));
  const gone = new AbortController();
  const first = series({ spans }, gone.signal).catch(() => "ended");
  const second = series({ spans: spans.slice(0, 5) }, stop);
  gone.abort();
  expect(await second).toHaveLength(5);
  expect(await first).toBe("ended");
  expect(asked).toBe(5);
});

test("a tool's day is its steps in order, for those that were called", async () => {
  const get = (async (_: string, query: { since: string; until: string }) =>
    Date.parse(query.until) - Date.parse(query.since) > 7_200_000
      ? counted([tool("a", 24, 12)])
      : counted([tool("a", 2, 1), tool("b", 9)])) as never as Get;
  const days = await jobs(get).days({ names: ["a", "never"] }, stop);
  expect(Object.keys(days)).toEqual(["a"]);
  expect(days.a).toMatchObject({ calls: 24, errors: 12, series: Array(12).fill(2), bad: Array(12).fill(1) });
});

test("tools are looked through page by page until there are enough that fit", async () => {
  const page = (at: number) =>
    Array.from({ length: 500 }, (_, one) => ({
      name: `t${at}-${one}`,
      shelf: one % 25 === 0 ? "mcp" : "file",
    }));
  const get = (async (_: string, { cursor }: { cursor?: string }) => {
    const at = Number(cursor ?? 0);
    return { items: page(at), next_cursor: at < 19 ? String(at + 1) : null };
  }) as never as Get;
  const { tools } = jobs(get);
  const first = await tools({ filter: {}, shelf: "mcp" }, stop);
  expect(first.items).toHaveLength(100);
  const rest = await tools({ filter: {}, shelf: "builtin", cursor: first.next_cursor! }, stop);
  expect(rest).toEqual({ items: [], next_cursor: null });
});
