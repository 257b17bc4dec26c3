// What an expression is made of, as its colours tell it.

import { getIndentation, IndentContext } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { expect, test } from "vitest";
import { expression, tokensOf } from "./code-expression";

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

test("what follows a colon stands further in", () => {
  const after = (text: string) => {
    const state = EditorState.create({ doc: text, extensions: expression() });
    return getIndentation(new IndentContext(state, { simulateBreak: text.length }), text.length);
  };
  expect(after("for x in xs:")).toBe(4);
  expect(after("for x in xs:\n    if x: # why")).toBe(8);
  expect(after("for x in xs:\n    total += x")).toBe(4);
  expect(after("result = 1")).toBe(0);
});
