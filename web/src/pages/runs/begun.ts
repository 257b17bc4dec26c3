// What somebody has begun to answer stays in this tab until it is sent: they may look something up before they go on.

import { useState } from "react";
import { readExact, writeExact } from "../../exact";
import { isSecret, type Schema, shapeOf } from "../../ui/schema";
import type { Values } from "../../ui/schema-form";

function read<T>(key: string): T | undefined {
  try {
    return (readExact(sessionStorage.getItem(key) ?? "null") as T | null) ?? undefined;
  } catch {
    return undefined;
  }
}

/** `safe` leaves out what must not stay behind in a browser. */
export function useBegun<T extends object>(
  run: string,
  request: string,
  first: () => T,
  safe: (value: T) => T = (value) => value,
): [value: T, change: (some: Partial<T>) => void, replace: (next: T) => void, done: () => void] {
  const key = `toolcrib.answer.${run}.${request}`;
  const [value, setValue] = useState<T>(() => read<T>(key) ?? first());
  const replace = (next: T) => {
    setValue(next);
    sessionStorage.setItem(key, writeExact(safe(next)));
  };
  return [value, (some) => replace({ ...value, ...some }), replace, () => sessionStorage.removeItem(key)];
}

/** The values of a form without those that its schema marks as secret. */
export const withoutSecrets = (schema: Schema, values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).filter(([name]) => !isSecret(shapeOf(schema.properties?.[name], schema).schema)),
  );
