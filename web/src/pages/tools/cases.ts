// The saved tests of a tool: which belong together, and whether an answer is what one expects, judged as the server judges it.

import { readExact, writeExact } from "../../exact";
import type { Values } from "../../ui/schema-form";
import type { Case } from "./draft";
import type { Answer } from "./queries";

export const same = (a: unknown, b: unknown): boolean => {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const keys = Object.keys(a);
  return (
    Array.isArray(a) === Array.isArray(b) &&
    keys.length === Object.keys(b).length &&
    keys.every((key) => same((a as Values)[key], (b as Values)[key]))
  );
};

/** A text somewhere, items of a list in any order, members of an object that may have more. */
export function contains(data: unknown, part: unknown): boolean {
  if (typeof data === "string" && typeof part === "string") return data.includes(part);
  if (Array.isArray(data))
    return Array.isArray(part)
      ? part.every((one) => data.some((item) => contains(item, one)))
      : data.some((item) => contains(item, part));
  if (typeof data === "object" && data !== null) {
    if (typeof part === "string") return Object.values(data).some((member) => contains(member, part));
    if (typeof part === "object" && part !== null && !Array.isArray(part))
      return Object.entries(part).every(([name, one]) => name in data && contains((data as Values)[name], one));
  }
  return same(data, part);
}

/** What came of a test belongs to its arguments, wherever in the list it stands; in any order, as they are compared. */
export const keyOf = (one: Case) => writeExact(sorted(one.arguments));

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, one]) => [name, sorted(one)]));
}

export function passes(one: Case, answer: Answer): boolean {
  if (one.expect_error !== undefined) return answer.error?.code === one.expect_error;
  if (answer.status !== "success") return false;
  return "expect_contains" in one ? contains(answer.data, one.expect_contains) : same(answer.data, one.expect);
}

/** Whether all of an answer is expected, or a part of it. */
export function expecting(one: Case, how: "all" | "part"): Case {
  const { expect, expect_contains, ...rest } = one;
  const value = "expect_contains" in one ? expect_contains : expect;
  return how === "part" ? { ...rest, expect_contains: value } : { ...rest, expect: value };
}

/** A part as somebody types it: a text, unless it reads as an object, a list or a number. */
export function partOfText(text: string): unknown {
  try {
    const value: unknown = readExact(text);
    return typeof value === "string" ? text : value;
  } catch {
    return text;
  }
}

export const textOfPart = (part: unknown): string => (typeof part === "string" ? part : writeExact(part));
