// What the pages about agents ask the server.

import { queryOptions } from "@tanstack/react-query";
import { api, every, got } from "../../api/client";

import type { AgentView } from "../../api/schema";

export type Agent = AgentView;

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

/** What is sent of an agent. */
export type AgentDraft = {
  name: string;
  description: string;
  model_provider: string;
  model_name: string;
  base_url: string;
  system_prompt: string;
  /** Every tool that its user may call: chosen as such, never what is left when the list gets empty. */
  isEvery: boolean;
  tools: string[];
  config: Record<string, unknown>;
  memory: Record<string, unknown>;
  is_active: boolean;
  is_public: boolean;
  /** The version it was begun on. */
  version: number;
};

export const NEW_AGENT: AgentDraft = {
  name: "",
  description: "",
  model_provider: "anthropic",
  model_name: "",
  base_url: "",
  system_prompt: "",
  isEvery: false,
  tools: [],
  config: {},
  memory: {},
  is_active: true,
  is_public: false,
  version: 0,
};

export const draftOf = (agent: AgentView): AgentDraft => ({
  name: agent.name,
  description: agent.description ?? "",
  model_provider: agent.model_provider,
  model_name: agent.model_name,
  base_url: agent.base_url ?? "",
  system_prompt: agent.system_prompt ?? "",
  isEvery: agent.tools.length === 0,
  // Those that are gone, too: without them an agent that had only these would have all.
  tools: agent.tools,
  config: agent.config,
  memory: agent.memory_config ?? {},
  is_active: agent.is_active,
  is_public: agent.is_public,
  version: agent.version,
});

/** Whether it would be stored as one that may use every tool although nobody chose that. */
export const lacksTools = ({ isEvery, tools }: AgentDraft) => !isEvery && tools.length === 0;

export function bodyOf({ memory, isEvery, version: _, ...draft }: AgentDraft) {
  return {
    ...draft,
    tools: isEvery ? [] : draft.tools,
    name: draft.name.trim(),
    model_name: draft.model_name.trim(),
    description: draft.description.trim() || null,
    base_url: draft.base_url.trim() || null,
    system_prompt: draft.system_prompt || null,
    config: draft.config as never,
    memory_config: (Object.keys(memory).length > 0 ? { type: "sliding_window", ...memory } : null) as never,
  };
}

/** `stored` is the name it has, if it is there already. */
export function saveAgent(draft: AgentDraft, stored: string | undefined) {
  const body = bodyOf(draft);
  if (stored === undefined) return got(api.POST("/api/v1/agents", { body }));
  return got(
    api.PUT("/api/v1/agents/{name}", {
      params: { path: { name: stored } },
      headers: { "If-Match": String(draft.version) },
      body,
    }),
  );
}

export const deleteAgent = (name: string) => got(api.DELETE("/api/v1/agents/{name}", { params: { path: { name } } }));

export const restoreAgent = (name: string) =>
  got(api.POST("/api/v1/agents/{name}/restore", { params: { path: { name } } }));
