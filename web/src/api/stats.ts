// Counts and durations of calls. The server counts one span at a time, for admins, and names every tool that was called: a worker
// asks for the steps of a series, and passes on what is drawn.

import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { behind } from "../behind/ask";
import type { Step } from "../behind/jobs";
import { type Span, stepsOf } from "../span";

export type { CallerStats, Stats, Step, ToolStats } from "../behind/jobs";

/** Who is asked about a span whose end is now gets a new answer every time they look; one that is past stays. */
export const statsQuery = (span: Span) =>
  queryOptions({
    queryKey: ["executions", "stats", span.from, span.to],
    queryFn: ({ signal }) => behind("stats", { span }, signal),
    staleTime: span.to < Date.now() - 60_000 ? Number.POSITIVE_INFINITY : 10_000,
  });

type Of = { tool?: string; caller?: string };

/** The steps of a span with what was counted in each; all of them are empty until it is known. */
export function useSeries(
  span: Span,
  most: number,
  { enabled = true, tool, caller }: Of & { enabled?: boolean } = {},
): { steps: Step[]; isPending: boolean; error: unknown } {
  const spans = useMemo(() => stepsOf(span, most), [span, most]);
  const series = useQuery({
    queryKey: ["executions", "series", spans[0]?.from, spans.at(-1)?.to, spans.length, tool, caller],
    queryFn: ({ signal }) => behind("series", { spans, tool, caller }, signal),
    enabled,
    staleTime: 10_000,
    placeholderData: keepPreviousData,
  });
  const none = useMemo(() => spans.map((one) => ({ ...one, calls: 0, errors: 0, callers: 0, p95_us: 0 })), [spans]);
  return { steps: series.data ?? none, isPending: series.isPending, error: series.error };
}
