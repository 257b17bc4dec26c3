// A call as a line for the terminal.

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export function asCurl(origin: string, tool: string, args: unknown): string {
  return [
    `curl -s ${quoted(`${origin}/api/v1/tools/${encodeURIComponent(tool)}/call`)}`,
    `  -H "X-API-Key: $TOOLCRIB_KEY" -H 'Content-Type: application/json'`,
    `  -d ${quoted(JSON.stringify({ arguments: args }))}`,
  ].join(" \\\n");
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
        .map(([key, one]) => `${key}: ${JSON.stringify(one)}`)
        .join(", ")
    : typeof value === "string"
      ? value
      : (JSON.stringify(value) ?? "");
  return text.length > most ? `${text.slice(0, most)}…` : text;
}
