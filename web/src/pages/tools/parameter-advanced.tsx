// What else can be said of an argument: what it may be, how large, and whether it is a secret.

import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Check, Field, Input, Select } from "../../ui/field";
import { Lines } from "../../ui/lines";
import { parseJson, parseNumber, type Schema } from "../../ui/schema";
import { JsonText, type Read } from "./json-text";

type Props = { schema: Schema; onChange: (schema: Schema) => void };

export function withMember(schema: Schema, key: string, value: unknown): Schema {
  const { [key]: _, ...others } = schema;
  return value === undefined ? others : { ...schema, [key]: value };
}

/** A text as a value of the type, or nothing where it is none. */
export function typedValue(text: string, schema: Schema): unknown {
  if (schema.type === "string") return text;
  if (schema.type === "number" || schema.type === "integer") {
    const parsed = parseNumber(text, schema.type === "integer");
    return "value" in parsed ? parsed.value : undefined;
  }
  const parsed = parseJson(text);
  return "value" in parsed ? parsed.value : undefined;
}

const shown = (value: unknown) =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);

export function DefaultValue({ label, schema, onChange }: Props & { label: string }) {
  const { t } = useTranslation("editor");
  const [text, setText] = useState(shown(schema.default));
  const value = text === "" ? undefined : typedValue(text, schema);
  return (
    <Input
      aria-label={label}
      aria-invalid={text !== "" && value === undefined ? true : undefined}
      placeholder={t("parameters.default")}
      className="font-mono"
      value={text}
      onChange={(event) => {
        setText(event.target.value);
        onChange(
          withMember(schema, "default", event.target.value === "" ? undefined : typedValue(event.target.value, schema)),
        );
      }}
    />
  );
}

type AdvancedProps = Props & { name: string; unread: string | undefined; onText: (read: Read) => void };

export function Advanced({ name, schema, unread, onChange, onText }: AdvancedProps) {
  const { t } = useTranslation("editor");
  // Only to begin with: it must not close over whoever has just mended it.
  const [beginsOpen] = useState(unread !== undefined);
  const isNumber = schema.type === "number" || schema.type === "integer";
  const isText = schema.type === "string";
  const bound = (key: string, label: string) => (
    <Field label={label}>
      {(told) => (
        <Input
          {...told}
          type="number"
          step="any"
          value={shown(schema[key])}
          onChange={(event) =>
            onChange(withMember(schema, key, event.target.value ? Number(event.target.value) : undefined))
          }
        />
      )}
    </Field>
  );
  return (
    <div className="mt-3 grid gap-3 border-t pt-3 md:grid-cols-3">
      {(isNumber || isText) && (
        <Lines
          label={t("parameters.enum")}
          hint={t("parameters.enumHint")}
          value={(schema.enum ?? []).map(shown)}
          onChange={(lines) => {
            const values = lines.map((line) => typedValue(line, schema)).filter((one) => one !== undefined);
            onChange(withMember(schema, "enum", values.length > 0 ? values : undefined));
          }}
        />
      )}
      {isNumber && bound("minimum", t("parameters.minimum"))}
      {isNumber && bound("maximum", t("parameters.maximum"))}
      {isText && (
        <div className="grid gap-3">
          {bound("minLength", t("parameters.minLength"))}
          {bound("maxLength", t("parameters.maxLength"))}
        </div>
      )}
      {isText && (
        <Field label={t("parameters.pattern")}>
          {(told) => (
            <Input
              {...told}
              className="font-mono"
              spellCheck={false}
              value={shown(schema.pattern)}
              onChange={(event) => onChange(withMember(schema, "pattern", event.target.value || undefined))}
            />
          )}
        </Field>
      )}
      {schema.type === "array" && (
        <Field label={t("parameters.items")}>
          {(told) => (
            <Select
              {...told}
              value={String((schema.items as Schema | undefined)?.type ?? "")}
              onChange={(event) =>
                onChange({ ...schema, items: event.target.value ? { type: event.target.value } : {} })
              }
            >
              <option value="">{t("parameters.any")}</option>
              {["string", "number", "integer", "boolean", "object"].map((type) => (
                <option key={type} value={type}>
                  {type}
                </option>
              ))}
            </Select>
          )}
        </Field>
      )}
      <Check
        label={t("parameters.secret")}
        checked={schema["x-secret"] === true}
        onChange={(event) => onChange(withMember(schema, "x-secret", event.target.checked || undefined))}
      />
      <details className="md:col-span-3" open={beginsOpen || undefined}>
        <summary className="text-sm">{t("parameters.asSchema")}</summary>
        <JsonText
          object
          label={t("parameters.of", { what: t("parameters.asSchema"), name })}
          value={schema}
          unread={unread}
          className="mt-2"
          onChange={onText}
        />
      </details>
    </div>
  );
}
