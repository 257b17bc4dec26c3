// What the pages about tools ask the server.

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { api, got } from "../../api/client";

export type ToolFilter = { q?: string; kind?: string; active?: string; owner?: string };

export const KINDS = ["sql", "expression", "http", "python", "shell", "mcp", "builtin"] as const;

export const toolsQuery = (filter: ToolFilter) =>
  infiniteQueryOptions({
    queryKey: ["tools", "list", filter],
    queryFn: ({ pageParam, signal }) =>
      got(
        api.GET("/api/v1/tools", {
          params: {
            query: {
              q: filter.q || undefined,
              kind: filter.kind || undefined,
              owner: filter.owner || undefined,
              active: filter.active ? filter.active === "true" : undefined,
              limit: 200,
              cursor: pageParam,
              check: true,
            },
          },
          signal,
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (before) => before,
  });

export const toolQuery = (name: string) =>
  queryOptions({
    queryKey: ["tools", "one", name],
    queryFn: () => got(api.GET("/api/v1/tools/{name}", { params: { path: { name } } })),
  });
