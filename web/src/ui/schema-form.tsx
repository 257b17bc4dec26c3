// A form made from a JSON schema, and the same arguments as JSON. What it hands on is exactly what will be sent.

import { lazy, Suspense, useCallback, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Problem } from "../api/errors";
import { Button } from "./button";
import { problemAt, type Schema } from "./schema";
import { FormContext, SchemaFields } from "./schema-fields";
import { Skeleton } from "./states";

const SchemaJson = lazy(() => import("./schema-json"));

export type Values = Record<string, unknown>;

type Props = {
  schema: Schema;
  value: Values;
  /** `ok` is false while something that was typed is no value: then nothing may be sent. */
  onChange: (value: Values, ok: boolean) => void;
  /** What the server said of the values, by place (`a[0].b`). */
  problems?: Problem[];
  /** Small fields beside each other, for a few values. */
  isCompact?: boolean;
};

export function SchemaForm({ schema, value, onChange, problems, isCompact }: Props) {
  const { t } = useTranslation("form");
  const [raw, setRaw] = useState(false);
  const [isStuck, setStuck] = useState(false);
  const bad = useRef(new Set<string>());
  // Fields report in effects: an `onChange` that is another one each time must not set them off again.
  const now = useRef({ value, onChange });
  now.current = { value, onChange };
  const tell = useCallback((next: Values) => now.current.onChange(next, bad.current.size === 0), []);
  const report = useCallback((place: string, isBad: boolean) => {
    if (bad.current.has(place) === isBad) return;
    if (isBad) bad.current.add(place);
    else bad.current.delete(place);
    if (bad.current.size === 0) setStuck(false);
    now.current.onChange(now.current.value, bad.current.size === 0);
  }, []);
  // What is no value yet is nowhere but in its field.
  const turn = () => (bad.current.size > 0 ? setStuck(true) : setRaw(!raw));
  const none = Object.keys(schema.properties ?? {}).length === 0;
  const whole = problemAt(problems, "");
  return (
    <div className="grid gap-3">
      {!isCompact && (
        <div className="flex items-center justify-end gap-2">
          {isStuck && (
            <p role="alert" className="text-sm text-danger">
              {t("mendFirst")}
            </p>
          )}
          <Button small look="quiet" aria-pressed={raw} onClick={turn}>
            {raw ? t("asForm") : t("asJson")}
          </Button>
        </div>
      )}
      {whole && <p className="text-sm text-danger">{whole}</p>}
      {raw ? (
        <Suspense fallback={<Skeleton rows={3} />}>
          <SchemaJson value={value} onChange={tell} report={report} />
        </Suspense>
      ) : none ? (
        <p className="text-muted">{t("noArguments")}</p>
      ) : (
        <FormContext value={{ root: schema, problems, report }}>
          <SchemaFields
            schema={schema}
            value={value}
            onChange={tell}
            place=""
            className={isCompact ? "grid gap-3 sm:grid-cols-2 lg:grid-cols-3" : undefined}
          />
        </FormContext>
      )}
    </div>
  );
}
