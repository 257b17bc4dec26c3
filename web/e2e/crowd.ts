// A server with more in it than anybody looks at at once: ten thousand tools, a million executions, five thousand tables.

import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crowded } from "./postgres";
import { Toolcrib } from "./toolcrib";

export const TOOLS = 10_000;
export const EXECUTIONS = 1_000_000;
export const TABLES = 5_000;

const SUBJECTS = ["invoices", "shipments", "tickets", "sensors", "surveys", "expenses", "meetings", "orders"];
const CITIES = ["Seoul", "Busan", "Gwangju", "Incheon", "Daegu", "Ulsan", "Jeju"];

type Tool = { name: string } & Record<string, unknown>;

/** Copies of the demo's tools, each with a name and a description of its own. */
function copies(of: Tool[]): Tool[] {
  return Array.from({ length: TOOLS }, (_, at) => {
    const { tests, examples, ...like } = of[at % of.length]!;
    const [subject, city] = [SUBJECTS[at % SUBJECTS.length]!, CITIES[at % CITIES.length]!];
    return {
      ...like,
      name: `${subject}_${city.toLowerCase()}_${String(at).padStart(5, "0")}`,
      description: `${like.description} Meant for the ${subject} of the ${city} branch, series ${at}.`,
      description_user: `For the ${subject} of the ${city} branch, series ${at}`,
    };
  });
}

export async function crowd(): Promise<Toolcrib> {
  const postgres = await crowded(TABLES);
  let names: string[] = [];
  const server = await Toolcrib.start((workspace) => {
    const file = join(workspace, "tools.json");
    const { tools } = JSON.parse(readFileSync(file, "utf8")) as { tools: Tool[] };
    const all = [...tools, ...copies(tools)];
    names = all.map((tool) => tool.name);
    writeFileSync(file, JSON.stringify({ version: 1, tools: all }));
    appendFileSync(join(workspace, "toolcrib.toml"), `\n[sources.crowd]\nkind = "postgres"\nurl = "${postgres}"\n`);
  });
  const call = (tool: string, args: unknown) =>
    server.api("POST", `/tools/${tool}/call`, { arguments: args }).catch(() => null);
  for (let at = 0; at < 5; at++) {
    await call("calculator", { expression: `${at} * 340` });
    await call("multiply_numbers", { num1: at, num2: 3 });
    await call("get_user_daily_limit", { user_name: "hong" });
  }
  await call("calculator", { expression: "1 / 0" });
  await server.stop();
  const script = new URL("multiply-executions.py", import.meta.url).pathname;
  execFileSync("python3", [script, server.workspace, String(EXECUTIONS), "4"], { input: JSON.stringify(names) });
  await server.serve();
  return server;
}
