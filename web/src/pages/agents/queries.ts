// What the pages about agents ask the server.

import { queryOptions } from "@tanstack/react-query";
import { api, every, got } from "../../api/client";

export type { AgentView as Agent } from "../../api/schema";

export const PROVIDERS = ["anthropic", "openai", "zhipuai"] as const;

export type AgentFilter = { q?: string; provider?: string; active?: boolean };

export const agentsQuery = (filter: AgentFilter) =>
  queryOptions({
    queryKey: ["agents", "list", filter],
    queryFn: ({ signal }) =>
      every((cursor) =>
        got(
          api.GET("/api/v1/agents", {
            params: {
              query: {
                q: filter.q || undefined,
                provider: filter.provider || undefined,
                active: filter.active,
                limit: 500,
                cursor,
              },
            },
            signal,
          }),
        ),
      ),
    placeholderData: (before) => before,
  });

export const agentQuery = (name: string) =>
  queryOptions({
    queryKey: ["agents", "one", name],
    queryFn: () => got(api.GET("/api/v1/agents/{name}", { params: { path: { name } } })),
  });
