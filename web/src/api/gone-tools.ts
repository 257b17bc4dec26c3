// What a tool was called that is not there any more: whoever named it by its id must not be shown a bare number.

import { useQueries } from "@tanstack/react-query";
import { api, got } from "./client";

const goneQuery = (ref: string) => ({
  queryKey: ["tools", "gone", ref],
  // Its history outlives it; whoever may not read that gets no name.
  queryFn: async (): Promise<string | null> => {
    const asked = api.GET("/api/v1/tools/{name}/versions", {
      params: { path: { name: ref }, query: { limit: 1 } as never },
    });
    return (await got(asked).catch(() => null))?.items[0]?.name ?? null;
  },
  staleTime: Number.POSITIVE_INFINITY,
  retryOnMount: false,
});

const isId = (ref: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(ref);

/** Names of tools that are gone, by what they are known under: what is a name already stays one, an id nobody knows is cut short. */
export function useGoneNames(refs: string[]): ReadonlyMap<string, string> {
  const ids = refs.filter(isId);
  const answers = useQueries({ queries: ids.map(goneQuery) });
  const known = new Map(ids.map((id, at) => [id, answers[at]?.data ?? `${id.slice(0, 8)}…`]));
  return new Map(refs.map((ref) => [ref, known.get(ref) ?? ref]));
}
