// A form made from a JSON schema, and the same arguments as JSON. What it hands on is exactly what will be sent.

import { useCallback, useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Problem } from "../api/errors";
import { Button } from "./button";
import { Code } from "./code";
import { parseJson, problemAt, type Schema } from "./schema";
import { FormContext, SchemaFields } from "./schema-fields";

export type Values = Record<string, unknown>;

type Props = {
  schema: Schema;
  value: Values;
  /** `ok` is false while something that was typed is no value: then nothing may be sent. */
  onChange: (value: Values, ok: boolean) => void;
  /** What the server said of the values, by place (`a[0].b`). */
  problems?: Problem[];
};

export function SchemaForm({ schema, value, onChange, problems }: Props) {
  const { t } = useTranslation("form");
  const [raw, setRaw] = useState(false);
  const bad = useRef(new Set<string>());
  const now = useRef(value);
  now.current = value;
  const tell = useCallback((next: Values) => onChange(next, bad.current.size === 0), [onChange]);
  const report = useCallback(
    (place: string, isBad: boolean) => {
      if (bad.current.has(place) === isBad) return;
      if (isBad) bad.current.add(place);
      else bad.current.delete(place);
      onChange(now.current, bad.current.size === 0);
    },
    [onChange],
  );
  const none = Object.keys(schema.properties ?? {}).length === 0;
  const whole = problemAt(problems, "");
  return (
    <div className="grid gap-3">
      <div className="flex items-center justify-end">
        <Button small look="quiet" aria-pressed={raw} onClick={() => setRaw(!raw)}>
          {raw ? t("asForm") : t("asJson")}
        </Button>
      </div>
      {whole && <p className="text-sm text-danger">{whole}</p>}
      {raw ? (
        <RawJson value={value} onChange={tell} report={report} />
      ) : none ? (
        <p className="text-muted">{t("noArguments")}</p>
      ) : (
        <FormContext value={{ root: schema, problems, report }}>
          <SchemaFields schema={schema} value={value} onChange={tell} place="" />
        </FormContext>
      )}
    </div>
  );
}

type RawProps = { value: Values; onChange: (value: Values) => void; report: (place: string, isBad: boolean) => void };

function RawJson({ value, onChange, report }: RawProps) {
  const { t } = useTranslation("form");
  const [text, setText] = useState(() => JSON.stringify(value, null, 2));
  const [wrong, setWrong] = useState("");
  const told = useRef(value);
  // Another value than the one that was typed here came from outside: it is shown instead.
  useEffect(() => {
    if (told.current === value) return;
    told.current = value;
    setText(JSON.stringify(value, null, 2));
    setWrong("");
    report("raw", false);
  }, [value, report]);
  useEffect(() => () => report("raw", false), [report]);
  const change = (next: string) => {
    setText(next);
    const parsed = parseJson(next);
    if ("wrong" in parsed) {
      setWrong(parsed.wrong === "rounded" ? t("rounded", { number: parsed.at }) : t("notJson", { why: parsed.at }));
      return report("raw", true);
    }
    if (typeof parsed.value !== "object" || parsed.value === null || Array.isArray(parsed.value)) {
      setWrong(t("notObject"));
      return report("raw", true);
    }
    setWrong("");
    told.current = parsed.value as Values;
    report("raw", false);
    onChange(told.current);
  };
  return (
    <div className="grid gap-1">
      <Code language="json" label={t("argumentsAsJson")} value={text} onChange={change} className="min-h-40" />
      {wrong && (
        <p role="alert" className="text-sm text-danger">
          {wrong}
        </p>
      )}
    </div>
  );
}
