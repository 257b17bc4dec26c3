// A server with something on every page: calls that worked and that did not, an agent, a toolset, a policy, a run that waits.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Toolcrib } from "./toolcrib";

export type Demo = { run: string; execution: string };

/** Known requests, which the editor shows the effect of a description on. */
const GOLD = [
  { query: "What is 2 + 2?", outcome: "call", gold: ["calculator"] },
  { query: "Multiply 6 by 7", outcome: "call", gold: ["multiply_numbers"] },
  { query: "hong의 하루 제한량은?", outcome: "call", gold: ["get_user_daily_limit"] },
];

export async function fill(server: Toolcrib): Promise<Demo> {
  writeFileSync(join(server.workspace, "gold.jsonl"), GOLD.map((row) => `${JSON.stringify(row)}\n`).join(""));
  const call = (tool: string, args: unknown) =>
    server.api("POST", `/tools/${tool}/call`, { arguments: args }).catch(() => null);
  await call("calculator", { expression: "12.5% of 340" });
  await call("multiply_numbers", { num1: 5, num2: 3 });
  await call("get_user_daily_limit", { user_name: "hong" });
  await call("calculator", { expression: "1 / 0" });
  await server.api("POST", "/toolsets", {
    name: "sums",
    description: "Whatever reckons",
    tools: ["calculator", "multiply_numbers"],
  });
  await server.api("POST", "/agents", {
    name: "reckoner",
    description: "Reckons",
    model_provider: "anthropic",
    model_name: "claude-sonnet-4-5",
    system_prompt: "You reckon.",
    tools: ["calculator"],
  });
  // Nobody is asked: it is switched off.
  await server.api("POST", "/servers", { name: "library", url: "http://127.0.0.1:9/mcp", disabled: true });
  // One that is no part of the configuration, and can be edited.
  await server.api("POST", "/sources", { name: "papers", kind: "sqlite", path: "demo.db" });
  await server.api("POST", "/users", { name: "kim", role: "author", password: "correct horse" });
  await server.api("PUT", "/limits", { target_type: "USER", target_id: "kim", max_count: 50 });
  const waiting = await server.api("POST", "/runs", { input: "Multiply 5 by something" });
  const executions = await server.api("GET", "/executions?limit=1");
  return { run: waiting.id, execution: executions.items[0].id };
}

/** Every address of the page, with something behind it: `src/routes.test.ts` sees that none is missing. */
export const addresses = (demo: Demo): string[] => [
  "/",
  "/tools",
  "/tools/new",
  "/tools/multiply_numbers",
  "/tools/get_user_daily_limit?step=parameters",
  "/tools/get_user_daily_limit?step=logic",
  "/tools/multiply_numbers?step=test",
  "/tools/multiply_numbers/versions",
  "/tools?test=multiply_numbers",
  "/toolsets",
  "/toolsets/new",
  "/toolsets/sums",
  "/servers",
  "/servers/new",
  "/servers/library",
  "/servers/library/edit",
  "/sources",
  "/sources/new",
  "/sources/demo",
  "/sources/demo?tab=schema",
  "/sources/papers/edit",
  "/agents",
  "/agents/new",
  "/agents/reckoner",
  "/playground",
  `/playground?runs=${demo.run}`,
  "/runs",
  `/runs/${demo.run}`,
  "/executions",
  `/executions?peek=${demo.execution}`,
  `/executions/${demo.execution}`,
  "/analytics",
  "/policies",
  "/limits",
  "/keys",
  "/users",
  "/audit",
  "/login",
  "/login/none",
  "/settings",
  "/settings?tab=secrets",
  "/settings?tab=openapi",
  "/settings?tab=server",
  // Nothing is there.
  "/nowhere",
];
