// What the page about users asks the server, and what it changes there.

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, every, got } from "../../api/client";
import type { UserBody, UserPatch } from "../../api/schema";

export const ROLES = ["viewer", "operator", "author", "admin"] as const;
export type Role = (typeof ROLES)[number];

export const usersQuery = queryOptions({
  queryKey: ["users"],
  queryFn: () => every((cursor) => got(api.GET("/api/v1/users", { params: { query: { limit: 500, cursor } } }))),
});

/** What goes, or passes to somebody else, with a user. */
const OWNED = ["users", "keys", "policy", "tools", "agents", "toolsets", "servers", "secrets", "limits", "runs"];

export function useUserChange<T, R>(act: (what: T) => Promise<R>, done?: (result: R, what: T) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: done,
    onSettled: () => {
      for (const area of OWNED) void queries.invalidateQueries({ queryKey: [area] });
    },
  });
}

const at = (name: string) => ({ path: { name } });

export const create = (body: UserBody) => got(api.POST("/api/v1/users", { body }));

export const patch = ({ name, change }: { name: string; change: UserPatch }) =>
  got(api.PATCH("/api/v1/users/{name}", { params: at(name), body: change }));

export const remove = (name: string) => got(api.DELETE("/api/v1/users/{name}", { params: at(name) }));

export const restore = (name: string) => got(api.POST("/api/v1/users/{name}/restore", { params: at(name) }));

export const loginLink = (name: string) => got(api.POST("/api/v1/users/{name}/login-link", { params: at(name) }));

export const reassign = ({ name, to }: { name: string; to: string }) =>
  got(api.POST("/api/v1/users/{name}/reassign", { params: at(name), body: { to } }));

export const erase = ({ name, to, dryRun }: { name: string; to?: string; dryRun: boolean }) =>
  got(
    api.POST("/api/v1/users/{name}/erase", {
      params: { path: { name }, query: { to: to || undefined, dry_run: dryRun } },
    }),
  );
