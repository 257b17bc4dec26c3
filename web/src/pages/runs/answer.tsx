// An answer that is JSON, as people read it: rows as a table, an object as a list of what it holds; its text on demand.

import { Braces } from "lucide-react";
import { type ReactNode, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { readExact, writeExact } from "../../exact";
import { Button } from "../../ui/button";
import { RowTable, rowsOf } from "../../ui/row-table";

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** JSON that says more than a word: what is a number or a text reads well as it is. */
export function dataIn(text: string): { data: unknown } | undefined {
  const trimmed = text.trim();
  if (trimmed !== "null" && !/^[[{]/.test(trimmed)) return undefined;
  try {
    return { data: readExact(trimmed) as unknown };
  } catch {
    return undefined;
  }
}

const shown = (value: unknown) => (typeof value === "string" ? value : writeExact(value));

function Shaped({ data }: { data: unknown }) {
  const { t } = useTranslation("runs");
  if (data === null) return <p className="text-muted">{t("nothing")}</p>;
  if (Array.isArray(data) && data.length === 0) return <p className="text-muted">{t("emptyList")}</p>;
  const inside = isObject(data) ? Object.values(data) : [];
  const rows = rowsOf(inside.length === 1 && Array.isArray(inside[0]) ? inside[0] : Array.isArray(data) ? data : null);
  if (rows) return <RowTable {...rows} label={t("call.result")} />;
  if (Array.isArray(data))
    return (
      <ul className="list-disc pl-5">
        {data.map((one, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry is its place
          <li key={at}>{shown(one)}</li>
        ))}
      </ul>
    );
  return (
    <dl className="grid w-fit max-w-full grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
      {Object.entries(data as Record<string, unknown>).map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="font-mono text-sm text-muted">{name}</dt>
          <dd className={`wrap-anywhere ${value === null ? "text-muted italic" : ""}`}>{shown(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** `children` is how it is shown where it is no JSON. */
export function Answer({ text, children }: { text: string; children: ReactNode }) {
  const { t } = useTranslation("runs");
  const found = useMemo(() => dataIn(text), [text]);
  const [isRaw, setRaw] = useState(false);
  if (!found) return children;
  return (
    <div className="grid gap-1">
      {isRaw ? (
        <pre className="max-h-96 overflow-auto rounded-md border bg-sunken p-3 text-sm whitespace-pre-wrap">
          {writeExact(found.data, 2)}
        </pre>
      ) : (
        <Shaped data={found.data} />
      )}
      <div>
        <Button small look="quiet" icon={Braces} aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
          {t(isRaw ? "readable" : "raw")}
        </Button>
      </div>
    </div>
  );
}
