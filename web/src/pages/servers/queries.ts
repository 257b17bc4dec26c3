// What the pages about MCP servers ask the server, and what they have changed there.

import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { api, every, got } from "../../api/client";
import type { ServerChange, SignInView } from "../../api/schema";
import type { Mask } from "../../ui/pairs";

export const STATES = [
  "connected",
  "starting",
  "degraded",
  "reconnecting",
  "auth_required",
  "failed",
  "disabled",
  "hidden",
  "refused",
  "stopped",
] as const;
export type State = (typeof STATES)[number];

export type Auth = {
  type?: "oauth";
  for?: "server" | "user";
  issuer?: string;
  client_id?: string;
  client_secret?: string | Mask;
  scopes?: string[];
  grant?: "authorization_code" | "client_credentials";
};

/** What a server is defined as; the members of mcp.json. Values of headers and env come as masks. */
export type Definition = {
  url?: string | null;
  transport?: string | null;
  headers?: Record<string, string | Mask> | null;
  command?: string | null;
  args?: string[] | null;
  env?: Record<string, string | Mask> | null;
  cwd?: string | null;
  timeout_seconds?: number | null;
  pinning?: string | null;
  disabled?: boolean | null;
  auth?: "oauth" | Auth | null;
};

// The document says of the definition only that it is an object, which makes of the whole something no member of which can
// be read; so the shape stands here.
export type ServerView = Definition & {
  name: string;
  source: "file" | "database";
  transport: string;
  state: State;
  attempt?: number | null;
  attempts_max?: number | null;
  cause?: string | null;
  era?: string | null;
  protocol_version?: string | null;
  server_info?: { name?: string; title?: string; version?: string } | null;
  instructions?: string | null;
  connected_seconds?: number | null;
  tools: number;
  tools_left_out: number;
  resources: number;
  resource_templates: number;
  prompts: number;
  stderr?: string | null;
  pinning_now: string;
  changed: string[];
  hidden_letters: Record<string, string[]>;
  sign_in?: SignInView | null;
  id?: string | null;
  owner?: string | null;
  version?: number | null;
  updated_at?: string | null;
};

export type Change = Omit<ServerChange, "old" | "new"> & { old?: unknown; new: unknown };

export type Offer = {
  name?: string;
  title?: string;
  description?: string;
  uri?: string;
  uriTemplate?: string;
  mimeType?: string;
  inputSchema?: unknown;
  outputSchema?: unknown;
  annotations?: { readOnlyHint?: boolean; destructiveHint?: boolean };
  arguments?: Array<{ name: string; description?: string; required?: boolean }>;
};

const moving = (server: ServerView) => server.state === "starting" || server.state === "reconnecting";

export const serversQuery = queryOptions({
  queryKey: ["servers", "list"],
  queryFn: async () =>
    (await every((cursor) =>
      got(api.GET("/api/v1/servers", { params: { query: { limit: 500, cursor } } })),
    )) as unknown as ServerView[],
  refetchInterval: ({ state }) => (state.data?.some(moving) ? 1_500 : 10_000),
});

export const serverQuery = (name: string) =>
  queryOptions({
    queryKey: ["servers", "one", name],
    queryFn: async () =>
      (await got(api.GET("/api/v1/servers/{name}", { params: { path: { name } } }))) as unknown as ServerView,
    refetchInterval: ({ state }) => (state.data && moving(state.data) ? 1_500 : 5_000),
  });

export type OfferKind = "tools" | "resources" | "prompts";

export const offersQuery = (name: string, kind: OfferKind) =>
  queryOptions({
    queryKey: ["servers", kind, name],
    queryFn: async () => {
      const params = { params: { path: { name } } };
      const page =
        kind === "tools"
          ? await got(api.GET("/api/v1/servers/{name}/tools", params))
          : kind === "resources"
            ? await got(api.GET("/api/v1/servers/{name}/resources", params))
            : await got(api.GET("/api/v1/servers/{name}/prompts", params));
      return page.items as Offer[];
    },
  });

export const changesQuery = (name: string) =>
  queryOptions({
    queryKey: ["servers", "changes", name],
    queryFn: async () =>
      (await got(api.GET("/api/v1/servers/{name}/changes", { params: { path: { name } } }))).items as Change[],
  });

/** Everything that is known of servers is asked for anew afterwards, and the tools, which may be others now. */
export function useServerChange<T, R>(act: (what: T) => Promise<R>, done?: (result: R, what: T) => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: done,
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: ["servers"] });
      void queries.invalidateQueries({ queryKey: ["tools"] });
    },
  });
}

const at = (name: string) => ({ path: { name } });

export const reconnect = (name: string) => got(api.POST("/api/v1/servers/{name}/reconnect", { params: at(name) }));

export const setDisabled = ({ name, disabled }: { name: string; disabled: boolean }) =>
  got(api.PATCH("/api/v1/servers/{name}", { params: at(name), body: { disabled } as never }));

export const remove = (name: string) => got(api.DELETE("/api/v1/servers/{name}", { params: at(name) }));

export const approve = (name: string) => (tools: Array<{ name: string; hash: string }>) =>
  got(api.POST("/api/v1/servers/{name}/approve", { params: at(name), body: { tools } }));

export const signIn = (name: string) => got(api.POST("/api/v1/servers/{name}/sign-in", { params: at(name), body: {} }));

export const signOut = (name: string) => got(api.DELETE("/api/v1/servers/{name}/sign-in", { params: at(name) }));

export const create = (body: { name: string } & Definition) =>
  got(api.POST("/api/v1/servers", { body: body as never }));

export const replace = ({ version, ...body }: { name: string; version?: number | null } & Definition) =>
  got(
    api.PUT("/api/v1/servers/{name}", {
      params: at(body.name),
      body: body as never,
      headers: version ? { "If-Match": String(version) } : {},
    }),
  );
