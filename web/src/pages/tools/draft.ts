// A tool while somebody writes it: its definition, with the arguments as a list that can be ordered. What the editor has no
// field for is kept as it is.

import { readExact, writeExact } from "../../exact";
import type { Schema } from "../../ui/schema";
import { keysIn, rekeyed, unkeyed } from "./credentials";
import type { Kind, Tool } from "./queries";

export type Parameter = {
  id: number;
  name: string;
  required: boolean;
  schema: Schema;
  /** Its schema as it is being written, while that is no schema. */
  unread?: string;
  /** What was written as its default, while that is no value of its type. */
  unreadDefault?: string;
  /** The values it may have as they were written, while some of them are none of its type. */
  unreadEnum?: string[];
};
export type Case = {
  name?: string;
  arguments: Record<string, unknown>;
  expect?: unknown;
  expect_contains?: unknown;
  expect_error?: string;
};
export type Config = Record<string, unknown>;

export type Draft = {
  name: string;
  description: string;
  description_user: string;
  kind: Kind;
  shelf: "database" | "file";
  is_active: boolean;
  config: Config;
  /** Configs of other kinds, so that going back to one brings it back. */
  others: Partial<Record<Kind, Config>>;
  parameters: Parameter[];
  /** What the schema of the arguments says besides its properties. */
  schemaRest: Schema;
  auth_config: unknown;
  output_schema: unknown;
  examples: string[];
  tests: Case[];
  /** The version that it was made from; 0 for a new one. */
  version: number;
  /** Texts that are no values yet, by the member that they are to become. */
  unread?: Record<string, string>;
  /** Members that are sent back as they came. */
  rest: Record<string, unknown>;
};

let last = 0;
export function parameter(name = "", schema: Schema = { type: "string" }, required = true): Parameter {
  last += 1;
  return { id: last, name, required, schema };
}

const starts: Record<Kind, Config> = {
  sql: { source: "", query: "" },
  expression: { expression: "" },
  http: { base_url: "https://", method: "GET" },
  python: { script: "" },
  shell: { command: [""] },
  mcp: { server_name: "", tool_name: "" },
  builtin: { name: "" },
};

export const emptyDraft = (): Draft => ({
  name: "",
  description: "",
  description_user: "",
  kind: "sql",
  shelf: "database",
  is_active: true,
  config: { ...starts.sql },
  others: {},
  parameters: [],
  schemaRest: { type: "object", additionalProperties: false },
  auth_config: undefined,
  output_schema: undefined,
  examples: [],
  tests: [],
  version: 0,
  rest: {},
});

export function parametersOf(schema: Schema): { parameters: Parameter[]; schemaRest: Schema } {
  const { properties, required, ...schemaRest } = schema;
  const parameters = Object.entries(properties ?? {}).map(([name, one]) =>
    parameter(name, one, required?.includes(name) ?? false),
  );
  return { parameters, schemaRest };
}

// What the server adds to a definition, or what has a member of its own in a draft.
const NOT_SENT = [
  ..."id hash version created_at updated_at owner tested trouble flags rules used_by effect shelf name description description_user kind".split(
    " ",
  ),
  ..."is_active config input_schema auth_config output_schema examples tests ".trim().split(" "),
];

/** What `parallel_capable` is where nobody says anything. */
export const isParallelBefore = (kind: string) => ["builtin", "http", "sql"].includes(kind);

/** Whether what a call does is seen from the definition, and then whether it only reads. */
export function seenToRead(kind: string, config: Config): boolean | undefined {
  if (kind === "expression") return true;
  if (kind === "sql") return config.write !== true;
  return kind === "http" && ["GET", "HEAD"].includes(String(config.method ?? "GET")) ? true : undefined;
}

/**
 * What its author said, without what the server fills in: what was seen in one query must not be said of the next, and a version
 * must not show a change that nobody made.
 */
function said(tool: Tool, rest: Record<string, unknown>): Record<string, unknown> {
  const { annotations, parallel_capable, output_format, is_public, ...others } = rest;
  const told = { ...(annotations as Record<string, unknown> | undefined) };
  const reads = seenToRead(tool.kind, tool.config as Config);
  if (tool.kind === "sql" && told.destructive === !reads) delete told.destructive;
  if (told.read_only === reads && told.destructive !== true) delete told.read_only;
  return {
    ...others,
    ...(Object.keys(told).length > 0 && { annotations: told }),
    ...(parallel_capable !== isParallelBefore(tool.kind) && { parallel_capable }),
    ...(output_format !== "json" && { output_format }),
    ...(is_public === true && { is_public }),
  };
}

