// A parameter with one value, which the tool brings along itself: agents are not shown it and need not send it. Its schema says so
// with `readOnly` and `const`.

import type { Schema } from "../../ui/schema";

export const isPinned = (schema: Schema) => schema.readOnly === true && "const" in schema;

/** What was its default becomes its one value, and the other way round. */
export function pinned(schema: Schema, on: boolean): Schema {
  const { default: usual, const: one, readOnly: _, ...rest } = schema;
  if (on) return { ...rest, const: usual ?? null, readOnly: true };
  return one === null || one === undefined ? rest : { ...rest, default: one };
}

/** The arguments as agents are asked for them. */
export function offered(schema: Schema): Schema {
  const { properties = {}, required, ...rest } = schema;
  const hidden = new Set(Object.keys(properties).filter((name) => isPinned(properties[name]!)));
  if (hidden.size === 0) return schema;
  const left = required?.filter((name) => !hidden.has(name)) ?? [];
  return {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => !hidden.has(name))),
    ...(left.length > 0 ? { required: left } : {}),
  };
}
