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
