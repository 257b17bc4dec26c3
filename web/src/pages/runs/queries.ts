// What the pages about runs ask the server.

import { infiniteQueryOptions, queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { api, got } from "../../api/client";

export type { RunView as Run } from "../../api/schema";

export const RUN_STATUSES = ["running", "needs_input", "done", "failed", "cancelled", "expired"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

const EVERY_MS = 10_000;

export type RunFilter = { status?: string; agent?: string; owner?: string };

export const runsQuery = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: ["runs", "list", filter],
    queryFn: ({ pageParam, signal }) => ask(filter, pageParam, signal),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (before) => before,
    // More than one page would be asked for anew page by page: then the newest runs are asked for alone.
    refetchInterval: ({ state }) => ((state.data?.pages.length ?? 0) > 1 ? false : EVERY_MS),
  });

const ask = (filter: RunFilter, cursor: string | undefined, signal: AbortSignal) => {
  const { status, agent, owner } = filter;
  const query = { status: status || undefined, agent: agent || undefined, owner: owner || undefined };
  return got(api.GET("/api/v1/runs", { params: { query: { ...query, limit: 50, cursor } }, signal }));
};

const newestRunsQuery = (filter: RunFilter) =>
  queryOptions({
    queryKey: ["runs", "newest", filter],
    queryFn: ({ signal }) => ask(filter, undefined, signal),
    refetchInterval: EVERY_MS,
  });

type Dated = { id: string; created_at: string };
type Newest<T> = { items: T[]; next_cursor?: string | null };

/** Runs as they are now: the newest page, then those that were loaded before and are older than all of it. */
export function merged<T extends Dated>(newest: Newest<T>, loaded: T[]): T[] {
  const last = newest.items.at(-1);
  if (!last || !newest.next_cursor) return newest.items;
  const ids = new Set(newest.items.map((run) => run.id));
  return [...newest.items, ...loaded.filter((run) => run.created_at <= last.created_at && !ids.has(run.id))];
}

/** Whether so many runs came since that some are in neither. */
export function hasGap<T extends Dated>(newest: Newest<T>, loaded: T[]): boolean {
  const last = newest.items.at(-1);
  return !!last && !!loaded[0] && !!newest.next_cursor && last.created_at > loaded[0].created_at;
}

export function useRuns(filter: RunFilter) {
  const list = useInfiniteQuery(runsQuery(filter));
  const loaded = list.data?.pages.flatMap((page) => page.items) ?? [];
  const isLong = (list.data?.pages.length ?? 0) > 1;
  const newest = useQuery({ ...newestRunsQuery(filter), enabled: isLong });
  const isLate = isLong && newest.data !== undefined && hasGap(newest.data, loaded);
  const { refetch } = list;
  useEffect(() => {
    if (isLate) void refetch();
  }, [isLate, refetch]);
  return { ...list, runs: isLong && newest.data ? merged(newest.data, loaded) : loaded };
}

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ["runs", "one", id],
    queryFn: ({ signal }) => got(api.GET("/api/v1/runs/{id}", { params: { path: { id } }, signal })),
  });

/** What somebody says to what a run asks: an answer, or that they do not want to give one. */
export type Reply = { answer: unknown } | { decline: true };

export const giveReply = (run: string, request: string, reply: Reply) =>
  got(
    api.POST("/api/v1/runs/{id}/input", {
      params: { path: { id: run } },
      body: { request_id: request, ...(reply as { answer: never }) },
    }),
  );
