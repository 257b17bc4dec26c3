// The last day in hours, and the day before it to compare with.

import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useState } from "react";
import { type Stats, type Step, statsQuery, useStats } from "../../api/stats";

const HOUR = 3_600_000;

export type Day = {
  steps: Step[];
  isPending: boolean;
  now: Stats | undefined;
  before: Stats | undefined;
  error: unknown;
  again: () => void;
};

export function useDay(enabled: boolean): Day {
  const [hour, setHour] = useState(() => Math.floor(Date.now() / HOUR) * HOUR);
  useEffect(() => {
    const timer = setInterval(() => setHour(Math.floor(Date.now() / HOUR) * HOUR), 30_000);
    return () => clearInterval(timer);
  }, []);
  const day = useMemo(() => ({ from: hour - 23 * HOUR, to: hour + HOUR }), [hour]);
  const now = useStats(day, 25, {}, { enabled, refetchInterval: 15_000 });
  const before = useQuery({ ...statsQuery({ span: { from: day.from - 24 * HOUR, to: day.from } }), enabled });
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
