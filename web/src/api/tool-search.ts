// Finding tools by what is typed. There may be ten thousand: the server looks through them, and only what fits comes here.

import { keepPreviousData, queryOptions, useQueries } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { literalOf, matcher } from "../patterns";
import { api, got } from "./client";
import type { ToolView } from "./schema";

/** The first tools whose name or description has the words, and whether there are more. */
export const toolSearchQuery = (text: string, limit = 30) =>
  queryOptions({
    queryKey: ["tools", "search", text.trim(), limit],
    queryFn: ({ signal }) =>
      got(api.GET("/api/v1/tools", { params: { query: { q: text.trim() || undefined, limit } }, signal })),
    placeholderData: keepPreviousData,
    staleTime: 30_000,
  });

// More than that nobody reads: then it is enough to say that there are more.
const PAGES_MAX = 4;

export type Fitting = { names: string[]; isMore: boolean };

/** The names that a pattern fits. Every one of them has its longest literal part, so only those with it are looked at. */
export const fittingQuery = (pattern: string) =>
  queryOptions({
    queryKey: ["tools", "fitting", pattern],
    queryFn: async ({ signal }): Promise<Fitting> => {
      const fits = matcher(pattern);
      const found: ToolView[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < PAGES_MAX; page += 1) {
        const query = { q: literalOf(pattern) || undefined, limit: 500, cursor };
        const { items, next_cursor } = await got(api.GET("/api/v1/tools", { params: { query }, signal }));
        found.push(...items.filter((tool) => fits(tool.name)));
        cursor = next_cursor ?? undefined;
        if (!cursor) break;
      }
      return { names: found.map((tool) => tool.name), isMore: cursor !== undefined };
    },
    staleTime: 60_000,
  });

/** What each of the patterns fits, as far as it is known yet. */
export function useFitting(patterns: string[]): Map<string, Fitting> {
  const all = useSettled([...new Set(patterns)].join("\n"));
  const asked = all === "" ? [] : all.split("\n");
  return useQueries({
    queries: asked.map(fittingQuery),
    combine: (answers) =>
      new Map(answers.flatMap(({ data }, at): Array<[string, Fitting]> => (data ? [[asked[at]!, data]] : []))),
  });
}

/** A text once nobody has changed it for a moment. */
function useSettled(text: string, ms = 250): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const later = setTimeout(() => setSettled(text), ms);
    return () => clearTimeout(later);
  }, [text, ms]);
  return settled;
}
