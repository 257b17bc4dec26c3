// Somebody who types faster than the page draws is not set back to what they had typed before.

import { expect, test } from "vitest";
import { createEditor, putText } from "./code-mirror";

function editor(text = "") {
  const told: string[] = [];
  const view = createEditor({ parent: document.body, text, label: "code", onChange: (now) => told.push(now) });
  const type = (more: string) => view.dispatch({ changes: { from: view.state.doc.length, insert: more } });
  return { view, told, type, shown: () => view.state.doc.toString() };
}

test("a text that comes back late does not undo what was typed since", () => {
  const { view, told, type, shown } = editor();
  type("a");
  type("b");
  putText(view, told[0]!);
  expect(shown()).toBe("ab");
  putText(view, told[1]!);
  expect(shown()).toBe("ab");
});

test("a text from elsewhere is put in, also one that was there before", () => {
  const { view, type, shown } = editor("x");
  type("y");
  putText(view, "xy");
  putText(view, "formatted");
  expect(shown()).toBe("formatted");
  putText(view, "x");
  expect(shown()).toBe("x");
  putText(view, "formatted");
  expect(shown()).toBe("formatted");
});
