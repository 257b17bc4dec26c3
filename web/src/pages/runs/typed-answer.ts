// What is typed where one talks, as the answer to what a run asks: where one value is wanted, and it is plain what it is.

import { parseNumber, type Schema, shapeOf } from "../../ui/schema";

export type Typed = { answer: unknown } | { wrong: "number" | "whole" | "choice" };

const isEmpty = (schema: Schema | null) => !schema || Object.keys(schema).length === 0;

/** The one member that an answer has to have, and its schema; none where it is no object, or has several. */
function onlyMember(schema: Schema): [string, Schema] | undefined {
  const all = Object.entries(schema.properties ?? {});
  const needed = all.filter(([name]) => schema.required?.includes(name));
  const meant = needed.length > 0 ? needed : all;
  return meant.length === 1 ? meant[0] : undefined;
}

const isObject = (schema: Schema) => schema.type === "object" || schema.properties !== undefined;

function readAs(text: string, schema: Schema, root: Schema): Typed {
  const shape = shapeOf(schema, root);
  if (shape.kind === "number" || shape.kind === "integer") {
    const parsed = parseNumber(text, shape.kind === "integer");
    return "value" in parsed ? { answer: parsed.value } : { wrong: parsed.wrong as "number" };
  }
  if (shape.kind === "choice" || shape.kind === "boolean") {
    const choices: unknown[] = shape.kind === "boolean" ? [true, false] : (shape.schema.enum ?? []);
    const found = choices.find((one) => String(one).toLowerCase() === text.toLowerCase());
    return found === undefined ? { wrong: "choice" } : { answer: found };
  }
  return { answer: text };
}

/** Whether one line can answer it at all. */
export function isTypeable(schema: Schema | null): boolean {
  if (isEmpty(schema)) return true;
  const one = isObject(schema!) ? onlyMember(schema!)?.[1] : schema!;
  return one !== undefined && ["text", "number", "integer", "choice", "boolean"].includes(shapeOf(one, schema!).kind);
}

export function typedAnswer(text: string, schema: Schema | null): Typed {
  if (isEmpty(schema)) return { answer: text };
  if (!isObject(schema!)) return readAs(text, schema!, schema!);
  const [name, one] = onlyMember(schema!)!;
  const typed = readAs(text, one, schema!);
  return "answer" in typed ? { answer: { [name]: typed.answer } } : typed;
}
