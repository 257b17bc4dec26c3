// The fields of a form made from a schema. A field that may be left out says whether it is: nothing, an empty text and null
// are three different things to a tool.

import { Plus, Trash2 } from "lucide-react";
import { createContext, useContext, useEffect, useId, useState } from "react";
import { useTranslation } from "react-i18next";
import type { Problem } from "../api/errors";
import { writeExact } from "../exact";
import { Button, IconButton } from "./button";
import { Field, Input, Select, TextArea } from "./field";
import {
  isSecret,
  parseJson,
  parseNumber,
  placeOf,
  problemAt,
  type Schema,
  type Shape,
  shapeOf,
  startOf,
} from "./schema";

type Context = { root: Schema; problems?: Problem[]; report: (place: string, isBad: boolean) => void };

const Form = createContext<Context>({ root: {}, report: () => {} });
export const FormContext = Form.Provider;

type Values = Record<string, unknown>;
type ObjectProps = {
  schema: Schema;
  value: unknown;
  onChange: (value: Values) => void;
  place: string;
  className?: string;
};

const isValues = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export function SchemaFields({ schema, value, onChange, place, className = "grid gap-4" }: ObjectProps) {
  const { t } = useTranslation("form");
  const { root } = useContext(Form);
  const values = isValues(value) ? value : {};
  const properties = schema.properties ?? {};
  const set = (name: string, next: unknown) => {
    const { [name]: _, ...others } = values;
    onChange(next === undefined ? others : { ...values, [name]: next });
  };
  const others = Object.keys(values).filter((name) => !(name in properties));
  return (
    <div className={className}>
      {Object.entries(properties).map(([name, given]) => (
        <SchemaField
          key={name}
          name={name}
          shape={shapeOf(given, root)}
          required={schema.required?.includes(name) ?? false}
          value={values[name]}
          onChange={(next) => set(name, next)}
          place={placeOf(place, name)}
        />
      ))}
      {others.length > 0 && <p className="text-sm text-muted">{t("others", { names: others.join(", ") })}</p>}
    </div>
  );
}

type FieldProps = {
  name: string;
  shape: Shape;
  required: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
  place: string;
};

function SchemaField(props: FieldProps) {
  if (props.value !== null && props.value !== undefined && !fits(props.shape, props.value))
    return <JsonField {...props} />;
  switch (props.shape.kind) {
    case "text":
      return <TextValue {...props} />;
    case "number":
    case "integer":
      return <NumberValue {...props} />;
    case "boolean":
    case "choice":
      return <ChoiceValue {...props} />;
    case "object":
    case "array":
      return <NestedValue {...props} />;
    default:
      return <JsonField {...props} />;
  }
}

/** A value that its field cannot show stays what it is, and is shown as JSON. */
function fits({ kind }: Shape, value: unknown): boolean {
  if (kind === "text") return typeof value === "string";
  if (kind === "number" || kind === "integer") return typeof value === "number" || typeof value === "bigint";
  if (kind === "array") return Array.isArray(value);
  return kind !== "object" || isValues(value);
}

function useAbout({ schema }: Shape) {
  const { t } = useTranslation("form");
  const bounds = [
    schema.minimum !== undefined && t("atLeast", { value: schema.minimum }),
    schema.maximum !== undefined && t("atMost", { value: schema.maximum }),
    schema.default !== undefined && t("default", { value: writeExact(schema.default) }),
  ].filter(Boolean);
  return [schema.description, bounds.join(" · ")].filter(Boolean).join(" — ") || undefined;
}

/** Left out, given or null, for fields that may be so. */
function State({ name, shape, required, value, onChange }: FieldProps) {
  const { t } = useTranslation("form");
  if (required && !shape.nullable) return null;
  return (
    <Select
      aria-label={t("howSent", { name })}
      className="h-6! w-auto! shrink-0 py-0 text-xs"
      value={value === undefined ? "omit" : value === null ? "null" : "given"}
      onChange={(event) => {
        const chosen = event.target.value;
        onChange(chosen === "omit" ? undefined : chosen === "null" ? null : startOf(shape));
      }}
    >
      {(!required || value === undefined) && <option value="omit">{t("leftOut")}</option>}
      <option value="given">{t("given")}</option>
      {shape.nullable && <option value="null">null</option>}
    </Select>
  );
}

function useProblem(place: string, own?: string) {
  const { problems } = useContext(Form);
  return own || problemAt(problems, place);
}

/** As JSON schema calls it. */
const typeName = ({ kind, schema }: Shape) =>
  kind === "text"
    ? "string"
    : kind === "json"
      ? Array.isArray(schema.type)
        ? schema.type.join(" | ")
        : (schema.type ?? "any")
      : kind;

function Label({ name, shape }: Pick<FieldProps, "name" | "shape">) {
  const { t } = useTranslation("form");
  const type = typeName(shape);
  return (
    <>
      <span className="font-mono">{name}</span>{" "}
      <span className="ml-1 text-xs font-normal text-muted" title={type}>
        {t(`type.${type as "string"}`, { defaultValue: type })}
      </span>
    </>
  );
}

