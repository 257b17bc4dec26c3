// How a database would run a query, as steps that can be read: from SQLite's rows or PostgreSQL's tree.

export type Step = {
  depth: number;
  /** Reads all of a table, finds rows by an index, or something else. */
  does: "scan" | "search" | "other";
  table?: string;
  index?: string;
  /** In the database's own words. */
  text: string;
  /** About so many rows come out of it. */
  rows?: number;
};

type Members = Record<string, unknown>;
const isMembers = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function ofSqlite(rows: Members[]): Step[] {
  const depths = new Map<unknown, number>();
  return rows.map(({ id, parent, detail }) => {
    const depth = depths.has(parent) ? depths.get(parent)! + 1 : 0;
    depths.set(id, depth);
    const text = String(detail);
    const [, verb, table, index] =
      /^(SCAN|SEARCH) (?:TABLE )?(\S+)(?: USING (?:AUTOMATIC )?(?:PARTIAL )?(?:COVERING )?(?:INDEX (\S+)|INTEGER PRIMARY KEY))?/.exec(
        text,
      ) ?? [];
    const does = verb === "SCAN" ? "scan" : verb === "SEARCH" ? "search" : "other";
    return { depth, does, table, index, text };
  });
}

function ofPostgres(node: Members, depth = 0): Step[] {
  const kind = String(node["Node Type"]);
  const table = node["Relation Name"];
  const index = node["Index Name"];
  const condition = node["Index Cond"] ?? node["Hash Cond"] ?? node["Merge Cond"] ?? node.Filter;
  const step: Step = {
    depth,
    does: kind === "Seq Scan" ? "scan" : /Index/.test(kind) ? "search" : "other",
    table: table === undefined ? undefined : String(table),
    index: index === undefined ? undefined : String(index),
    text: condition ? `${kind} ${String(condition)}` : kind,
    rows: typeof node["Plan Rows"] === "number" ? node["Plan Rows"] : undefined,
  };
  const inner = Array.isArray(node.Plans) ? node.Plans.filter(isMembers) : [];
  return [step, ...inner.flatMap((one) => ofPostgres(one, depth + 1))];
}

/** Nothing where it is a plan of another kind. */
export function stepsOf(plan: unknown): Step[] | null {
  const list = Array.isArray(plan) ? plan : [plan];
  if (list.length === 0 || !list.every(isMembers)) return null;
  if (list.every((row) => "detail" in row && "parent" in row)) return ofSqlite(list);
  if (list.every((row) => isMembers(row.Plan) && "Node Type" in row.Plan))
    return list.flatMap((row) => ofPostgres(row.Plan as Members));
  return null;
}
