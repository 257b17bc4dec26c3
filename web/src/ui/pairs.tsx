// Names with values that are kept sealed: what is stored is only shown as a mask, which keeps it when it is sent back.

import { Plus, RotateCcw, Trash2 } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "./button";
import { Input } from "./field";

export type Mask = { set: boolean; last4?: string | null };
export type Pair = { id: number; name: string; value: string | Mask; kept?: Mask };

// Rows that were kept from another time have numbers, too.
let last = Date.now();
const fresh = (name: string, value: string | Mask): Pair => {
  last += 1;
  return { id: last, name, value, kept: typeof value === "string" ? undefined : value };
};

export const pairsOf = (stored: Record<string, string | Mask> | null | undefined): Pair[] =>
  Object.entries(stored ?? {}).map(([name, value]) => fresh(name, value));

/** What is sent: rows without a name are left out. */
export const storedOf = (pairs: Pair[]): Record<string, string | Mask> =>
  Object.fromEntries(pairs.filter((pair) => pair.name.trim()).map((pair) => [pair.name.trim(), pair.value]));

/** A value that was typed in full is a secret, and what is stored stands in its place; a mask or a reference to a variable is none. */
export const unlessTyped = (value: string | Mask, stored: string | Mask = ""): string | Mask =>
  typeof value === "string" && value !== "" && !/^\$\{[^}]*\}$/.test(value) ? stored : value;

export const masked = (mask: Mask) => `••••${mask.last4 ?? ""}`;

type Props = {
  label: string;
  hint?: string;
  problem?: string;
  addLabel: string;
  pairs: Pair[];
  onChange: (pairs: Pair[]) => void;
  namePlaceholder?: string;
  valuePlaceholder?: string;
};

export function Pairs({ label, hint, problem, addLabel, pairs, onChange, namePlaceholder, valuePlaceholder }: Props) {
  const { t } = useTranslation();
  const set = (id: number, change: Partial<Pair>) =>
    onChange(pairs.map((pair) => (pair.id === id ? { ...pair, ...change } : pair)));
  return (
    <fieldset className="grid gap-1.5">
      <legend className="mb-1 text-sm font-medium">{label}</legend>
      {pairs.map((pair) => (
        <div key={pair.id} className="flex items-center gap-2">
          <Input
            aria-label={`${label}: ${t("name")}`}
            className="max-w-56 font-mono"
            value={pair.name}
            placeholder={namePlaceholder}
            spellCheck={false}
            onChange={(event) => set(pair.id, { name: event.target.value })}
          />
          {typeof pair.value === "string" ? (
            <Input
              aria-label={`${label}: ${t("value")} ${pair.name}`}
              className="font-mono"
              value={pair.value}
              placeholder={valuePlaceholder}
              spellCheck={false}
              autoComplete="off"
              onChange={(event) => set(pair.id, { value: event.target.value })}
            />
          ) : (
            <span className="flex h-8 grow items-center rounded-md bg-sunken px-2.5 font-mono whitespace-nowrap text-muted">
              {masked(pair.value)}
            </span>
          )}
          {typeof pair.value !== "string" && (
            <Button small look="quiet" onClick={() => set(pair.id, { value: "" })}>
              {t("replace")}
            </Button>
          )}
          {typeof pair.value === "string" && pair.kept && (
            <IconButton
              small
              icon={RotateCcw}
              label={t("keepStored")}
              onClick={() => set(pair.id, { value: pair.kept })}
            />
          )}
          <IconButton
            small
            icon={Trash2}
            label={pair.name ? t("deleteOne", { name: pair.name }) : t("delete")}
            onClick={() => onChange(pairs.filter((one) => one.id !== pair.id))}
          />
        </div>
      ))}
      {problem && <p className="text-sm text-danger">{problem}</p>}
      <div className="flex flex-wrap items-center gap-x-3">
        <Button small look="plain" icon={Plus} onClick={() => onChange([...pairs, fresh("", "")])}>
          {addLabel}
        </Button>
        {hint && <span className="text-xs text-muted">{hint}</span>}
      </div>
    </fieldset>
  );
}
