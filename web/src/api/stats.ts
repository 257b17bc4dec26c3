// Counts and durations of calls. The answer names every tool that was called: a worker asks for it, and passes on what is drawn.

import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { behind } from "../behind/ask";
import type { Counting, Step } from "../behind/jobs";
import { type Span, stepsOf } from "../span";

export type { CallerStats, Stats, Step, ToolStats } from "../behind/jobs";

/** Who is asked about a span whose end is now gets a new answer every time they look; one that is past stays. */
export const statsQuery = (what: Counting) =>
  queryOptions({
    queryKey: ["executions", "stats", what],
    queryFn: ({ signal }) => behind("stats", what, signal),
    staleTime: what.span.to < Date.now() - 60_000 ? Number.POSITIVE_INFINITY : 10_000,
  });

/** A span in at most so many steps, and what was counted in each; all are empty until it is known. */
export function useStats(
  span: Span,
  most: number,
  filter: Omit<Counting, "span" | "slots"> = {},
  options: { enabled?: boolean; refetchInterval?: number; refetchOnWindowFocus?: boolean } = {},
) {
  const empty = useMemo(
    (): Step[] => stepsOf(span, most).map((one) => ({ ...one, calls: 0, errors: 0 })),
    [span, most],
  );
  const stats = useQuery({
    ...statsQuery({ ...filter, span, slots: empty.length }),
    placeholderData: keepPreviousData,
    ...options,
  });
  return { ...stats, steps: stats.data?.steps ?? empty };
}
