// A run while a tool is still being made must not destroy anything by accident.

import { bodyOf, type Draft } from "./draft";
import { parametersIn } from "./sql-parameters";

type Written = { kind: string; config: unknown; annotations?: unknown; rest?: Record<string, unknown> };

/** Whether running it may change what is in a source, or destroys something by what its author says of it. */
export function writes(tool: Written): boolean {
  const said = (tool.annotations ?? tool.rest?.annotations) as { destructive?: unknown } | null | undefined;
  if (said?.destructive === true) return true;
  return tool.kind === "sql" && (tool.config as { write?: unknown } | null)?.write === true;
}

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
