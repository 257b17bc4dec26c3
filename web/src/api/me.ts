// Who is looking, and what they may do.

import { queryOptions, useSuspenseQuery } from "@tanstack/react-query";
import { api, got } from "./client";

export type Scope = "read" | "call" | "author" | "operate" | "admin";

export const meQuery = queryOptions({
  queryKey: ["me"],
  queryFn: () => got(api.GET("/api/v1/me")),
  staleTime: Number.POSITIVE_INFINITY,
});

export type Me = Awaited<ReturnType<NonNullable<typeof meQuery.queryFn>>>;

/// A browser that is let in with neither a key nor a session: the server runs with --dev.
export const isDeveloper = ({ key, transport }: Me) => !key && transport === "rest";

export const useMe = () => useSuspenseQuery(meQuery).data;

/// Whether one of the scopes lets them do it; admin may do everything.
export function useMay(scope: Scope): boolean {
  const { scopes } = useMe();
  return scopes.includes(scope) || scopes.includes("admin");
}
