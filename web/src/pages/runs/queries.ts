// What the pages about runs ask the server.

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, got } from "../../api/client";

export type { RunView as Run } from "../../api/schema";

export const RUN_STATUSES = ["running", "needs_input", "done", "failed", "cancelled", "expired"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export type RunFilter = { status?: string; agent?: string; owner?: string };

export const runsQuery = (filter: RunFilter) =>
  infiniteQueryOptions({
    queryKey: ["runs", "list", filter],
    queryFn: ({ pageParam, signal }) =>
      got(
        api.GET("/api/v1/runs", {
          params: {
            query: {
              status: filter.status || undefined,
              agent: filter.agent || undefined,
              owner: filter.owner || undefined,
              limit: 50,
              cursor: pageParam,
            },
          },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (before) => before,
    refetchInterval: 10_000,
  });

/** Runs that somebody has to answer before they go on. */
export const waitingRunsQuery = queryOptions({
  queryKey: ["runs", "waiting"],
  queryFn: ({ signal }) =>
    got(api.GET("/api/v1/runs", { params: { query: { status: "needs_input", limit: 50 } }, signal })),
  refetchInterval: 10_000,
});

export const runQuery = (id: string) =>
  queryOptions({
    queryKey: ["runs", "one", id],
    queryFn: ({ signal }) => got(api.GET("/api/v1/runs/{id}", { params: { path: { id } }, signal })),
  });
