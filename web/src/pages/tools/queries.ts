// What the pages about tools ask the server, and what they change there.

import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type QueryClient,
  queryOptions,
} from "@tanstack/react-query";
import { api, every, got, refusal } from "../../api/client";
import { ApiError } from "../../api/errors";
import type { Me } from "../../api/me";
import type { ToolPage, ToolResponse, ToolView } from "../../api/schema";
import { behind } from "../../behind/ask";
import { loadTexts } from "../../i18n";
import { type Offer as ServerOffer, offersQuery as serverOffersQuery } from "../servers/queries";
import { schemaQuery } from "../sources/queries";

export type Tool = ToolView;
export type Answer = ToolResponse;

export type ToolFilter = {
  q?: string;
  kind?: string;
  active?: boolean;
  owner?: string;
  shelf?: string;
  source?: string;
  server?: string;
  risk?: string;
};

export const KINDS = ["sql", "expression", "http", "python", "shell", "mcp", "builtin"] as const;
export type Kind = (typeof KINDS)[number];

/** `state` is one that the server does not filter by: it is looked through behind the page. */
export const toolsQuery = (filter: ToolFilter, state?: string) =>
  infiniteQueryOptions({
    queryKey: ["tools", "list", filter, state],
    queryFn: ({ pageParam, signal }): Promise<ToolPage> =>
      state
        ? behind("tools", { filter, state, cursor: pageParam }, signal)
        : got(
            api.GET("/api/v1/tools", {
              // The numbers come with the first page: asked for alone, they would have the page drawn twice.
              params: {
                query: { ...filter, limit: 100, cursor: pageParam, check: true, count: !pageParam || undefined },
              },
              signal,
            }),
          ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });

// More than that nobody acts on at once.
const WHOLE_MAX = 10_000;

/** Every tool that fits, to act on all of them: as one page of a list, so that a change is seen here, too. */
export const wholeToolsQuery = (filter: ToolFilter, state?: string) =>
  infiniteQueryOptions({
    queryKey: ["tools", "list", filter, state, "whole"],
    queryFn: async ({ signal }): Promise<ToolPage> => {
      const items: Tool[] = [];
      let cursor: string | undefined;
      do {
        const page: ToolPage = state
          ? await behind("tools", { filter, state, cursor }, signal)
          : await got(api.GET("/api/v1/tools", { params: { query: { ...filter, limit: 500, cursor } }, signal }));
        items.push(...page.items);
        cursor = page.next_cursor ?? undefined;
      } while (cursor && items.length < WHOLE_MAX);
      return { items };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: () => undefined,
    retry: false,
  });

/** How many fit, and how many would with another value of one filter, where a list does not bring it along. */
export const countsQuery = (filter: ToolFilter) =>
  queryOptions({
    queryKey: ["tools", "counts", filter],
    queryFn: async ({ signal }) => {
      const query = { ...filter, limit: 1, count: true };
      return (await got(api.GET("/api/v1/tools", { params: { query }, signal }))).counts;
    },
    placeholderData: keepPreviousData,
  });

export const toolQuery = (name: string) =>
  queryOptions({
    queryKey: ["tools", "one", name],
    queryFn: () => got(api.GET("/api/v1/tools/{name}", { params: { path: { name } } })),
  });

/** How these tools went in the last day, by name. */
export const daysQuery = (tools: Tool[]) =>
  queryOptions({
    queryKey: ["executions", "days", tools[0]?.name, tools.at(-1)?.name, tools.length],
    queryFn: ({ signal }) => behind("days", { names: tools.map((tool) => tool.name) }, signal),
    staleTime: 30_000,
  });

/** Some tables of a source; the rest comes when somebody scrolls or searches. */
export const tablesQuery = (source: string, search: string) => ({
  ...schemaQuery(source, search),
  enabled: source !== "",
  retry: false,
});

export type Offer = Omit<ServerOffer, "name"> & { name: string; input_schema?: unknown };

/** The tools that a server has. */
export const offersQuery = (server: string) => ({
  ...serverOffersQuery(server, "tools"),
  enabled: server !== "",
  retry: false,
  select: (all: ServerOffer[]) => all as Offer[],
});

export const secretsQuery = queryOptions({
  queryKey: ["secrets", "names"],
  queryFn: () =>
    every((cursor) => got(api.GET("/api/v1/secrets", { params: { query: { limit: 500, cursor } } }))).then((all) =>
      all.map((one) => one.name),
    ),
  retry: false,
});

export const versionsQuery = (name: string) =>
  queryOptions({
    queryKey: ["tools", "versions", name],
    queryFn: () =>
      every((cursor) =>
        got(api.GET("/api/v1/tools/{name}/versions", { params: { path: { name }, query: { limit: 200, cursor } } })),
      ),
  });

/** The answer of a call: also of one that failed, which is an answer and no refusal. */
async function answered(asked: Promise<{ data?: unknown; error?: unknown; response: Response }>): Promise<Answer> {
  const { data, error, response } = await asked;
  const body = (data ?? error) as Answer | undefined;
  if (!body || typeof body !== "object" || !("execution_id" in body)) throw await refusal(response.status, error);
  if (body.error) await loadTexts(["errors"]);
  return body;
}

export const callTool = (name: string, args: Record<string, unknown>, signal: AbortSignal) =>
  answered(
    api.POST("/api/v1/tools/{name}/call", { params: { path: { name } }, body: { arguments: args as never }, signal }),
  );

export const tryTool = (tool: Record<string, unknown>, args: Record<string, unknown>, signal: AbortSignal) =>
  answered(api.POST("/api/v1/tools/test", { body: { tool: tool as never, arguments: args as never }, signal }));

/** Puts a changed tool into every list that shows it, without asking for the lists again. */
export function putTool(queries: QueryClient, name: string, change: (tool: Tool) => Tool | null) {
  queries.setQueriesData<InfiniteData<ToolPage>>({ queryKey: ["tools", "list"] }, (data) =>
    data
      ? {
          ...data,
          pages: data.pages.map((page) => ({
            ...page,
            items: page.items.flatMap((tool) => (tool.name === name ? (change(tool) ?? []) : tool)),
          })),
        }
      : data,
  );
}

/** Switches a tool at once; what the server then says counts. */
export async function switchTool(queries: QueryClient, name: string, on: boolean): Promise<void> {
  putTool(queries, name, (tool) => ({ ...tool, is_active: on }));
  try {
    const after = await got(
      api.PATCH("/api/v1/tools/{name}", { params: { path: { name } }, body: { is_active: on } as never }),
    );
    putTool(queries, name, (tool) => ({ ...after, trouble: after.trouble ?? tool.trouble }));
    queries.setQueryData(toolQuery(name).queryKey, after);
  } catch (error) {
    putTool(queries, name, (tool) => ({ ...tool, is_active: !on }));
    throw error;
  }
}

/** Where tools are named or counted, too. */
const ELSEWHERE = ["toolsets", "agents", "sources", "servers", "secrets"];

/**
 * Tools went: what names or counts them is asked for anew. The lists show it already; one that was scrolled through would come page
 * by page again, so only the numbers beside it do.
 */
export async function toolsWent(queries: QueryClient): Promise<void> {
  for (const area of ELSEWHERE) void queries.invalidateQueries({ queryKey: [area] });
  void queries.invalidateQueries({ queryKey: ["tools"], predicate: ({ queryKey }) => queryKey[1] !== "list" });
  const lists = queries.getQueryCache().findAll({ queryKey: ["tools", "list"] });
  for (const { queryKey } of lists.filter((list) => !list.isActive())) void queries.invalidateQueries({ queryKey });
  const counted = lists.filter((list) => list.isActive() && list.queryKey[3] === undefined);
  await Promise.all(
    counted.map(async ({ queryKey }) => {
      const counts = await queries.fetchQuery({ ...countsQuery(queryKey[2] as ToolFilter), staleTime: 0 });
      queries.setQueryData<InfiniteData<ToolPage>>(
        queryKey,
        (data) => data && { ...data, pages: data.pages.map((page) => (page.counts ? { ...page, counts } : page)) },
      );
    }),
  ).catch(() => queries.invalidateQueries({ queryKey: ["tools", "list"] }));
}

export async function toolsCame(queries: QueryClient): Promise<void> {
  for (const area of ELSEWHERE) void queries.invalidateQueries({ queryKey: [area] });
  await queries.invalidateQueries({ queryKey: ["tools"] });
}

/** One of several: `toolsWent` follows once. */
export async function removeOne(queries: QueryClient, name: string): Promise<void> {
  await got(api.DELETE("/api/v1/tools/{name}", { params: { path: { name } } }));
  putTool(queries, name, () => null);
  queries.removeQueries({ queryKey: toolQuery(name).queryKey });
}

/** One of several: `toolsCame` follows once. */
export const restoreOne = (name: string) =>
  got(api.POST("/api/v1/tools/{name}/restore", { params: { path: { name } } }));

export async function removeTool(queries: QueryClient, name: string): Promise<void> {
  await removeOne(queries, name);
  void toolsWent(queries);
}

export async function restoreTool(queries: QueryClient, name: string): Promise<void> {
  await restoreOne(name);
  await toolsCame(queries);
}

/** What is built in, or belongs to a server, is not changed here. */
export const isChangeable = (tool: Pick<Tool, "shelf">) => tool.shelf === "database" || tool.shelf === "file";

/** Whether they may change it: what is theirs, and admins everything that can be changed at all. */
export const mayChange = (tool: Pick<Tool, "shelf" | "owner">, me: Pick<Me, "user" | "scopes">) =>
  isChangeable(tool) && (me.scopes.includes("admin") || (tool.shelf === "database" && tool.owner === me.user));

export const isConflict = (error: unknown): error is ApiError => error instanceof ApiError && error.status === 409;
