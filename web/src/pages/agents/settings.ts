// The settings an agent may have, as a schema: the form is made from it, and the server checks them in the end.

import type { Schema } from "../../ui/schema";

/** What each setting is for, in the reader's language. */
type Told = (key: string) => string;

const MODEL: Record<string, Schema> = {
  temperature: { type: "number", minimum: 0, maximum: 2 },
  top_p: { type: "number", minimum: 0, maximum: 1 },
  max_tokens: { type: "integer", minimum: 1 },
  stop_sequences: { type: "array", items: { type: "string" } },
  api: { type: "string", enum: ["responses"] },
  api_key: { type: "object", properties: { $secret: { type: "string" } }, required: ["$secret"] },
  stream: { type: "boolean" },
  cache: { type: "boolean" },
  parallel_tool_calls: { type: "boolean" },
  extra: {},
};

const RUNS: Record<string, Schema> = {
  retrieval: { type: "boolean" },
  output_schema: {},
  max_steps: { type: "integer", minimum: 1 },
  max_tool_calls: { type: "integer", minimum: 1 },
  max_calls_per_tool: { type: "integer", minimum: 1 },
  token_budget: { type: "integer", minimum: 1 },
  cost_budget: { type: "number", minimum: 0 },
  max_seconds: { type: "number", minimum: 1 },
  at_limit: { type: "string", enum: ["answer", "fail"] },
};

const MEMORY: Record<string, Schema> = {
  type: { type: "string", enum: ["sliding_window"] },
  max_messages: { type: "integer", minimum: 1 },
  max_tokens: { type: "integer", minimum: 1 },
};

export const MODEL_KEYS = Object.keys(MODEL);
export const RUN_KEYS = Object.keys(RUNS);
export const MEMORY_KEYS = Object.keys(MEMORY);

function schemaOf(members: Record<string, Schema>, told: Told): Schema {
  const properties = Object.entries(members).map(([key, schema]) => [key, { ...schema, description: told(key) }]);
  return { type: "object", properties: Object.fromEntries(properties) };
}

export const modelSchema = (told: Told) => schemaOf(MODEL, told);
export const runSchema = (told: Told) => schemaOf(RUNS, told);
export const memorySchema = (told: Told) => schemaOf(MEMORY, told);

type Values = Record<string, unknown>;

/** The two halves of `config`; what neither knows stays with the model's, so that nothing is lost. */
export function halves(config: Values): { model: Values; runs: Values } {
  const isRun = ([key]: [string, unknown]) => RUN_KEYS.includes(key);
  const all = Object.entries(config);
  return {
    model: Object.fromEntries(all.filter((one) => !isRun(one))),
    runs: Object.fromEntries(all.filter(isRun)),
  };
}
