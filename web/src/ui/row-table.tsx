// Data as a table, where it can be seen so.

import { useTranslation } from "react-i18next";
import { writeExact } from "../exact";

const ROWS_SHOWN = 500;

type Row = Record<string, unknown>;
const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value);

/** Data as rows, where it can be seen so. */
export function rowsOf(data: unknown): { columns: string[]; rows: Row[] } | null {
  const rows = Array.isArray(data) ? data : isRow(data) ? [data] : null;
  if (!rows || rows.length === 0 || !rows.every(isRow)) return null;
  const columns = [...new Set(rows.slice(0, ROWS_SHOWN).flatMap((row) => Object.keys(row)))];
  return columns.length > 0 ? { columns, rows } : null;
}

const shownValue = (value: unknown) =>
  value === undefined ? "" : typeof value === "string" ? value : value === null ? "null" : writeExact(value);

const isNumber = (value: unknown) => typeof value === "number" || typeof value === "bigint";

export function RowTable({ columns, rows, label }: { columns: string[]; rows: Row[]; label: string }) {
  const { t } = useTranslation("result");
  return (
    <div className="grid gap-1">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys */}
      <section tabIndex={0} aria-label={label} className="max-h-96 overflow-auto rounded-md border">
        <table className="w-full border-collapse text-left text-sm">
          <thead className="sticky top-0 bg-sunken">
            <tr>
              {columns.map((column) => (
                <th
                  key={column}
                  scope="col"
                  className={`border-b px-2 py-1 font-mono font-medium whitespace-nowrap ${isNumber(rows[0]?.[column]) ? "text-right" : ""}`}
                >
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y">
            {rows.slice(0, ROWS_SHOWN).map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place
              <tr key={at}>
                {columns.map((column) => (
                  <td
                    key={column}
                    className={`max-w-80 truncate px-2 py-1 ${isNumber(row[column]) ? "text-right tabular-nums" : ""} ${row[column] === null ? "text-muted italic" : ""}`}
                    title={shownValue(row[column])}
                  >
                    {shownValue(row[column])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows.length > ROWS_SHOWN && <p className="text-xs text-muted">{t("firstRows", { count: ROWS_SHOWN })}</p>}
    </div>
  );
}
