// What would keep the page from drawing, done in a worker behind it: answers of the server that are far longer than what is
// shown of them are read and cut there, and only the short rest comes to the page.

import type { ToolPage } from "../api/schema";
import { fitsState } from "../pages/tools/fits";
import { type Span, spanOf } from "../span";

export type ToolStats = { tool_name: string; calls: number; errors: number; p50_us: number; p95_us: number };
export type CallerStats = { caller: string; calls: number; errors: number };

/** As the server counts a span, in equal slots of it, too. */
type Counted = {
  total: number;
  /** False where the span holds more calls than the server looks at; then only those since `covered_since` count. */
  complete: boolean;
  covered_since: number;
  by_status: Record<string, number>;
  by_error_code: Record<string, number>;
  tools: Array<ToolStats & { calls_by_slot?: number[]; errors_by_slot?: number[] }>;
  callers: CallerStats[];
  series?: { from: number; slot_ms: number; calls: number[]; errors: number[] } | null;
};

export type Step = Span & { calls: number; errors: number };

/** The same with only the tools and callers that anybody would look at: the most called, the most failing, the slowest. */
export type Stats = Omit<Counted, "tools" | "series"> & {
  tools: ToolStats[];
  errors: number;
  callers_in_all: number;
  steps: Step[];
};

/** The last day of one tool, also in equal steps. */
export type ToolDay = Omit<ToolStats, "tool_name"> & { series: number[]; bad: number[] };

export type Query = Record<string, string | number | boolean | undefined>;
export type Get = <T>(path: string, query: Query, signal: AbortSignal) => Promise<T>;

const SHOWN = 300;
/** How many steps a tool's day is drawn in. */
const DAY_STEPS = 12;
const FRESH_MS = 10_000;

/** Fewer calls say little about how long they take. */
export const ENOUGH = 5;

export function slowest(tools: ToolStats[]): ToolStats | undefined {
  const often = tools.filter((tool) => tool.calls >= ENOUGH);
  return (often.length ? often : tools).reduce<ToolStats | undefined>(
    (most, tool) => (!most || tool.p95_us > most.p95_us ? tool : most),
    undefined,
  );
}

/** `to` is where the span ends; the last slot may reach beyond it. */
export function shortened({ series, ...all }: Counted, to = Number.POSITIVE_INFINITY): Stats {
  const tools = all.tools.map(({ calls_by_slot: _, errors_by_slot: __, ...tool }) => tool);
  const failing = tools.filter((tool) => tool.errors > 0).sort((a, b) => b.errors - a.errors);
  const slow = slowest(tools);
  // In the server's order: most called first.
  const kept = new Set([...tools.slice(0, SHOWN), ...failing.slice(0, SHOWN), ...(slow ? [slow] : [])]);
  const first = series ? new Date(series.from).getTime() : 0;
  return {
    ...all,
    tools: tools.length > SHOWN ? tools.filter((tool) => kept.has(tool)) : tools,
    callers: all.callers.slice(0, SHOWN),
    errors: tools.reduce((sum, one) => sum + one.errors, 0),
    callers_in_all: all.callers.length,
    steps: (series?.calls ?? []).map((calls, at) => ({
      from: first + at * series!.slot_ms,
      to: Math.min(first + (at + 1) * series!.slot_ms, to),
      calls,
      errors: series!.errors[at] ?? 0,
    })),
  };
}

type Failed = Pick<Counted, "tools" | "callers" | "series">;
const NOBODY: Failed = { tools: [], callers: [] };

