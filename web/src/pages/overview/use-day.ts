// The last day in hours, and the day before it to compare with.

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Stats, type Step, statsQuery, useStats } from "../../api/stats";
import { type Span, spanOf } from "../../span";
import { useNow } from "../../use-now";

const HOUR = 3_600_000;

export type Day = {
  steps: Step[];
  isPending: boolean;
  now: Stats | undefined;
  before: Stats | undefined;
  error: unknown;
  again: () => void;
};

/** The last day as the list of calls shows it. The one before is only compared with: once an hour is often enough for it. */
export function dayOf(now: number): { day: Span; before: Span } {
  const hour = Math.floor(now / HOUR) * HOUR;
  return { day: spanOf("24h", undefined, now), before: { from: hour - 48 * HOUR, to: hour - 24 * HOUR } };
}

export function useDay(enabled: boolean): Day {
  const at = useNow(15_000);
  const spans = useMemo(() => dayOf(at), [at]);
  const now = useStats(spans.day, 24, {}, { enabled, refetchInterval: 15_000 });
  const before = useQuery({ ...statsQuery({ span: spans.before }), enabled });
  return {
    steps: now.steps,
    isPending: now.isPending,
    now: now.data,
    before: before.data,
    error: now.error,
    again: () => void now.refetch(),
  };
}

/** How much more it is than before, as a share of before; none where there was nothing to compare with. */
export function change(now: number, before: number | undefined): number | undefined {
  return before ? (now - before) / before : undefined;
}

export const errorShare = (stats: Stats | undefined) => (stats?.total ? stats.errors / stats.total : 0);

/** Those with the most errors first. */
export const failing = (stats: Stats | undefined) =>
  (stats?.tools ?? []).filter((tool) => tool.errors > 0).sort((a, b) => b.errors - a.errors);
