// What has a name and fits what is typed into the palette, kind by kind.

import { useQuery } from "@tanstack/react-query";
import { api, got } from "../api/client";
import { serversQuery } from "../pages/servers/queries";
import { sourcesQuery } from "../pages/sources/queries";
import { fits } from "../words";

const SHOWN = 6;

export type Found = { path: string; items: Array<{ name: string; about?: string | null }> };

type Named = { name: string; description?: string | null; description_user?: string | null };

/** The server looks through tools, agents and toolsets; there are few servers and sources, so they are looked through here. */
export function useFound(text: string): Found[] {
  const enabled = text.length > 0;
  const ask = (area: string, items: (signal: AbortSignal) => Promise<{ items: Named[] }>) => ({
    queryKey: [area, "palette", text],
    queryFn: async ({ signal }: { signal: AbortSignal }) => (await items(signal)).items,
    enabled,
    retry: false,
  });
  const params = { query: { q: text, limit: SHOWN } };
  const tools = useQuery(ask("tools", (signal) => got(api.GET("/api/v1/tools", { params, signal }))));
  const agents = useQuery(ask("agents", (signal) => got(api.GET("/api/v1/agents", { params, signal }))));
  const toolsets = useQuery(ask("toolsets", (signal) => got(api.GET("/api/v1/toolsets", { params, signal }))));
  const servers = useQuery({ ...serversQuery, enabled, refetchInterval: false, retry: false });
  const sources = useQuery({ ...sourcesQuery, enabled, retry: false });
  const here = (all: Named[] | undefined) => all?.filter((one) => fits(text, one.name)).slice(0, SHOWN);
  const lists: Array<[string, Named[] | undefined]> = [
    ["/tools", tools.data],
    ["/agents", agents.data],
    ["/toolsets", toolsets.data],
    ["/servers", here(servers.data)],
    ["/sources", here(sources.data)],
  ];
  return lists.flatMap(([path, all]) =>
    enabled && all && all.length > 0
      ? [{ path, items: all.map((one) => ({ name: one.name, about: one.description_user ?? one.description })) }]
      : [],
  );
}