function TextValue(props: FieldProps) {
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

function NumberValue(props: FieldProps) {
  const { t } = useTranslation("form");
  const { name, shape, required, value, onChange, place } = props;
  const { report } = useContext(Form);
  const shown = typeof value === "number" || typeof value === "bigint" ? String(value) : "";
  const [text, setText] = useState(shown);
  const [wrong, setWrong] = useState("");
  // What somebody is typing ("1.", "1e") is theirs until it is a number; another value from outside replaces it.
  const [seen, setSeen] = useState(value);
  if (seen !== value) {
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
    if (next.trim() === "") {
      setWrong("");
      setSeen(undefined);
      return onChange(undefined);
    }
    const parsed = parseNumber(next, shape.kind === "integer");
    if ("wrong" in parsed) return setWrong(t(parsed.wrong === "whole" ? "whole" : "number"));
    setWrong("");
    setSeen(parsed.value);
    onChange(parsed.value);
  };
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

function ChoiceValue({ name, shape, required, value, onChange, place }: FieldProps) {
  const { t } = useTranslation("form");
  const choices = shape.kind === "boolean" ? [true, false] : (shape.schema.enum ?? []).filter((one) => one !== null);
  const all = shape.nullable ? [...choices, null] : choices;
  const at = all.findIndex((one) => writeExact(one) === writeExact(value));
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
          value={at}
          onChange={(event) => onChange(event.target.value === "-1" ? undefined : all[Number(event.target.value)])}
        >
          {(at < 0 || !required) && <option value={-1}>{required ? t("choose") : t("leftOut")}</option>}
          {all.map((one, index) => (
            <option key={writeExact(one)} value={index}>
              {typeof one === "string" ? one : writeExact(one)}
            </option>
          ))}
        </Select>
      )}
    </Field>
  );
}

function NestedValue(props: FieldProps) {
  const { name, shape, required, value, onChange, place } = props;
  const id = useId();
  const about = useAbout(shape);
  const problem = useProblem(place);
  const shown = value !== undefined && value !== null;
  return (
    <fieldset aria-describedby={about ? id : undefined} className="rounded-md border p-3">
      <legend className="px-1 text-sm font-medium">
        <Label {...{ name, shape }} />
        {required && (
          <span aria-hidden className="text-danger">
            {" *"}
          </span>
        )}
      </legend>
      <div className="grid gap-3">
        <div className="flex items-start gap-2">
          <p id={id} className="grow text-xs text-muted">
            {about}
          </p>
          <State {...props} />
        </div>
        {problem && <p className="text-sm text-danger">{problem}</p>}
        {shape.kind === "array"
          ? (shown || required) && (
              <Items shape={shape} value={Array.isArray(value) ? value : []} onChange={onChange} place={place} />
            )
          : (shown || required) && (
              <SchemaFields schema={shape.schema} value={value} onChange={onChange} place={place} />
            )}
      </div>
    </fieldset>
  );
}

type ItemsProps = { shape: Shape; value: unknown[]; onChange: (value: unknown[]) => void; place: string };

function Items({ shape, value, onChange, place }: ItemsProps) {
  const { t } = useTranslation("form");
  const { root } = useContext(Form);
  const item = shapeOf(shape.schema.items, root);
  return (
    <>
      {value.map((one, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: items are told apart by their place
        <div key={at} className="flex items-start gap-2">
          <div className="min-w-0 grow">
            <SchemaField
              name={String(at + 1)}
              shape={item}
              required
              value={one}
              onChange={(next) => onChange(value.with(at, next === undefined ? startOf(item) : next))}
              place={placeOf(place, at)}
            />
          </div>
          <IconButton
            small
            icon={Trash2}
            label={t("removeItem", { number: at + 1 })}
            onClick={() => onChange(value.toSpliced(at, 1))}
          />
        </div>
      ))}
      <div>
        <Button small icon={Plus} onClick={() => onChange([...value, startOf(item)])}>
          {t("addItem")}
        </Button>
      </div>
    </>
  );
}

function JsonField(props: FieldProps) {
  const { t } = useTranslation("form");
  const { name, shape, required, value, onChange, place } = props;
  const { report } = useContext(Form);
  const shown = value === undefined ? "" : writeExact(value, 2);
  const [text, setText] = useState(shown);
  const [wrong, setWrong] = useState("");
  const [seen, setSeen] = useState(value);
  if (seen !== value) {
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
    if (next.trim() === "") {
      setWrong("");
      setSeen(undefined);
      return onChange(undefined);
    }
    const parsed = parseJson(next);
    if ("wrong" in parsed) return setWrong(t("notJson", { why: parsed.at }));
    setWrong("");
    setSeen(parsed.value);
    onChange(parsed.value);
  };
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
          onChange={(event) => change(event.target.value)}
        />
      )}
    </Field>
  );
}
