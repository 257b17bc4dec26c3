// What else can be said of an argument: what it may be, how large, and whether it is a secret. Loaded when somebody opens it.

import { useState } from "react";
import { useTranslation } from "react-i18next";
import { writeExact } from "../../exact";
import { Check, Field, Input, Select } from "../../ui/field";
import { Lines } from "../../ui/lines";
import { parseNumber, type Schema } from "../../ui/schema";
import { JsonText, type Read } from "./json-text";
import { shown, typedValue, withMember } from "./parameter-default";
import { isPinned, pinned } from "./pinned";

type Props = { schema: Schema; onChange: (schema: Schema) => void };

type EnumProps = {
  schema: Schema;
  unread: string[] | undefined;
  onChange: (some: { schema: Schema; unreadEnum: string[] | undefined }) => void;
};

/** The values it may have. What is no value of the type, such as half a number, stays in sight. */
function EnumValues({ schema, unread, onChange }: EnumProps) {
  const { t } = useTranslation("editor");
  const stored = schema.enum ?? [];
  const [typed, setTyped] = useState(() => unread ?? stored.map(shown));
  const valuesOf = (lines: string[]) =>
    lines.map((line) => typedValue(line, schema)).filter((one) => one !== undefined);
  const lines = writeExact(valuesOf(typed)) === writeExact(stored) ? typed : stored.map(shown);
  const wrong = lines.filter((line) => typedValue(line, schema) === undefined);
  return (
    <Lines
      label={t("parameters.enum")}
      hint={t("parameters.enumHint")}
      problem={wrong.length > 0 && t("parameters.notOfType", { values: wrong.join(", ") })}
      value={lines}
      onChange={(next) => {
        setTyped(next);
        const values = valuesOf(next);
        const isRead = values.length === next.length;
        // What is none stays as it was typed: it must not be left out by saving.
        onChange({
          schema: withMember(schema, "enum", values.length > 0 ? values : undefined),
          unreadEnum: isRead ? undefined : next,
        });
      }}
    />
  );
}

/** The browser's field takes ways to write a number that JSON has not. */
function boundOf(text: string) {
  const parsed = parseNumber(text, false);
  return "value" in parsed ? parsed.value : Number(text);
}

type AdvancedProps = Props & {
  name: string;
  unread: string | undefined;
  unreadEnum?: string[];
  onText: (read: Read) => void;
  onEnum: EnumProps["onChange"];
};

export function Advanced({ name, schema, unread, unreadEnum, onChange, onText, onEnum }: AdvancedProps) {
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
            onChange(withMember(schema, key, event.target.value ? boundOf(event.target.value) : undefined))
          }
        />
      )}
    </Field>
  );
  return (
    <div className="mt-3 grid gap-3 border-t pt-3 md:grid-cols-3">
      {(isNumber || isText) && (
        <EnumValues key={String(schema.type)} schema={schema} unread={unreadEnum} onChange={onEnum} />
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
      <Check
        label={t("parameters.pinned")}
        checked={isPinned(schema)}
        onChange={(event) => onChange(pinned(schema, event.target.checked))}
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
