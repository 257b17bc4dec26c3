// What the pages about executions ask the server.

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, got } from "../../api/client";
import type { ExecutionView } from "../../api/schema";
import type { Search } from "../../search";

export type Execution = ExecutionView;

export const STATUSES = ["started", "success", "error", "cancelled", "interrupted"] as const;
/** How calls come in, as groups that people ask for: agents' and programs' calls apart from what was tried by hand. */
export const WAYS = ["mcp,agent,rest,cli", "mcp", "agent", "rest", "cli", "page"] as const;
export const SPANS = ["15m", "1h", "24h", "7d", "30d", "all"] as const;
export const USUAL_SPAN = "24h";
/** How many bars the time is drawn in at most. */
export const STEPS = 48;
const PAGE = 100;

export type ExecutionFilter = {
  status: string | undefined;
  tool: string | undefined;
  caller: string | undefined;
  transport: string | undefined;
  since: string | undefined;
  until: string | undefined;
};

/** The filter that an address means: the last day, unless it says something else. */
export function filterOf(found: Search): ExecutionFilter {
  const known = STATUSES.some((status) => status === found.status);
  const isWay = WAYS.some((way) => way === found.transport);
  const since = found.since || USUAL_SPAN;
  return {
    status: known ? found.status : undefined,
    tool: found.tool || undefined,
    caller: found.caller || undefined,
    transport: isWay ? found.transport : undefined,
    since: since === "all" ? undefined : since,
    until: found.until || undefined,
  };
}

export const NO_FILTER: Search = {
  status: undefined,
  tool: undefined,
  caller: undefined,
  transport: undefined,
  since: undefined,
  until: undefined,
};

export const executionsQuery = (filter: ExecutionFilter) =>
  infiniteQueryOptions({
    queryKey: ["executions", "list", filter],
    queryFn: ({ pageParam, signal }) =>
      got(api.GET("/api/v1/executions", { params: { query: { ...filter, limit: PAGE, cursor: pageParam } }, signal })),
    initialPageParam: undefined as string | undefined,
    // A page that is not full is the last one.
    getNextPageParam: (last) => (last.items.length < PAGE ? undefined : (last.next_cursor ?? undefined)),
    placeholderData: (before) => before,
    // Scrolled far down, asking for every page again would keep everybody busy: the tail and Refresh are for that.
    staleTime: 60_000,
    refetchOnWindowFocus: false,
  });

export const executionQuery = (id: string) =>
  queryOptions({
    queryKey: ["executions", "one", id],
    queryFn: () => got(api.GET("/api/v1/executions/{id}", { params: { path: { id } } })),
    // What still runs is looked at again until it has ended.
    refetchInterval: (query) => (query.state.data?.status === "started" ? 1_500 : false),
    staleTime: 60_000,
  });

/** The newest calls, for a short list elsewhere. */
export const recentQuery = (count: number, filter: Partial<ExecutionFilter> = {}) =>
  queryOptions({
    queryKey: ["executions", "recent", count, filter],
    queryFn: ({ signal }) =>
      got(api.GET("/api/v1/executions", { params: { query: { ...filter, limit: count } }, signal })),
    refetchInterval: 10_000,
  });

/** What came after an execution, oldest first. */
export async function executionsAfter(
  after: string,
  filter: ExecutionFilter,
  signal: AbortSignal,
): Promise<Execution[]> {
  const query = { ...filter, after, limit: PAGE };
  return (await got(api.GET("/api/v1/executions", { params: { query }, signal }))).items;
}
