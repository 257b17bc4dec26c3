// A server as its form has it, from and to what is stored.

import { type Mask, type Pair, pairsOf, storedOf, unlessTyped } from "../../ui/pairs";
import type { Auth, Definition, ServerView } from "./queries";

export type Draft = {
  name: string;
  transport: "http" | "sse" | "stdio";
  url: string;
  headers: Pair[];
  command: string;
  args: string[];
  env: Pair[];
  cwd: string;
  timeout: string;
  pinning: string;
  disabled: boolean;
  /** Who signs in: nobody, one for all, everybody for themselves, or the server itself. */
  auth: "none" | "server" | "user" | "machine";
  issuer: string;
  clientId: string;
  clientSecret: string | Mask;
  scopes: string;
  /** The version it was begun on. */
  version: number;
};

export function draftOf(server?: ServerView): Draft {
  const auth: Auth = typeof server?.auth === "object" && server.auth ? server.auth : {};
  return {
    name: server?.name ?? "",
    transport: (server?.transport as Draft["transport"]) ?? "http",
    url: server?.url ?? "",
    headers: pairsOf(server?.headers),
    command: server?.command ?? "",
    args: server?.args ?? [],
    env: pairsOf(server?.env),
    cwd: server?.cwd ?? "",
    timeout: server?.timeout_seconds?.toString() ?? "",
    pinning: server?.pinning ?? "",
    disabled: !!server?.disabled,
    auth: !server?.auth
      ? "none"
      : auth.grant === "client_credentials"
        ? "machine"
        : auth.for === "user"
          ? "user"
          : "server",
    issuer: auth.issuer ?? "",
    clientId: auth.client_id ?? "",
    clientSecret: auth.client_secret ?? "",
    scopes: (auth.scopes ?? []).join(" "),
    version: server?.version ?? 0,
  };
}

function authOf(draft: Draft): Definition["auth"] {
  if (draft.auth === "none") return undefined;
  const scopes = draft.scopes.split(/\s+/).filter(Boolean);
  const auth: Auth = {
    type: "oauth",
    ...(draft.auth === "user" && { for: "user" }),
    ...(draft.auth === "machine" && { grant: "client_credentials" }),
    ...(draft.issuer.trim() && { issuer: draft.issuer.trim() }),
    ...(draft.clientId.trim() && { client_id: draft.clientId.trim() }),
    ...(draft.clientSecret !== "" && { client_secret: draft.clientSecret }),
    ...(scopes.length > 0 && { scopes }),
  };
  return Object.keys(auth).length === 1 ? "oauth" : auth;
}

/** What is sent: only the members that belong to the kind of server, and none that say nothing. */
export function definitionOf(draft: Draft): Definition {
  const timeout = draft.timeout.trim();
  const seconds = Number(timeout);
  const shared: Definition = {
    // What is no number is sent as it was typed: the server says what it expects.
    ...(timeout && { timeout_seconds: Number.isNaN(seconds) ? (timeout as never) : seconds }),
    ...(draft.pinning && { pinning: draft.pinning }),
    ...(draft.disabled && { disabled: true }),
  };
  if (draft.transport === "stdio") {
    return {
      command: draft.command.trim(),
      ...(draft.args.length > 0 && { args: draft.args }),
      ...(draft.env.length > 0 && { env: storedOf(draft.env) }),
      ...(draft.cwd.trim() && { cwd: draft.cwd.trim() }),
      ...shared,
    };
  }
  const auth = authOf(draft);
  return {
    url: draft.url.trim(),
    transport: draft.transport,
    ...(draft.headers.length > 0 && { headers: storedOf(draft.headers) }),
    ...(auth && { auth }),
    ...shared,
  };
}

/** What may stay in a browser of a draft. */
export const withoutSecrets = (draft: Draft, stored: Draft): Draft => ({
  ...draft,
  headers: draft.headers.map((pair) => ({ ...pair, value: unlessTyped(pair.value, pair.kept) })),
  env: draft.env.map((pair) => ({ ...pair, value: unlessTyped(pair.value, pair.kept) })),
  clientSecret: unlessTyped(draft.clientSecret, stored.clientSecret),
});
