// The value that a parameter has when nobody says another, or always, where it is pinned; and values of a type as they are typed.

import { useState } from "react";
import { useTranslation } from "react-i18next";
import { writeExact } from "../../exact";
import { Input } from "../../ui/field";
import { parseJson, parseNumber, type Schema } from "../../ui/schema";
import { isPinned } from "./pinned";

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

export const shown = (value: unknown) =>
  value === undefined ? "" : typeof value === "string" ? value : writeExact(value);

type DefaultProps = {
  label: string;
  schema: Schema;
  unread: string | undefined;
  onChange: (some: { schema: Schema; unreadDefault: string | undefined }) => void;
};

export function DefaultValue({ label, schema, unread, onChange }: DefaultProps) {
  const { t } = useTranslation("editor");
  const key = isPinned(schema) ? "const" : "default";
  const stored = schema[key] ?? undefined;
  const [typed, setTyped] = useState(unread ?? shown(stored));
  const read = (text: string) => (text === "" ? undefined : typedValue(text, schema));
  // What was typed is shown as long as it says what is there: `1.50` is 1.5.
  const isShown = unread === undefined ? writeExact(read(typed)) === writeExact(stored) : typed === unread;
  const text = isShown ? typed : (unread ?? shown(stored));
  return (
    <Input
      aria-label={label}
      aria-invalid={unread === undefined ? undefined : true}
      title={unread === undefined ? undefined : t("parameters.notOfType", { values: unread })}
      placeholder={t(key === "const" ? "parameters.pinnedValue" : "parameters.default")}
      className="font-mono"
      value={text}
      onChange={({ target }) => {
        setTyped(target.value);
        const value = read(target.value);
        onChange({
          // What is pinned to nothing stays pinned.
          schema: withMember(schema, key, key === "const" ? (value ?? null) : value),
          unreadDefault: target.value !== "" && value === undefined ? target.value : undefined,
        });
      }}
    />
  );
}
