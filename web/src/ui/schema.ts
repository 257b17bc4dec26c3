// What a JSON schema says of a field, and values as exact JSON: nothing is guessed, rounded or turned into a text.

import { readExact, writeExact } from "../exact";

export type Schema = {
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema | boolean;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples?: unknown[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  pattern?: string;
  format?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
  $ref?: string;
  $defs?: Record<string, Schema>;
  [more: string]: unknown;
};

export type FieldKind = "text" | "number" | "integer" | "boolean" | "choice" | "object" | "array" | "json";

/** A schema whose references are followed and whose "or null" is taken out of it. */
export type Shape = { kind: FieldKind; schema: Schema; nullable: boolean };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function followed(schema: Schema, root: Schema, depth = 0): Schema {
  if (typeof schema.$ref !== "string" || depth > 8) return schema;
  const found = schema.$ref
    .replace(/^#\/?/, "")
    .split("/")
    .filter(Boolean)
    .reduce<unknown>(
      (place, part) =>
        isObject(place) ? place[decodeURIComponent(part).replace(/~1/g, "/").replace(/~0/g, "~")] : undefined,
      root,
    );
  if (!schema.$ref.startsWith("#") || !isObject(found)) return schema;
  const { $ref: _, ...beside } = schema;
  return followed({ ...(found as Schema), ...beside }, root, depth + 1);
}

/** How a field of this schema is shown. What no field can hold is written as JSON. */
export function shapeOf(given: Schema | boolean | undefined, root: Schema): Shape {
  let schema = followed(isObject(given) ? (given as Schema) : {}, root);
  let nullable = false;
  const options = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(options)) {
    const real = options.map((one) => followed(one, root)).filter((one) => one.type !== "null");
    nullable = real.length < options.length;
    const { anyOf: _a, oneOf: _o, ...beside } = schema;
    if (real.length === 1) schema = { ...real[0], ...beside };
    else return { kind: "json", schema, nullable };
  }
  let type = schema.type;
  if (Array.isArray(type)) {
    nullable ||= type.includes("null");
    const real = type.filter((one) => one !== "null");
    if (real.length !== 1) return { kind: "json", schema, nullable };
    type = real[0];
  }
  if (Array.isArray(schema.enum) && schema.enum.length > 0) {
    nullable ||= schema.enum.includes(null);
    return { kind: "choice", schema, nullable };
  }
  const kinds: Record<string, FieldKind> = { string: "text", number: "number", integer: "integer", boolean: "boolean" };
  const plain = type ? kinds[type] : undefined;
  if (plain) return { kind: plain, schema, nullable };
  if (isObject(schema.properties) && (type === "object" || type === undefined))
    return { kind: "object", schema, nullable };
  if (type === "array" && isObject(schema.items)) return { kind: "array", schema, nullable };
  return { kind: "json", schema, nullable };
}

/** What the server hides wherever it is shown again. */
export const isSecret = (schema: Schema) =>
  schema["x-secret"] === true || schema.writeOnly === true || schema.format === "password";

/** What a field holds when somebody says that it is to be sent. */
export function startOf(shape: Shape): unknown {
  if (shape.schema.default !== undefined) return shape.schema.default;
  switch (shape.kind) {
    case "text":
      return "";
    case "boolean":
      return false;
    case "choice":
      return shape.schema.enum?.[0];
    case "object":
      return {};
    case "array":
      return [];
    case "number":
    case "integer":
      return shape.schema.minimum ?? 0;
    default:
      return null;
  }
}

/** What a form begins with: the defaults that the schema names. */
export function defaultsOf(schema: Schema): Record<string, unknown> {
  const all = Object.entries(schema.properties ?? {}).map(([name, given]) => [
    name,
    shapeOf(given, schema).schema.default,
  ]);
  return Object.fromEntries(all.filter(([, value]) => value !== undefined));
}

/** The first arguments to try: examples and defaults that the schema names, and nothing else. */
export function firstValue(schema: Schema): Record<string, unknown> {
  const first: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(schema.properties ?? {})) {
    const { schema: one, kind } = shapeOf(given, schema);
    const needed = schema.required?.includes(name);
    if (needed && one.default !== undefined) first[name] = one.default;
    else if (needed && Array.isArray(one.examples) && one.examples.length > 0) first[name] = one.examples[0];
    else if (needed && one.const !== undefined) first[name] = one.const;
    else if (needed && (kind === "array" || kind === "object")) first[name] = startOf(shapeOf(given, schema));
  }
  return first;
}

export type Parsed<T = unknown> = { value: T } | { wrong: "number" | "whole" | "json"; at?: string };

/** Whether two values are the same when they are sent. */
export const isSame = (one: unknown, other: unknown) => one === other || writeExact(one) === writeExact(other);

/** A number as JSON writes it. */
export function parseNumber(text: string, whole: boolean): Parsed<number | bigint> {
  const trimmed = text.trim();
  if (!/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(trimmed)) return { wrong: "number" };
  const value = readExact(trimmed) as number | bigint;
  if (typeof value === "bigint") return { value };
  if (!Number.isFinite(value)) return { wrong: "number" };
  return whole && !Number.isInteger(value) ? { wrong: "whole" } : { value };
}

/** JSON as somebody typed it. */
export function parseJson(text: string): Parsed {
  try {
    return { value: readExact(text) };
  } catch (error) {
    return { wrong: "json", at: (error as Error).message };
  }
}

/** `a.b[0]`, as the server names places in arguments. */
export function placeOf(place: string, key: string | number): string {
  if (typeof key === "number") return `${place}[${key}]`;
  return place ? `${place}.${key}` : key;
}

/** One of the ways that a place is written in: in a definition, names that are no words stand in brackets. */
const written = (place: string) =>
  place
    .replace(/\["((?:[^"\\]|\\.)*)"\]/g, ".$1")
    .replace(/\[(\d+)\]/g, ".$1")
    .replace(/^\./, "");

/** What is wrong at a place, or below it where nothing below shows it itself. */
export function problemAt(
  problems: readonly { path: string; message: string }[] | undefined,
  place: string,
  below = false,
): string | undefined {
  const here = written(place);
  return problems?.find(({ path }) => {
    const there = written(path);
    return there === here || (below && there.startsWith(`${here}.`));
  })?.message;
}