export function draftOf(tool: Tool): Draft {
  const whole = tool as unknown as Record<string, unknown>;
  const rest = said(
    tool,
    Object.fromEntries(Object.entries(whole).filter(([key, value]) => !NOT_SENT.includes(key) && value !== null)),
  );
  return {
    name: tool.name,
    description: tool.description,
    description_user: tool.description_user ?? "",
    kind: tool.kind as Kind,
    shelf: tool.shelf === "file" ? "file" : "database",
    is_active: tool.is_active,
    config: tool.config as Config,
    others: {},
    ...parametersOf(tool.input_schema as Schema),
    auth_config: tool.auth_config ?? undefined,
    output_schema: tool.output_schema ?? undefined,
    examples: tool.examples,
    tests: tool.tests as unknown as Case[],
    version: tool.version,
    rest,
  };
}

export function schemaOf(draft: Pick<Draft, "parameters" | "schemaRest">): Schema {
  const named = draft.parameters.filter((one) => one.name.trim());
  const required = named.filter((one) => one.required).map((one) => one.name.trim());
  const { type, ...others } = draft.schemaRest;
  return {
    type: type ?? "object",
    properties: Object.fromEntries(named.map((one) => [one.name.trim(), one.schema])),
    ...(required.length > 0 ? { required } : {}),
    ...others,
  };
}

/** What is sent to the server. */
export function bodyOf(draft: Draft): Record<string, unknown> {
  const body: Record<string, unknown> = {
    ...draft.rest,
    name: draft.name.trim(),
    description: draft.description,
    description_user: draft.description_user || null,
    kind: draft.kind,
    is_active: draft.is_active,
    config: draft.config,
    input_schema: schemaOf(draft),
    output_schema: draft.output_schema ?? null,
    examples: draft.examples,
    tests: draft.tests,
  };
  if (draft.auth_config !== undefined) body.auth_config = draft.auth_config;
  if (draft.version === 0) body.shelf = draft.shelf;
  return body;
}

/** Another kind has another config; the one before is kept aside. */
export function ofKind(draft: Draft, kind: Kind): Draft {
  if (draft.kind === kind) return draft;
  const others = { ...draft.others, [draft.kind]: draft.config };
  return { ...draft, kind, config: draft.others[kind] ?? { ...starts[kind] }, others, unread: undefined };
}

/** A text for a member that is no value yet, or that it is one now. */
export function withUnread({ unread }: Draft, path: string, text: string | undefined): Pick<Draft, "unread"> {
  if (text === undefined && unread?.[path] === undefined) return {};
  const { [path]: _, ...others } = unread ?? {};
  return { unread: text === undefined ? others : { ...others, [path]: text } };
}

/** Why a parameter cannot be saved under its name: somebody said something of it and not its name, or one before it has that. */
export function badName(all: Parameter[], at: number): "nameless" | "twice" | undefined {
  const { name, schema } = all[at]!;
  if (name.trim() === "")
    return Object.keys(schema).some((key) => key !== "type" && key !== "items") ? "nameless" : undefined;
  return all.findIndex((one) => one.name.trim() === name.trim()) < at ? "twice" : undefined;
}

/** The members that cannot be read: until they can, there is nothing to save or to run. */
export function unreadIn(draft: Draft): string[] {
  const isBodyless = draft.kind === "http" && ["GET", "HEAD"].includes(String(draft.config.method));
  return [
    ...Object.keys(draft.unread ?? {}).filter((path) => !(isBodyless && path === "config.body")),
    ...draft.parameters
      .filter((one, at, all) => (one.unread ?? one.unreadDefault ?? one.unreadEnum ?? badName(all, at)) !== undefined)
      .map((one) => `input_schema.properties.${one.name.trim()}`),
  ];
}

export type StepId = "basics" | "parameters" | "logic" | "test";
export const STEPS: StepId[] = ["basics", "parameters", "logic", "test"];

export const NAME = /^[A-Za-z0-9_.-]{1,64}$/;

/** Whether a step has what it needs; the server has the last word. */
export function isFilled(draft: Draft, step: StepId): boolean {
  if (step === "basics") return NAME.test(draft.name.trim()) && draft.description.trim() !== "";
  if (step === "parameters") {
    const names = draft.parameters.map((one) => one.name.trim());
    return names.every(Boolean) && new Set(names).size === names.length;
  }
  if (step === "logic") {
    const text = (key: string) => typeof draft.config[key] === "string" && (draft.config[key] as string).trim() !== "";
    switch (draft.kind) {
      case "sql":
        return text("source") && text("query");
      case "expression":
        return text("expression");
      case "http":
        return /^https?:\/\/[^/]/.test(String(draft.config.base_url));
      case "python":
        return text("script") || (text("module") && text("function"));
      case "shell":
        return Array.isArray(draft.config.command) && !!draft.config.command[0];
      case "mcp":
        return text("server_name") && text("tool_name");
      default:
        return text("name");
    }
  }
  return true;
}

