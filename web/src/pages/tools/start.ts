// What a new tool begins as: nothing, a copy of another, or what a link from elsewhere in the page asks for.

import type { Search } from "../../search";
import type { Schema } from "../../ui/schema";
import { type Draft, draftOf, emptyDraft, NAME, ofKind, parametersOf } from "./draft";
import { KINDS, type Kind, type Offer, type Tool } from "./queries";

export const schemaOfOffer = (offer: Offer) => (offer.inputSchema ?? offer.input_schema ?? {}) as Schema;

function copyOf(from: Tool): Draft {
  const copy = draftOf(from);
  return {
    ...copy,
    name: `${from.name}_copy`.slice(0, 64),
    version: 0,
    shelf: "database",
    auth_config: undefined,
    rest: { ...copy.rest, is_public: undefined },
  };
}

/** `?kind=mcp&server=…&tool=…` (a server's tool), `?source=…&table=…` (a table of a source) or only `?kind=…`. */
export function startOf(found: Search, from?: Tool, offer?: Offer, first: Kind = "sql"): Draft {
  if (from) return copyOf(from);
  const empty = emptyDraft();
  if (found.source) {
    const query = found.table ? `SELECT * FROM ${found.table}` : "";
    return { ...empty, config: { source: found.source, query } };
  }
  const kind = found.server ? "mcp" : found.kind;
  if (!KINDS.includes(kind as Kind)) return ofKind(empty, first);
  const draft = ofKind(empty, kind as Kind);
  if (!found.server) return draft;
  const config = { server_name: found.server, tool_name: found.tool ?? "" };
  if (!offer) return { ...draft, config };
  return {
    ...draft,
    ...parametersOf(schemaOfOffer(offer)),
    config,
    name: NAME.test(offer.name) ? offer.name : "",
    description: offer.description ?? "",
  };
}

/** Under which name its draft is kept: one for each thing that it may begin as. */
export function startKey(found: Search): string {
  if (found.from) return `+copy ${found.from}`;
  const parts = [found.kind, found.server, found.tool, found.source, found.table].filter(Boolean);
  return parts.length > 0 ? `+new ${parts.join(" ")}` : "";
}
