// The parameters that a query names, as `:name` or `{{name}}`: not those in texts and comments, and not PostgreSQL's casts.

const TOKENS =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|\$(\w*)\$[\s\S]*?\$\1\$|::|:([A-Za-z_]\w*)|\{\{\s*([A-Za-z_][\w-]*)\s*\}\}/g;

export type Found = { name: string; from: number; to: number };

export function parametersIn(sql: string): Found[] {
  const found: Found[] = [];
  for (const match of sql.matchAll(TOKENS)) {
    const name = match[2] ?? match[3];
    const before = match.index > 0 ? sql[match.index - 1]! : "";
    // `a:b` is a slice of an array, not a parameter.
    if (!name || (match[2] && /[\w\]]/.test(before))) continue;
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
  const bare = sql.replace(/--[^\n]*|\/\*[\s\S]*?\*\//g, " ").trim();
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
