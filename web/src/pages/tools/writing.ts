// A run while a tool is still being made must not destroy anything by accident.

import { bodyOf, type Draft } from "./draft";
import { parametersIn } from "./sql-parameters";

/** Whether running it may change what is in a source. */
export const writes = (tool: { kind: string; config: unknown }): boolean =>
  tool.kind === "sql" && (tool.config as { write?: unknown } | null)?.write === true;

/**
 * A part of a query as a tool that can be tried, with the arguments it uses. It may only read, whatever the tool itself may: a
 * part of a DELETE without its WHERE is a query, too.
 */
export function partOf(draft: Draft, text: string, args: Record<string, unknown>) {
  const used = new Set(parametersIn(text).map((one) => one.name));
  const body = bodyOf({
    ...draft,
    name: draft.name || "untitled",
    description: draft.description || "…",
    parameters: draft.parameters.filter((one) => used.has(one.name)),
    tests: [],
  });
  const { write: _, ...config } = draft.config;
  return {
    tool: { ...body, output_schema: null, config: { ...config, query: text, result: "records" } },
    args: Object.fromEntries(Object.entries(args).filter(([name]) => used.has(name))),
  };
}
