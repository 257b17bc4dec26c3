// The fields of a form made from a schema that hold one value: a text, a number, a choice, or anything as JSON.

import { useContext, useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { writeExact } from "../exact";
import { Field, Input, Select, TextArea } from "./field";
import { isSame, isSecret, type Parsed, parseJson, parseNumber } from "./schema";
import { type FieldProps, Form, Label, State, useAbout, useProblem } from "./schema-parts";

export function TextValue(props: FieldProps) {
  const { t } = useTranslation("form");
  const { name, shape, required, value, onChange, place } = props;
  const text = typeof value === "string" ? value : "";
  const empty = value === "" ? t("emptyText") : value === null ? "null" : undefined;
  return (
    <div className="relative [&>div>label]:min-h-6.5">
      <Field
        label={<Label {...{ name, shape }} />}
        required={required}
        hint={[useAbout(shape), isSecret(shape.schema) && t("secret"), empty].filter(Boolean).join(" — ") || undefined}
        problem={useProblem(place)}
      >
        {(told) => (
          <TextArea
            {...told}
            rows={Math.min(8, text.split("\n").length)}
            aria-required={required}
            // A field for passwords would lose the line ends of a key.
            className={`min-h-8! resize-y py-1! ${isSecret(shape.schema) ? "[-webkit-text-security:disc]" : ""}`}
            autoComplete="off"
            spellCheck={false}
            value={text}
            placeholder={value === undefined && !required ? t("leftOut") : undefined}
            onChange={(event) => onChange(event.target.value)}
          />
        )}
      </Field>
      <div className="absolute top-0 right-0">
        <State {...props} />
      </div>
    </div>
  );
}

/**
 * What somebody is typing ("1.", "[1") is theirs until it is a value; another value from outside replaces it. Values are compared
 * by what they say: whoever holds them may make them anew each time.
 */
function useWritten(
  { value, onChange, place, isItem }: FieldProps,
  shown: string,
  parse: (text: string) => Parsed,
  tell: (parsed: Exclude<Parsed, { value: unknown }>) => string,
) {
  const { report } = useContext(Form);
  const [text, setText] = useState(shown);
  const [wrong, setWrong] = useState("");
  const [seen, setSeen] = useState(value);
  if (!isSame(seen, value)) {
    setSeen(value);
    setText(shown);
    setWrong("");
  }
  useEffect(() => {
    report(place, wrong !== "");
    return () => report(place, false);
  }, [place, wrong, report]);
  const change = (next: string) => {
    setText(next);
    const parsed: Parsed = next.trim() === "" && !isItem ? { value: undefined } : parse(next);
    if ("wrong" in parsed) return setWrong(tell(parsed));
    setWrong("");
    setSeen(parsed.value);
    onChange(parsed.value);
  };
  return { text, wrong, change };
}

export function NumberValue(props: FieldProps) {
  const { t } = useTranslation("form");
  const { name, shape, required, value, place } = props;
  const { text, wrong, change } = useWritten(
    props,
    typeof value === "number" || typeof value === "bigint" ? String(value) : "",
    (typed) => parseNumber(typed, shape.kind === "integer"),
    ({ wrong }) => t(wrong === "whole" ? "whole" : "number"),
  );
  return (
    <div className="relative [&>div>label]:min-h-6.5">
      <Field
        label={<Label {...{ name, shape }} />}
        required={required}
        hint={useAbout(shape)}
        problem={useProblem(place, wrong)}
      >
        {(told) => (
          <Input
            {...told}
            inputMode="decimal"
            autoComplete="off"
            aria-required={required}
            className="tabular-nums"
            value={text}
            placeholder={value === null ? "null" : value === undefined && !required ? t("leftOut") : undefined}
            onChange={(event) => change(event.target.value)}
          />
        )}
      </Field>
      <div className="absolute top-0 right-0">
        <State {...props} />
      </div>
    </div>
  );
}

/** The place of a value that is none of those to choose from. */
const OTHER = -2;
const nameOf = (one: unknown) => (typeof one === "string" ? one : writeExact(one));

export function ChoiceValue({ name, shape, required, value, onChange, place }: FieldProps) {
  const { t } = useTranslation("form");
  const choices = shape.kind === "boolean" ? [true, false] : (shape.schema.enum ?? []).filter((one) => one !== null);
  const all = shape.nullable ? [...choices, null] : choices;
  const at = all.findIndex((one) => isSame(one, value));
  // What is none of the choices is sent all the same, and nobody is told that it is left out.
  const isOther = at < 0 && value !== undefined;
  return (
    <Field
      label={<Label {...{ name, shape }} />}
      required={required}
      hint={useAbout(shape)}
      problem={useProblem(place)}
    >
      {(told) => (
        <Select
          {...told}
          aria-required={required}
          value={isOther ? OTHER : at}
          onChange={(event) => {
            const chosen = Number(event.target.value);
            if (chosen !== OTHER) onChange(chosen < 0 ? undefined : all[chosen]);
          }}
        >
          {isOther && <option value={OTHER}>{t("noChoice", { value: nameOf(value) })}</option>}
          {((at < 0 && !isOther) || !required) && <option value={-1}>{required ? t("choose") : t("leftOut")}</option>}
          {all.map((one, index) => (
            <option key={writeExact(one)} value={index}>
              {nameOf(one)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

/** `onHold` is told whether somebody is at it, or has left something there that is no value. */
export function JsonField(props: FieldProps & { onHold?: (isHeld: boolean) => void }) {
  const { t } = useTranslation("form");
  const { name, shape, required, value, place, onHold } = props;
  const { text, wrong, change } = useWritten(
    props,
    value === undefined ? "" : writeExact(value, 2),
    parseJson,
    ({ at }) => t("notJson", { why: at }),
  );
  return (
    <Field
      label={<Label {...{ name, shape }} />}
      required={required}
      hint={[useAbout(shape), t("writeJson")].filter(Boolean).join(" — ")}
      problem={useProblem(place, wrong)}
    >
      {(told) => (
        <TextArea
          {...told}
          aria-required={required}
          className="font-mono"
          spellCheck={false}
          rows={Math.min(10, Math.max(2, text.split("\n").length))}
          value={text}
          placeholder={required ? undefined : t("leftOut")}
          onFocus={() => onHold?.(true)}
          onBlur={() => onHold?.(wrong !== "")}
          onChange={(event) => change(event.target.value)}
        />
      )}
    </Field>
  );
}
