// What the pages about toolsets ask the server, and what they change there.

import { queryOptions, useMutation, useQueries, useQueryClient } from "@tanstack/react-query";
import { api, every, got } from "../../api/client";
import { ApiError } from "../../api/errors";
import type { ToolsetView as Stored, ToolsetBody } from "../../api/schema";
import { toolQuery } from "../tools/queries";

/** A tool of a set, with what the set says of it instead. */
export type Entry = { tool: string; name?: string; description?: string; arguments?: Record<string, unknown> };

export type ToolsetView = Omit<Stored, "tools"> & { tools: Array<string | Entry> };

export type ToolName = { id: string; name: string; description: string; kind: string; input_schema: unknown };

export const toolsetsQuery = queryOptions({
  queryKey: ["toolsets", "list"],
  queryFn: async () =>
    (await every((cursor) =>
      got(api.GET("/api/v1/toolsets", { params: { query: { limit: 500, cursor, check: true } } })),
    )) as unknown as ToolsetView[],
});

export const toolsetQuery = (name: string) =>
  queryOptions({
    queryKey: ["toolsets", "one", name],
    queryFn: async () =>
      (await got(api.GET("/api/v1/toolsets/{name}", { params: { path: { name } } }))) as unknown as ToolsetView,
  });

/** The tools of a set, by the name or the id that it has them under; null for one that is not there. */
export function useTools(refs: string[]): {
  tools: ReadonlyMap<string, ToolName | null>;
  isPending: boolean;
  error: unknown;
} {
  // Not again on mounting: what waits for these answers mounts what asks for them too, and one that is not there would be asked for for ever.
  const asking = { staleTime: 60_000, retryOnMount: false };
  const answers = useQueries({ queries: refs.map((ref) => ({ ...toolQuery(ref), ...asking })) });
  const isMissing = (error: unknown) => error instanceof ApiError && error.status === 404;
  return {
    tools: new Map(
      answers.flatMap(
        ({ data, error }, at): Array<[string, ToolName | null]> =>
          data ? [[refs[at]!, data as ToolName]] : isMissing(error) ? [[refs[at]!, null]] : [],
      ),
    ),
    isPending: answers.some((one) => one.isPending),
    error: answers.find((one) => one.error && !isMissing(one.error))?.error,
  };
}

export function useToolsetChange<T, R>(act: (what: T) => Promise<R>, done?: (result: R, what: T) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: done,
    onSettled: () => {
      for (const area of ["toolsets", "policy"]) void queries.invalidateQueries({ queryKey: [area] });
    },
  });
}

export const create = (body: ToolsetBody) => got(api.POST("/api/v1/toolsets", { body }));

export const replace = ({ name, body, version }: { name: string; body: ToolsetBody; version: number }) =>
  got(
    api.PUT("/api/v1/toolsets/{name}", {
      params: { path: { name } },
      body,
      headers: { "If-Match": String(version) },
    }),
  );

export const remove = (name: string) => got(api.DELETE("/api/v1/toolsets/{name}", { params: { path: { name } } }));

export const restore = (id: string) =>
  got(api.POST("/api/v1/toolsets/{name}/restore", { params: { path: { name: id } } }));

export const pathOf = (name: string) => `/toolsets/${encodeURIComponent(name)}`;
