// What the page about keys asks the server.

import { queryOptions } from "@tanstack/react-query";
import { api, every, got } from "../../api/client";
import type { KeyView } from "../../api/schema";

export const keysQuery = queryOptions({
  queryKey: ["keys"],
  queryFn: () => every((cursor) => got(api.GET("/api/v1/keys", { params: { query: { limit: 500, cursor } } }))),
});

export type KeyState = "active" | "unused" | "expired" | "revoked";

export function stateOf(key: Pick<KeyView, "revoked_at" | "expires_at" | "last_used_at">, now = Date.now()): KeyState {
  if (key.revoked_at) return "revoked";
  if (key.expires_at && new Date(key.expires_at).getTime() <= now) return "expired";
  return key.last_used_at ? "active" : "unused";
}

export type Uses = { looked: number; calls: number; tools: string[] };

/** What a key was used for, of the newest calls of whoever it acts for. */
export function usesOf(key: string, calls: Array<{ key?: string | null; tool_name: string }>): Uses {
  const own = calls.filter((call) => call.key === key);
  return { looked: calls.length, calls: own.length, tools: [...new Set(own.map((call) => call.tool_name))] };
}

export const usesQuery = (key: Pick<KeyView, "name" | "user">) =>
  queryOptions({
    queryKey: ["keys", "uses", key.user, key.name],
    queryFn: async ({ signal }) => {
      const query = { caller: key.user, since: "7d", limit: 200 };
      const { items } = await got(api.GET("/api/v1/executions", { params: { query }, signal }));
      return usesOf(key.name, items);
    },
    staleTime: 30_000,
  });
