// What would keep the page from drawing, done in a worker behind it: answers of the server that are far longer than what is
// shown of them are read and cut there, and only the short rest comes to the page.

import type { ToolPage } from "../api/schema";
import { fitsState } from "../pages/tools/fits";
import type { Span } from "../span";

export type ToolStats = { tool_name: string; calls: number; errors: number; p50_us: number; p95_us: number };
export type CallerStats = { caller: string; calls: number; errors: number };

/** As the server counts a span. */
type Counted = {
  total: number;
  /** False where the span holds more calls than the server looks at; then only those since `covered_since` count. */
  complete: boolean;
  covered_since: number;
  by_status: Record<string, number>;
  by_error_code: Record<string, number>;
  tools: ToolStats[];
  callers: CallerStats[];
};

/** The same with only the tools and callers that anybody would look at: the most called, the most failing, the slowest. */
export type Stats = Counted & { errors: number; callers_in_all: number };

export type Step = Span & { calls: number; errors: number; callers: number; p95_us: number };

/** The last day of one tool, also in equal steps. */
export type ToolDay = Omit<ToolStats, "tool_name"> & { series: number[]; bad: number[] };

export type Query = Record<string, string | number | boolean | undefined>;
export type Get = <T>(path: string, query: Query, signal: AbortSignal) => Promise<T>;

const SHOWN = 300;
const HOUR = 3_600_000;
/** How many steps a tool's day is drawn in. */
const DAY_STEPS = 12;
/** As many spans are remembered as the longest chart has, and those of the lists. */
const REMEMBERED = 80;
const FRESH_MS = 10_000;
/** A browser has six connections to a server; counting must not keep a list waiting for one. */
const AT_ONCE = 3;

const sum = (list: Array<{ errors: number }>) => list.reduce((all, one) => all + one.errors, 0);

/** Few calls say little about how long they take. */
export function slowest(tools: ToolStats[]): ToolStats | undefined {
  const often = tools.filter((tool) => tool.calls >= 5);
  return (often.length ? often : tools).reduce<ToolStats | undefined>(
    (most, tool) => (!most || tool.p95_us > most.p95_us ? tool : most),
    undefined,
  );
}

export function shortened(all: Counted): Stats {
  const failing = all.tools.filter((tool) => tool.errors > 0).sort((a, b) => b.errors - a.errors);
  const slow = slowest(all.tools);
  // In the server's order: most called first.
  const kept = new Set([...all.tools.slice(0, SHOWN), ...failing.slice(0, SHOWN), ...(slow ? [slow] : [])]);
  return {
    ...all,
    tools: all.tools.length > SHOWN ? all.tools.filter((tool) => kept.has(tool)) : all.tools,
    callers: all.callers.slice(0, SHOWN),
    errors: sum(all.tools),
    callers_in_all: all.callers.length,
  };
}

/** The server counts by tool and by caller, not by both. */
export function stepOf(span: Span, all: Counted, tool?: string, caller?: string): Step {
  const one = tool
    ? (all.tools.find((one) => one.tool_name === tool) ?? { calls: 0, errors: 0 })
    : caller
      ? (all.callers.find((one) => one.caller === caller) ?? { calls: 0, errors: 0 })
      : { calls: all.total, errors: sum(all.tools) };
  const { calls, errors } = one;
  return { ...span, calls, errors, callers: all.callers.length, p95_us: slowest(all.tools)?.p95_us ?? 0 };
}

type Remembered = { at: number; isPast: boolean; counted: Promise<Counted>; wanted: Set<AbortSignal> };

/** Nobody's: what several wait for is not ended by one of them. */
const never = new AbortController().signal;

export function jobs(get: Get) {
  const known = new Map<string, Remembered>();
  const waiting: Array<() => void> = [];
  let running = 0;

  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= AT_ONCE) await new Promise<void>((go) => waiting.push(go));
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
      waiting.shift()?.();
    }
  };

  /** A span that is past stays as it is; one that goes on is asked for anew. */
  const count = (span: Span, signal: AbortSignal): Promise<Counted> => {
    const key = `${span.from}-${span.to}`;
    const found = known.get(key);
    known.delete(key);
    if (found && (found.isPast || Date.now() - found.at < FRESH_MS)) {
      known.set(key, found);
      found.wanted.add(signal);
      return found.counted;
    }
    const query = { since: new Date(span.from).toISOString(), until: new Date(span.to).toISOString() };
    const wanted = new Set([signal]);
    const counted = inTurn(() => {
      // Whoever wanted it has gone while it waited for its turn.
      if ([...wanted].every((one) => one.aborted)) throw signal.reason;
      return get<Counted>("/api/v1/executions/stats", query, never);
    });
    const one = { at: Date.now(), isPast: span.to < Date.now() - 60_000, counted, wanted };
    known.set(key, one);
    counted.catch(() => known.get(key) === one && known.delete(key));
    for (const oldest of known.keys()) {
      if (known.size <= REMEMBERED) break;
      known.delete(oldest);
    }
    return counted;
  };

  return {
    stats: async ({ span }: { span: Span }, signal: AbortSignal): Promise<Stats> =>
      shortened(await count(span, signal)),

    series: ({ spans, tool, caller }: { spans: Span[]; tool?: string; caller?: string }, signal: AbortSignal) =>
      Promise.all(spans.map(async (span) => stepOf(span, await count(span, signal), tool, caller))),

    /** How the tools went in the last day, by name; those that nobody called are left out. */
    days: async ({ names }: { names: string[] }, signal: AbortSignal): Promise<Record<string, ToolDay>> => {
      const size = (24 * HOUR) / DAY_STEPS;
      const end = (Math.floor(Date.now() / size) + 1) * size;
      const spans = Array.from({ length: DAY_STEPS }, (_, at) => {
        const from = end - (DAY_STEPS - at) * size;
        return { from, to: from + size };
      });
      const whole = await count({ from: end - 24 * HOUR, to: end }, signal);
      const steps = await Promise.all(spans.map((span) => count(span, signal)));
      const wanted = new Set(names);
      const days: Record<string, ToolDay> = {};
      for (const { tool_name, ...tool } of whole.tools) {
        if (wanted.has(tool_name)) days[tool_name] = { ...tool, series: steps.map(() => 0), bad: steps.map(() => 0) };
      }
      for (const [at, { tools }] of steps.entries()) {
        for (const { tool_name, calls, errors } of tools) {
          const day = days[tool_name];
          if (!day) continue;
          day.series[at] = calls;
          day.bad[at] = errors;
        }
      }
      return days;
    },

    /** The next tools that fit what the server does not filter by. */
    tools: async (
      { filter, state, shelf, cursor }: { filter: Query; state?: string; shelf?: string; cursor?: string },
      signal: AbortSignal,
    ): Promise<ToolPage> => {
      const items: ToolPage["items"] = [];
      let next = cursor;
      do {
        const page = await get<ToolPage>("/api/v1/tools", { ...filter, limit: 500, check: true, cursor: next }, signal);
        items.push(...page.items.filter((tool) => fitsState(tool, state, shelf)));
        next = page.next_cursor ?? undefined;
      } while (next && items.length < 100);
      return { items, next_cursor: next ?? null };
    },
  };
}

export type Jobs = ReturnType<typeof jobs>;
