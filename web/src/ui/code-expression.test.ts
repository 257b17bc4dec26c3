// What an expression is made of, as its colours tell it.

import { expect, test } from "vitest";
import { tokensOf } from "./code-expression";

const parts = (text: string) =>
  tokensOf(text)
    .filter((one) => one.kind !== "name")
    .map(({ from, to, kind }) => [text.slice(from, to), kind]);

test("tells words, numbers, texts and signs apart", () => {
  expect(parts("a ** 1.5e3 if not x else None # why")).toEqual([
    ["**", "operator"],
    ["1.5e3", "number"],
    ["if", "keyword"],
    ["not", "keyword"],
    ["else", "keyword"],
    ["None", "value"],
    ["# why", "comment"],
  ]);
  expect(parts("0xFF // .5 <= 1_000")).toEqual([
    ["0xFF", "number"],
    ["//", "operator"],
    [".5", "number"],
    ["<=", "operator"],
    ["1_000", "number"],
  ]);
});

test("a text is whole, whatever stands in it", () => {
  expect(parts("f'if # \\' 1' + x")).toEqual([
    ["f'if # \\' 1'", "string"],
    ["+", "operator"],
  ]);
  expect(parts('"""one\nif"""\n2')).toEqual([
    ['"""one\nif"""', "string"],
    ["2", "number"],
  ]);
});

test("a text that is not closed ends with its line", () => {
  expect(parts("'open\n1")).toEqual([
    ["'open", "string"],
    ["1", "number"],
  ]);
  expect(parts('"""open\n1')).toEqual([['"""open\n1', "string"]]);
});

test("a name with a number or a word in it is a name", () => {
  expect(parts("x1 + 값2 + format_if")).toEqual([
    ["+", "operator"],
    ["+", "operator"],
  ]);
});
