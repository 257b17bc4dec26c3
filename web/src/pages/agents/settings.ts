// The settings an agent may have, as a schema: the form is made from it, and the server checks them in the end.

import type { Schema } from "../../ui/schema";

/** What each setting is for, in the reader's language. */
type Told = (key: string) => string;

const MODEL: Record<string, Schema> = {
  temperature: { type: "number", minimum: 0, maximum: 2 },
  max_tokens: { type: "integer", minimum: 1 },
};

/** What few ever change. */
const MODEL_MORE: Record<string, Schema> = {
  top_p: { type: "number", minimum: 0, maximum: 1 },
  stop_sequences: { type: "array", items: { type: "string" } },
  api: { type: "string", enum: ["responses"] },
  stream: { type: "boolean" },
  cache: { type: "boolean" },
  parallel_tool_calls: { type: "boolean" },
  extra: {},
};

const RUNS: Record<string, Schema> = {
  max_steps: { type: "integer", minimum: 1 },
  max_tool_calls: { type: "integer", minimum: 1 },
  max_seconds: { type: "number", minimum: 1 },
  cost_budget: { type: "number", minimum: 0 },
};

const RUNS_MORE: Record<string, Schema> = {
  max_calls_per_tool: { type: "integer", minimum: 1 },
  token_budget: { type: "integer", minimum: 1 },
  at_limit: { type: "string", enum: ["answer", "fail"] },
  retrieval: { type: "boolean" },
  output_schema: {},
};

const MEMORY: Record<string, Schema> = {
  type: { type: "string", enum: ["sliding_window"] },
  max_messages: { type: "integer", minimum: 1 },
  max_tokens: { type: "integer", minimum: 1 },
};

function schemaOf(members: Record<string, Schema>, told: Told): Schema {
  const properties = Object.entries(members).map(([key, schema]) => [key, { ...schema, description: told(key) }]);
  return { type: "object", properties: Object.fromEntries(properties) };
}

export const PARTS = ["model", "modelMore", "runs", "runsMore"] as const;
export type Part = (typeof PARTS)[number];

const MEMBERS: Record<Part, Record<string, Schema>> = {
  model: MODEL,
  modelMore: MODEL_MORE,
  runs: RUNS,
  runsMore: RUNS_MORE,
};

export const CONFIG_KEYS = [...PARTS.flatMap((part) => Object.keys(MEMBERS[part])), "api_key"];
export const MEMORY_KEYS = Object.keys(MEMORY);

export const configSchema = (part: Part, told: Told) => schemaOf(MEMBERS[part], told);
export const memorySchema = (told: Told) => schemaOf(MEMORY, told);

type Values = Record<string, unknown>;

/** `config` in the parts that it is shown in. The key is no part of them: it is picked, not typed. What none knows stays with the model's, so that nothing is lost. */
export function parted({ api_key: _, ...config }: Values): Record<Part, Values> {
  const partOf = (key: string) => PARTS.find((part) => key in MEMBERS[part]) ?? "modelMore";
  const all = Object.entries(config);
  const of = (part: Part) => Object.fromEntries(all.filter(([key]) => partOf(key) === part));
  return { model: of("model"), modelMore: of("modelMore"), runs: of("runs"), runsMore: of("runsMore") };
}

/** `config` with one part of it as it is now. */
export function withPart(config: Values, part: Part, next: Values): Values {
  const key = "api_key" in config ? { api_key: config.api_key } : {};
  return Object.assign(key, ...Object.values({ ...parted(config), [part]: next }));
}
