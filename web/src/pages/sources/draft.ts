// A source as its form has it, from and to what is stored.

import { type Mask, unlessTyped } from "../../ui/pairs";
import type { Body, SourceView } from "./queries";

export type Draft = {
  name: string;
  kind: "sqlite" | "postgres";
  description: string;
  path: string;
  url: string;
  password: string | Mask;
  searchPath: string[];
  pgbouncer: boolean;
  superuser: boolean;
  allowWrite: boolean;
  authors: string;
  functions: string[];
  connectionsMin: string;
  connectionsMax: string;
  /** The version it was begun on. */
  version: number;
};

export const draftOf = (source?: SourceView): Draft => ({
  name: source?.name ?? "",
  kind: (source?.kind as Draft["kind"]) ?? "sqlite",
  description: source?.description ?? "",
  path: source?.path ?? "",
  url: source?.url ?? "",
  password: source?.password ?? "",
  searchPath: source?.search_path ?? [],
  pgbouncer: source?.pgbouncer ?? false,
  superuser: source?.allow_superuser ?? false,
  allowWrite: source?.allow_write ?? false,
  authors: source?.authors ?? "admins",
  functions: source?.functions ?? [],
  connectionsMin: source?.connections_min?.toString() ?? "",
  connectionsMax: source?.connections_max?.toString() ?? "",
  version: source?.version ?? 0,
});

/** What is no number is sent as it was typed: the server says what it expects. */
const number = (text: string): number => (/^\d+$/.test(text.trim()) ? Number(text) : (text as never));

export function bodyOf(draft: Draft): Body {
  const shared = {
    name: draft.name.trim(),
    kind: draft.kind,
    ...(draft.description.trim() && { description: draft.description.trim() }),
    allow_write: draft.allowWrite,
    authors: draft.authors,
    ...(draft.functions.length > 0 && { functions: draft.functions }),
    ...(draft.connectionsMin.trim() && { connections_min: number(draft.connectionsMin) }),
    ...(draft.connectionsMax.trim() && { connections_max: number(draft.connectionsMax) }),
  };
  if (draft.kind === "sqlite") return { ...shared, path: draft.path.trim() };
  return {
    ...shared,
    url: draft.url.trim(),
    ...(draft.password !== "" && { password: draft.password }),
    ...(draft.searchPath.length > 0 && { search_path: draft.searchPath }),
    pgbouncer: draft.pgbouncer,
    allow_superuser: draft.superuser,
  };
}

/** What may stay in a browser of a draft: no password, be it in its field or in the address. */
export const withoutSecrets = (draft: Draft, stored: Draft): Draft => ({
  ...draft,
  password: unlessTyped(draft.password, stored.password),
  url: draft.url.replace(/^([a-z]+:\/\/[^:/@]*):[^@]*@/, "$1@"),
});
