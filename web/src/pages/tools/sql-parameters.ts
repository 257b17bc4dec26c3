// The parameters that a query names, as `:name` or `{{name}}`: not those in texts and comments, and not PostgreSQL's casts.

/** What names are made of, in any language, as the server reads them. */
export const IN_NAME = String.raw`[\p{Alphabetic}\p{N}_]`;
const NAME = String.raw`[\p{Alphabetic}_]${IN_NAME}*`;

const TOKENS = new RegExp(
  String.raw`'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(${IN_NAME}*)\$[\s\S]*?\$\1\$|::|:(${NAME})|\{\{\s*(${NAME})\s*\}\}`,
  "gu",
);
const BEFORE_SLICE = new RegExp(String.raw`(?:${IN_NAME}|\])$`, "u");

export type Found = { name: string; from: number; to: number };

export function parametersIn(sql: string): Found[] {
  const found: Found[] = [];
  for (const match of sql.matchAll(TOKENS)) {
    const name = match[2] ?? match[3];
    // `a:b` is a slice of an array, not a parameter.
    if (!name || (match[2] && BEFORE_SLICE.test(sql.slice(Math.max(0, match.index - 2), match.index)))) continue;
    found.push({ name, from: match.index, to: match.index + match[0].length });
  }
  return found;
}

/** Names that a query uses and nobody has declared, in the order of their first use. */
export function undeclared(sql: string, declared: Iterable<string>): string[] {
  const known = new Set(declared);
  return [...new Set(parametersIn(sql).map((one) => one.name))].filter((name) => !known.has(name));
}

const READS = /^(select|with|values|table|explain|show|pragma)$/i;

/** What a query begins by doing. The server looks at it with a parser; this is only a badge. */
export function verbOf(sql: string): { verb: string; reads: boolean } | null {
  // What stands in texts, quoted names and comments does nothing.
  const bare = sql.replace(TOKENS, " ").replace(/^[\s(]+/, "");
  const verb = /^[A-Za-z]+/.exec(bare)?.[0];
  if (!verb) return null;
  const writes = /^with$/i.test(verb) && /\b(insert|update|delete|merge)\b/i.test(bare);
  return { verb: verb.toUpperCase(), reads: READS.test(verb) && !writes };
}

/** What a name is called while it is dragged from the tables into a query. */
export const DRAGGED = "application/x-toolcrib-name";

/** An identifier as it must be written to mean itself. */
export const quoted = (name: string) => (/^[a-z_][a-z0-9_$]*$/i.test(name) ? name : `"${name.replace(/"/g, '""')}"`);

/** A table as a query names it. */
export const nameOf = (table: { schema?: string | null; name: string }) =>
  table.schema && table.schema !== "public" && table.schema !== "main"
    ? `${quoted(table.schema)}.${quoted(table.name)}`
    : quoted(table.name);
