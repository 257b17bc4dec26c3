// Counts and durations of calls. The server counts one span at a time, for admins: a series is one question for each step,
// and a step that is past is asked for once.

import { queryOptions, useQueries } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Span, stepsOf } from "../span";
import { api, got } from "./client";

export type ToolStats = { tool_name: string; calls: number; errors: number; p50_us: number; p95_us: number };
export type CallerStats = { caller: string; calls: number; errors: number };
export type Stats = {
  total: number;
  /** False where the span holds more calls than the server looks at; then only those since `covered_since` count. */
  complete: boolean;
  covered_since: number;
  by_status: Record<string, number>;
  by_error_code: Record<string, number>;
  tools: ToolStats[];
  callers: CallerStats[];
};

// A browser has six connections to a server; a chart must not keep the list waiting for one.
const AT_ONCE = 3;
let running = 0;
const waiting: Array<() => void> = [];

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= AT_ONCE) await new Promise<void>((go) => waiting.push(go));
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    waiting.shift()?.();
  }
}

const ask = async ({ from, to }: Span, signal: AbortSignal): Promise<Stats> => {
  const query = { since: new Date(from).toISOString(), until: new Date(to).toISOString() };
  return (await got(api.GET("/api/v1/executions/stats", { params: { query }, signal }))) as unknown as Stats;
};

/** Who is asked about a span whose end is now gets a new answer every time they look; one that is past stays. */
export const statsQuery = (span: Span) => {
  const isPast = span.to < Date.now() - 60_000;
  return queryOptions({
    queryKey: ["executions", "stats", span.from, span.to],
    queryFn: ({ signal }) => inTurn(() => ask(span, signal)),
    staleTime: isPast ? Number.POSITIVE_INFINITY : 10_000,
  });
};

export const errorsOf = (stats: Stats) => stats.tools.reduce((sum, tool) => sum + tool.errors, 0);

export type Step = Span & { stats: Stats | undefined };

/** The steps of a span with what is known of each. */
export function useSeries(
  span: Span,
  most: number,
  enabled = true,
): { steps: Step[]; isPending: boolean; error: unknown } {
  const spans = useMemo(() => stepsOf(span, most), [span, most]);
  return useQueries({
    queries: spans.map((one) => ({ ...statsQuery(one), enabled })),
    combine: (answers) => ({
      steps: spans.map((one, at) => ({ ...one, stats: answers[at]?.data })),
      isPending: answers.some((answer) => answer.isPending),
      error: answers.find((answer) => answer.error)?.error ?? null,
    }),
  });
}