/** The same with the calls of `failed` as its errors. */
function withErrors(all: Counted, failed: Failed): Counted {
  const ofTool = new Map(failed.tools.map((one) => [one.tool_name, one]));
  const ofCaller = new Map(failed.callers.map((one) => [one.caller, one.calls]));
  return {
    ...all,
    tools: all.tools.map((tool) => {
      const found = ofTool.get(tool.tool_name);
      const none = tool.errors_by_slot?.map(() => 0);
      return { ...tool, errors: found?.calls ?? 0, errors_by_slot: found ? (found.calls_by_slot ?? none) : none };
    }),
    callers: all.callers.map((one) => ({ ...one, errors: ofCaller.get(one.caller) ?? 0 })),
    series: all.series && { ...all.series, errors: failed.series?.calls ?? all.series.calls.map(() => 0) },
  };
}

/** Which calls are counted: those of a span, of one tool, in one state, of one caller, that came in one way. */
export type Counting = {
  span: Span;
  slots?: number;
  tool?: string;
  status?: string;
  caller?: string;
  transport?: string;
};

const queryOf = ({ span, ...rest }: Counting): Query => ({
  ...rest,
  since: new Date(span.from).toISOString(),
  until: new Date(span.to).toISOString(),
});

/** Nobody's: what several wait for is not ended by one of them. */
const never = new AbortController().signal;

export function jobs(get: Get) {
  const ask = (what: Counting, signal: AbortSignal) => get<Counted>("/api/v1/executions/stats", queryOf(what), signal);
  /** To the server an error is all but success. The list shows errors apart from what was cancelled or interrupted, and so do we. */
  const count = async (what: Counting, signal: AbortSignal): Promise<Counted> => {
    const all = await ask(what, signal);
    const { error = 0, cancelled = 0, interrupted = 0 } = all.by_status;
    if (cancelled + interrupted === 0) return all;
    if (error === 0) return withErrors(all, NOBODY);
    if (all.complete) return withErrors(all, await ask({ ...what, status: "error" }, signal));
    // Where not all were counted, errors are those among the ones that were; their slots are others.
    const span = { from: new Date(all.covered_since).getTime(), to: what.span.to };
    const failed = await ask({ ...what, span, slots: undefined, status: "error" }, signal);
    return withErrors(all, { ...failed, series: all.series && { ...all.series, calls: all.series.errors } });
  };
  // The pages of a list ask for the same day one after the other.
  let day: { at: number; counted: Promise<Counted> } | undefined;
  const lastDay = (): Promise<Counted> => {
    if (day && Date.now() - day.at < FRESH_MS) return day.counted;
    const mine = { at: Date.now(), counted: count({ span: spanOf("24h", undefined), slots: DAY_STEPS }, never) };
    day = mine;
    mine.counted.catch(() => {
      if (day === mine) day = undefined;
    });
    return mine.counted;
  };

  return {
    stats: async (what: Counting, signal: AbortSignal): Promise<Stats> =>
      shortened(await count(what, signal), what.span.to),

    /** How the tools went in the last day, by name; those that nobody called are left out. */
    days: async ({ names }: { names: string[] }): Promise<Record<string, ToolDay>> => {
      const wanted = new Set(names);
      const { tools } = await lastDay();
      return Object.fromEntries(
        tools
          .filter((tool) => wanted.has(tool.tool_name))
          .map(({ tool_name, calls_by_slot = [], errors_by_slot = [], ...tool }) => [
            tool_name,
            { ...tool, series: calls_by_slot, bad: errors_by_slot },
          ]),
      );
    },

    /** The next tools that fit what the server does not filter by. */
    tools: async (
      { filter, state, cursor }: { filter: Query; state: string; cursor?: string },
      signal: AbortSignal,
    ): Promise<ToolPage> => {
      const items: ToolPage["items"] = [];
      let next = cursor;
      do {
        const page = await get<ToolPage>("/api/v1/tools", { ...filter, limit: 500, check: true, cursor: next }, signal);
        items.push(...page.items.filter((tool) => fitsState(tool, state)));
        next = page.next_cursor ?? undefined;
      } while (next && items.length < 100);
      return { items, next_cursor: next ?? null };
    },
  };
}

export type Jobs = ReturnType<typeof jobs>;
