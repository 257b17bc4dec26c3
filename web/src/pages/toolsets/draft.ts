// A toolset as its editor has it, from and to what is stored, and what its patterns fit.

import type { ToolsetBody } from "../../api/schema";
import { readExact, writeExact } from "../../exact";
import { matcher } from "../../patterns";
import type { Entry, ToolName, ToolsetView } from "./queries";

/** An entry being edited; `arguments` are kept as they are typed. */
export type Row = { key: number; tool: string; name: string; description: string; arguments: string };

export type Draft = {
  name: string;
  description: string;
  /** Every tool: chosen as such, never what is left when nothing is listed. */
  isEvery: boolean;
  rows: Row[];
  allow: string[];
  deny: string[];
  instructions: string;
  serverName: string;
  names: string;
  findTools: boolean;
  isPublic: boolean;
};

// Rows that were kept in the browser have numbers of another time; new ones must not meet them.
let last = Date.now();

export function rowOf(entry: string | Entry): Row {
  last += 1;
  const full: Entry = typeof entry === "string" ? { tool: entry } : entry;
  return {
    key: last,
    tool: full.tool,
    name: full.name ?? "",
    description: full.description ?? "",
    arguments: full.arguments ? writeExact(full.arguments, 2) : "",
  };
}

/** Tools may be stored by id; people know them by name. */
export function draftOf(set: ToolsetView | undefined, tools: ToolName[]): Draft {
  const named = new Map(tools.map((tool) => [tool.id, tool.name]));
  return {
    name: set?.name ?? "",
    description: set?.description ?? "",
    isEvery: !!set && set.tools.length === 0 && !set.allow,
    rows: (set?.tools ?? []).map((entry) => {
      const row = rowOf(entry);
      return { ...row, tool: named.get(row.tool) ?? row.tool };
    }),
    allow: set?.allow ?? [],
    deny: set?.deny ?? [],
    instructions: set?.instructions ?? "",
    serverName: set?.server_name ?? "",
    names: set?.names ?? "",
    findTools: set?.find_tools ?? false,
    isPublic: set?.is_public ?? false,
  };
}

/** Set arguments that are no JSON object: what is wrong with each, by the row's key. */
export function argumentProblems(draft: Draft): Map<number, string> {
  const wrong = new Map<number, string>();
  for (const row of draft.rows) {
    if (!row.arguments.trim()) continue;
    try {
      const value = readExact(row.arguments);
      if (typeof value !== "object" || value === null || Array.isArray(value)) wrong.set(row.key, "{ … }");
    } catch (error) {
      wrong.set(row.key, (error as Error).message);
    }
  }
  return wrong;
}

export function bodyOf(draft: Draft): ToolsetBody {
  const text = (value: string) => value.trim() || undefined;
  const tools = draft.rows.map((row) => {
    const entry: Entry = { tool: row.tool };
    if (text(row.name)) entry.name = text(row.name);
    if (text(row.description)) entry.description = text(row.description);
    if (text(row.arguments)) entry.arguments = readExact(row.arguments) as Record<string, unknown>;
    return Object.keys(entry).length === 1 ? row.tool : entry;
  });
  return {
    name: draft.name.trim(),
    description: text(draft.description),
    ...(!draft.isEvery && tools.length > 0 && { tools: tools as never }),
    ...(!draft.isEvery && draft.allow.length > 0 && { allow: draft.allow }),
    ...(draft.deny.length > 0 && { deny: draft.deny }),
    instructions: text(draft.instructions),
    server_name: text(draft.serverName),
    names: text(draft.names),
    find_tools: draft.findTools,
    is_public: draft.isPublic,
  };
}

/** Whether it would be stored as one that has everything although nobody chose that. */
export const lacksTools = (draft: Draft): boolean =>
  !draft.isEvery && draft.rows.length === 0 && draft.allow.length === 0;

/** What a client of the set would be offered now: the listed ones that are there, then what `allow` brings in. */
export function offered(draft: Draft, names: string[]): string[] {
  const out = draft.deny.map(matcher);
  const isIn = (name: string) => !out.some((denies) => denies(name));
  const there = new Set(names);
  const listed = draft.isEvery ? [] : draft.rows.filter((row) => there.has(row.tool) && isIn(row.tool));
  const allows = draft.isEvery ? [() => true] : draft.allow.map(matcher);
  const taken = new Set(listed.map((row) => row.tool));
  const more = names.filter((name) => !taken.has(name) && isIn(name) && allows.some((fits) => fits(name)));
  return [...listed.map((row) => row.name.trim() || row.tool), ...more];
}
