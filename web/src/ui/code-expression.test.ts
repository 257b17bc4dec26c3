// What an expression is made of, as its colours tell it.

import { syntaxTree } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { expect, test } from "vitest";
import { expression } from "./code-expression";

function parts(text: string): Array<[string, string]> {
  const found: Array<[string, string]> = [];
  const state = EditorState.create({ doc: text, extensions: expression() });
  syntaxTree(state).iterate({
    enter: (node) => {
      if (node.name !== "Document") found.push([state.sliceDoc(node.from, node.to), node.name]);
    },
  });
  return found;
}

test("tells words, numbers, texts and signs apart", () => {
  expect(parts("a ** 1.5e3 if not x else None # why")).toEqual([
    ["**", "operator"],
    ["1.5e3", "number"],
    ["if", "keyword"],
    ["not", "keyword"],
    ["else", "keyword"],
    ["None", "bool"],
    ["# why", "comment"],
  ]);
});

test("a text is whole, whatever stands in it", () => {
  expect(parts("f'if # \\' 1' + x")).toEqual([
    ["f'if # \\' 1'", "string"],
    ["+", "operator"],
  ]);
  expect(parts('"""one\nif"""\n2')).toEqual([
    ['"""one', "string"],
    ['if"""', "string"],
    ["2", "number"],
  ]);
});

test("a text that is not closed ends with its line", () => {
  expect(parts("'open\n1")).toEqual([
    ["'open", "string"],
    ["1", "number"],
  ]);
});

test("a name with a number or a word in it is a name", () => {
  expect(parts("x1 + 값2 + format_if")).toEqual([
    ["+", "operator"],
    ["+", "operator"],
  ]);
});
