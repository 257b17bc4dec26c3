// What the pages about data sources ask the server, and what they change there.

import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, every, got } from "../../api/client";
import type { SourceBody, SourceView as Stored } from "../../api/schema";
import type { Mask } from "../../ui/pairs";

export type SourceState = "ready" | "untried" | "unusable" | "hidden";

export type SourceView = Omit<Stored, "password" | "state"> & {
  state: SourceState;
  /** A mask, or the variable that holds it. */
  password?: Mask | string | null;
};

export type Body = Omit<SourceBody, "password"> & { password?: Mask | string };

export type Column = { name: string; type: string; nullable: boolean; comment?: string | null };
export type TableView = {
  name: string;
  schema?: string | null;
  kind: "table" | "view";
  comment?: string | null;
  columns: Column[];
  primary_key: string[];
  foreign_keys: Array<{ columns: string[]; references: string; referenced_columns: string[] }>;
};

export const sourcesQuery = queryOptions({
  queryKey: ["sources", "list"],
  queryFn: async () =>
    (await every((cursor) =>
      got(api.GET("/api/v1/sources", { params: { query: { limit: 500, cursor } } })),
    )) as unknown as SourceView[],
});

export const sourceQuery = (name: string) =>
  queryOptions({
    queryKey: ["sources", "one", name],
    queryFn: async () =>
      (await got(api.GET("/api/v1/sources/{name}", { params: { path: { name } } }))) as unknown as SourceView,
  });

export const schemaQuery = (name: string, search: string | undefined) =>
  infiniteQueryOptions({
    queryKey: ["sources", "schema", name, search ?? ""],
    queryFn: async ({ pageParam, signal }) => {
      const query = { search: search || undefined, limit: 100, cursor: pageParam };
      const page = await got(api.GET("/api/v1/sources/{name}/schema", { params: { path: { name }, query }, signal }));
      return { ...page, items: page.items as unknown as TableView[] };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (before) => before,
    staleTime: 60_000,
  });

export const roleScriptQuery = (name: string, role: string, schemas: string) =>
  queryOptions({
    queryKey: ["sources", "role-script", name, role, schemas],
    queryFn: () => {
      const query = { role: role || undefined, schemas: schemas || undefined };
      return got(api.GET("/api/v1/sources/{name}/role-script", { params: { path: { name }, query } }));
    },
    placeholderData: (before) => before,
  });

export function useSourceChange<T, R>(act: (what: T) => Promise<R>, done?: (result: R, what: T) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: done,
    onSettled: () => {
      // Tools say what is the matter with the source they ask.
      for (const area of ["sources", "tools"]) void queries.invalidateQueries({ queryKey: [area] });
    },
  });
}

const at = (name: string) => ({ path: { name } });

export const test = (name: string) => got(api.POST("/api/v1/sources/{name}/test", { params: at(name) }));

export const create = (body: Body) => got(api.POST("/api/v1/sources", { body: body as never }));

export const replace = ({ body, version }: { body: Body; version?: number | null }) =>
  got(
    api.PUT("/api/v1/sources/{name}", {
      params: at(body.name),
      body: body as never,
      headers: version ? { "If-Match": String(version) } : {},
    }),
  );

export const remove = ({ name, force }: { name: string; force: boolean }) =>
  got(api.DELETE("/api/v1/sources/{name}", { params: { path: { name }, query: { force } } }));
