// What the fields of a form made from a schema share: where they stand, what they say about themselves, whether they are sent.

import { createContext, useContext, useRef } from "react";
import { useTranslation } from "react-i18next";
import type { Problem } from "../api/errors";
import { writeExact } from "../exact";
import { Select } from "./field";
import { problemAt, type Schema, type Shape, startOf } from "./schema";

type Context = { root: Schema; problems?: Problem[]; report: (place: string, isBad: boolean) => void };

export const Form = createContext<Context>({ root: {}, report: () => {} });

export type FieldProps = {
  name: string;
  shape: Shape;
  required: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
  place: string;
  /** An item of a list cannot be left out. */
  isItem?: boolean;
};

export function useAbout({ schema }: Shape) {
  const { t } = useTranslation("form");
  const bounds = [
    schema.minimum !== undefined && t("atLeast", { value: schema.minimum }),
    schema.maximum !== undefined && t("atMost", { value: schema.maximum }),
    schema.default !== undefined && t("default", { value: writeExact(schema.default) }),
  ].filter(Boolean);
  return [schema.description, bounds.join(" · ")].filter(Boolean).join(" — ") || undefined;
}

/** Left out, given or null, for fields that may be so. What was given is there again once it is to be sent after all. */
export function State({ name, shape, required, value, onChange }: FieldProps) {
  const { t } = useTranslation("form");
  const last = useRef<unknown>(undefined);
  if (value !== undefined && value !== null) last.current = value;
  if (required && !shape.nullable) return null;
  return (
    <Select
      aria-label={t("howSent", { name })}
      className="h-6! w-auto! shrink-0 py-0 text-xs"
      value={value === undefined ? "omit" : value === null ? "null" : "given"}
      onChange={(event) => {
        const chosen = event.target.value;
        onChange(chosen === "omit" ? undefined : chosen === "null" ? null : (last.current ?? startOf(shape)));
      }}
    >
      {(!required || value === undefined) && <option value="omit">{t("leftOut")}</option>}
      <option value="given">{t("given")}</option>
      {shape.nullable && <option value="null">null</option>}
    </Select>
  );
}

export function useProblem(place: string, own?: string) {
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

export function Label({ name, shape }: Pick<FieldProps, "name" | "shape">) {
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
