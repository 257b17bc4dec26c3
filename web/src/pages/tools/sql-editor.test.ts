// Names are names in any language: put beside a word they stay apart from it, and parameters are proposed by what is typed.

import { CompletionContext } from "@codemirror/autocomplete";
import { expect, test } from "vitest";
import { createSqlEditor, proposeParameters } from "./sql-editor";

function editor(text: string) {
  const made = createSqlEditor({
    parent: document.body,
    text,
    dialect: "sqlite",
    texts: { label: "query", undeclared: (name) => name, declare: "declare", start: "" },
    onChange: () => {},
    onRun: () => {},
    onDeclare: () => {},
  });
  made.view.dispatch({ selection: { anchor: text.length } });
  made.setKnown([
    { name: "이름", type: "string", required: true },
    { name: "user", type: "string", required: true },
  ]);
  return made;
}

test("a table that is put behind a Korean name does not become a part of it", () => {
  const { view, insert } = editor("SELECT * FROM 사용자");
  insert("h_user");
  expect(view.state.doc.toString()).toBe("SELECT * FROM 사용자 h_user");
});

test("what is being written behind a colon or in braces is completed, also in Korean", () => {
  for (const [text, from] of [
    ["WHERE a = :이", 11],
    ["WHERE a = :", 11],
    ["WHERE a = {{이", 12],
  ] as const) {
    const { view } = editor(text);
    const found = proposeParameters(new CompletionContext(view.state, text.length, true));
    expect([text, found?.from, found?.options.map((one) => one.label)]).toEqual([text, from, ["이름", "user"]]);
  }
});
