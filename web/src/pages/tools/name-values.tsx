// Names with values, in rows: what goes into a query, headers, an environment.

import { Plus, Trash2 } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { readExact, writeExact } from "../../exact";
import { Button, IconButton } from "../../ui/button";
import { Input } from "../../ui/field";
import { parseJson } from "../../ui/schema";

type Props = {
  label: string;
  add: string;
  value: Record<string, unknown>;
  onChange: (value: Record<string, unknown> | undefined) => void;
  problem?: string;
  placeholder?: string;
  /** Said below a row, such as that its value is open to all. */
  note?: (name: string, value: string) => ReactNode;
};

type Row = { id: number; name: string; text: string; kept?: unknown };

// A row is another than every row before it, also where pasted ones have come in between.
let last = 0;
const fresh = (some: Partial<Row> = {}): Row => {
  last += 1;
  return { id: last, name: "", text: "", ...some };
};

const rowsOf = (value: Record<string, unknown>): Row[] =>
  Object.entries(value).map(([name, one]) =>
    fresh({
      name,
      text: typeof one === "string" ? one : writeExact(one),
      kept: typeof one === "string" ? undefined : one,
    }),
  );

/** What was no text stays none as long as it can be read: a list with one more entry is a list. */
function readBack({ text, kept }: Row): unknown {
  const parsed = kept === undefined ? undefined : parseJson(text);
  return parsed && "value" in parsed ? parsed.value : valueOfText(text);
}

/** A reference (`{"$secret": "name"}`) is JSON; whatever else is typed is a text. */
export function valueOfText(text: string): unknown {
  if (!/^\{\s*"\$(secret|env)"/.test(text)) return text;
  try {
    return readExact(text);
  } catch {
    return text;
  }
}

export function NameValues({ label, add, value, onChange, problem, placeholder, note }: Props) {
  const { t } = useTranslation("editor");
  const [rows, setRows] = useState(() => rowsOf(value));
  const told = useRef(writeExact(value));
  // Values that came from elsewhere, such as a pasted command, replace the rows.
  const now = writeExact(value);
  if (now !== told.current) {
    told.current = now;
    setRows(rowsOf(value));
  }
  const set = (changed: Row[]) => {
    setRows(changed);
    const named = changed.filter((row) => row.name.trim());
    const all = Object.fromEntries(named.map((row) => [row.name.trim(), readBack(row)]));
    told.current = writeExact(all);
    onChange(named.length > 0 ? all : undefined);
  };
  /** Of rows with one name the last one counts. */
  const isOver = ({ name }: Row, at: number) =>
    name.trim() !== "" && rows.slice(at + 1).some((one) => one.name.trim() === name.trim());
  const change = (id: number, some: Partial<Row>) =>
    set(rows.map((row) => (row.id === id ? { ...row, ...some } : row)));
  return (
    <fieldset className="grid content-start gap-1.5">
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      {rows.map((row, at) => (
        <div key={row.id} className="grid gap-1">
          <div className="flex items-center gap-2">
            <Input
              aria-label={`${label}: ${t("rows.name")}`}
              className="max-w-56 font-mono"
              spellCheck={false}
              value={row.name}
              onChange={(event) => change(row.id, { name: event.target.value })}
            />
            <Input
              aria-label={`${label}: ${t("rows.value")} ${row.name}`}
              className="font-mono"
              spellCheck={false}
              placeholder={placeholder}
              value={row.text}
              onChange={(event) => change(row.id, { text: event.target.value })}
            />
            <IconButton
              small
              icon={Trash2}
              label={t("rows.remove", { name: row.name })}
              onClick={() => set(rows.filter((one) => one.id !== row.id))}
            />
          </div>
          {isOver(row, at) && (
            <p role="alert" className="text-sm text-danger">
              {t("rows.twice")}
            </p>
          )}
          {note?.(row.name, row.text)}
        </div>
      ))}
      {problem && <p className="text-sm text-danger">{problem}</p>}
      <div>
        <Button small icon={Plus} onClick={() => setRows([...rows, fresh()])}>
          {add}
        </Button>
      </div>
    </fieldset>
  );
}
