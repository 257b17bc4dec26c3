// A call as a line for the terminal.

import { writeExact } from "../../exact";

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function asCurl(origin: string, tool: string, args: unknown): string {
  return [
    `curl -s ${quoted(`${origin}/api/v1/tools/${encodeURIComponent(tool)}/call`)}`,
    `  -H "X-API-Key: $TOOLCRIB_KEY" -H 'Content-Type: application/json'`,
    `  -d ${quoted(writeExact({ arguments: args }))}`,
  ].join(" \\\n");
}

// What the log writes in the place of a secret.
const HIDDEN = "***";

type Values = Record<string, unknown>;
const isValues = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value without what is hidden in it, and where that was. */
function known(value: unknown, place: string, hidden: Set<string>): unknown {
  if (value === HIDDEN) return void hidden.add(place);
  if (Array.isArray(value)) return value.map((one) => known(one, place, hidden)).filter((one) => one !== undefined);
  if (!isValues(value)) return value;
  const members = Object.entries(value).map(([name, one]) => [
    name,
    known(one, place ? `${place}.${name}` : name, hidden),
  ]);
  return Object.fromEntries(members.filter(([, one]) => one !== undefined));
}

/** What a call can be given again: all but its secrets. Nothing where the log has only the beginning of its arguments. */
export function givenAgain(args: unknown): { values: Values; hidden: string[] } | undefined {
  if (!isValues(args)) return undefined;
  const hidden = new Set<string>();
  return { values: known(args, "", hidden) as Values, hidden: [...hidden] };
}

/** Where the tester opens with a call's arguments filled in. They are asked for there: an address has no room for them. */
export const inTester = ({ id, tool_name }: { id: string; tool_name: string }) => ({
  to: `/tools/${encodeURIComponent(tool_name)}`,
  search: { test: "1", replay: id },
});

/** Arguments, or whatever it is, in one line. */
export function inOneLine(value: unknown, most = 160): string {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const text = isObject
    ? Object.entries(value)
        .map(([key, one]) => `${key}: ${writeExact(one)}`)
        .join(", ")
    : typeof value === "string"
      ? value
      : (writeExact(value) ?? "");
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
