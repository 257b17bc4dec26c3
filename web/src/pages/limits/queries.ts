// What the page about limits asks the server, and how quotas and usage come together.

import { queryOptions } from "@tanstack/react-query";
import { api, every, got } from "../../api/client";
import type { LimitBody, LimitView, UsageView, Used } from "../../api/schema";

export const limitsQuery = queryOptions({
  queryKey: ["limits"],
  queryFn: () => every((cursor) => got(api.GET("/api/v1/limits", { params: { query: { limit: 500, cursor } } }))),
});

export const usageQuery = queryOptions({
  queryKey: ["usage"],
  queryFn: () => every((cursor) => got(api.GET("/api/v1/usage", { params: { query: { limit: 500, cursor } } }))),
  refetchInterval: 5_000,
});

export const setLimit = (body: LimitBody) => got(api.POST("/api/v1/limits", { body }));

export type Shown = {
  type: "USER" | "TOOL";
  id: string;
  name: string;
  /** Calls within a day; null where only other limits hold. */
  quota: number | null;
  count: number;
  minute?: Used | null;
  hour?: Used | null;
  running?: Used | null;
  updatedAt?: string;
};

/** Every target that has a quota or something counted. The figures of usage are newer, quotas know targets that are gone. */
export function merged(limits: LimitView[], usage: UsageView[]): Shown[] {
  const all = new Map<string, Shown>();
  for (const limit of limits) {
    all.set(`${limit.target_type}-${limit.target_id}`, {
      type: limit.target_type as Shown["type"],
      id: limit.target_id,
      name: limit.target_name ?? limit.target_id,
      quota: limit.max_count,
      count: 0,
      updatedAt: limit.updated_at,
    });
  }
  for (const used of usage) {
    const key = `${used.target_type}-${used.target_id}`;
    const before = all.get(key);
    all.set(key, {
      type: used.target_type as Shown["type"],
      id: used.target_id,
      name: used.target_name,
      quota: used.max_count ?? before?.quota ?? null,
      count: used.count ?? 0,
      minute: used.minute,
      hour: used.hour,
      running: used.running,
      updatedAt: before?.updatedAt,
    });
  }
  return [...all.values()].sort((a, b) => b.type.localeCompare(a.type) || a.name.localeCompare(b.name));
}
