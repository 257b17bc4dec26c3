// The arguments of a form as JSON. There once somebody asks for it: see `SchemaForm`.

import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { writeExact } from "../exact";
import { Code } from "./code";
import { isSame, parseJson } from "./schema";
import type { Values } from "./schema-form";

type Props = { value: Values; onChange: (value: Values) => void; report: (place: string, isBad: boolean) => void };

export default function SchemaJson({ value, onChange, report }: Props) {
  const { t } = useTranslation("form");
  const [text, setText] = useState(() => writeExact(value, 2));
  const [wrong, setWrong] = useState("");
  const told = useRef(value);
  // Another value than the one that was typed here came from outside: it is shown instead.
  useEffect(() => {
    const isKnown = isSame(told.current, value);
    told.current = value;
    if (isKnown) return;
    setText(writeExact(value, 2));
    setWrong("");
    report("raw", false);
  }, [value, report]);
  useEffect(() => () => report("raw", false), [report]);
  const change = (next: string) => {
    setText(next);
    const parsed = parseJson(next);
    if ("wrong" in parsed) {
      setWrong(t("notJson", { why: parsed.at }));
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
