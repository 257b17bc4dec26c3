// Names with values, in rows: what goes into a query, headers, an environment.

import { Plus, Trash2 } from "lucide-react";
import { type ReactNode, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "../../ui/button";
import { Input } from "../../ui/field";

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

const rowsOf = (value: Record<string, unknown>): Row[] =>
  Object.entries(value).map(([name, one], id) => ({
    id,
    name,
    text: typeof one === "string" ? one : JSON.stringify(one),
    kept: typeof one === "string" ? undefined : one,
  }));

/** A reference (`{"$secret": "name"}`) is JSON; whatever else is typed is a text. */
export function valueOfText(text: string): unknown {
  if (!/^\{\s*"\$(secret|env)"/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function NameValues({ label, add, value, onChange, problem, placeholder, note }: Props) {
  const { t } = useTranslation("editor");
  const [rows, setRows] = useState(() => rowsOf(value));
  const next = useRef(rows.length);
  const told = useRef(JSON.stringify(value));
  // Values that came from elsewhere, such as a pasted command, replace the rows.
  const now = JSON.stringify(value);
  if (now !== told.current) {
    told.current = now;
    setRows(rowsOf(value));
  }
  const set = (changed: Row[]) => {
    setRows(changed);
    const named = changed.filter((row) => row.name.trim());
    const all = Object.fromEntries(
      named.map((row) => [
        row.name.trim(),
        row.kept !== undefined && row.text === JSON.stringify(row.kept) ? row.kept : valueOfText(row.text),
      ]),
    );
    told.current = JSON.stringify(all);
    onChange(named.length > 0 ? all : undefined);
  };
  const change = (id: number, some: Partial<Row>) =>
    set(rows.map((row) => (row.id === id ? { ...row, ...some } : row)));
  return (
    <fieldset className="grid content-start gap-1.5">
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      {rows.map((row) => (
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
          {note?.(row.name, row.text)}
        </div>
      ))}
      {problem && <p className="text-sm text-danger">{problem}</p>}
      <div>
        <Button
          small
          icon={Plus}
          onClick={() => {
            next.current += 1;
            setRows([...rows, { id: next.current, name: "", text: "" }]);
          }}
        >
          {add}
        </Button>
      </div>
    </fieldset>
  );
}