/** Which step a member of the definition is written in. */
export function stepOf(path: string): StepId {
  if (/^(config|auth_config)\b/.test(path)) return "logic";
  if (/^input_schema\b/.test(path)) return "parameters";
  if (/^(tests|output_schema)\b/.test(path)) return "test";
  return "basics";
}

// About four letters of English or one of Korean make a token: near enough to compare descriptions by.
export function tokensOf(text: string): number {
  const wide = [...text].filter((letter) => letter.charCodeAt(0) > 0x2e7f).length;
  return Math.ceil((text.length - wide) / 4 + wide);
}

const key = (name: string) => `toolcrib.draft.${name || "+new"}`;

const OPEN = new Set("type username name token_url client_id scope".split(" "));

/** Secrets that were typed are not left behind in the browser; masks of stored ones and names of others are none. */
function untyped(auth: unknown): unknown {
  if (typeof auth !== "object" || auth === null) return auth;
  return Object.fromEntries(
    Object.entries(auth).filter(([name, one]) => OPEN.has(name) || !one || typeof one !== "string"),
  );
}

/** Whether some of its secrets are only known to the server, which gives them to the stored tool and to no other. */
export const isSealed = ({ auth_config }: Draft): boolean =>
  Object.values(auth_config ?? {}).some((one) => typeof one === "object" && one !== null && "set" in one);

/** A kept draft, with the stored secrets in the place of those that were not kept. */
export function withStored(draft: Draft, stored: Draft): Draft {
  const filled = { ...draft, config: rekeyed(draft.config, stored.config) };
  const [mine, theirs] = [draft.auth_config, stored.auth_config] as Array<{ type?: unknown } | null | undefined>;
  if (!mine || !theirs || mine.type !== theirs.type) return filled;
  return { ...filled, auth_config: { ...theirs, ...mine } };
}

/** Whether secrets can be typed in it, or are in it, which a kept draft lacks. */
export const hasSecrets = (draft: Draft): boolean => !!draft.auth_config || keysIn(draft.config, true).length > 0;

/** As it may be left behind in a browser. */
const keepable = (draft: Draft): Draft => ({
  ...draft,
  auth_config: untyped(draft.auth_config),
  config: unkeyed(draft.config),
  others: Object.fromEntries(Object.entries(draft.others).map(([kind, config]) => [kind, unkeyed(config)])),
});

/** Drafts stay in this browser until they are saved. */
export const drafts = {
  read(name: string): Draft | null {
    try {
      const text = localStorage.getItem(key(name));
      const draft = text ? (readExact(text) as Draft) : null;
      if (draft) last = Math.max(last, ...draft.parameters.map((one) => one.id));
      return draft;
    } catch {
      return null;
    }
  },
  write: (name: string, draft: Draft) => localStorage.setItem(key(name), writeExact(keepable(draft))),
  drop: (name: string) => localStorage.removeItem(key(name)),
};

/** What a value is by itself; `null` is a type of its own until it is known what else stands in its place. */
function seen(data: unknown): Schema {
  if (data === null) return { type: "null" };
  if (Array.isArray(data))
    return data.length > 0 ? { type: "array", items: data.map(seen).reduce(both) } : { type: "array" };
  if (typeof data === "object") {
    const members = Object.entries(data as Record<string, unknown>);
    return { type: "object", properties: Object.fromEntries(members.map(([name, one]) => [name, seen(one)])) };
  }
  if (typeof data === "bigint") return { type: "integer" };
  if (typeof data === "number") return { type: Number.isInteger(data) ? "integer" : "number" };
  return { type: typeof data };
}

/** A schema that both fit: rows of one answer need not be alike. */
function both(a: Schema, b: Schema): Schema {
  const all = [...new Set([a.type ?? [], b.type ?? []].flat())];
  const types = all.includes("number") ? all.filter((one) => one !== "integer") : all;
  const made: Schema = { type: types.length === 1 ? types[0] : types };
  if (a.properties || b.properties) {
    const properties = { ...a.properties };
    for (const [name, one] of Object.entries(b.properties ?? {}))
      properties[name] = Object.hasOwn(properties, name) ? both(properties[name]!, one) : one;
    made.properties = properties;
  }
  const [one, other] = [a.items, b.items] as Array<Schema | undefined>;
  if (one ?? other) made.items = one && other ? both(one, other) : (one ?? other);
  return made;
}

/** Where nothing but null was seen, anything may stand. */
function opened({ properties, items, ...schema }: Schema): Schema {
  if (schema.type === "null") return {};
  return {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, opened(one)])),
    }),
    ...(items && { items: opened(items as Schema) }),
  };
}

/** The schema that data has, as far as one answer can tell. */
export const inferred = (data: unknown): Schema => opened(seen(data));
