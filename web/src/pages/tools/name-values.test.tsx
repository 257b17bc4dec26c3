// Rows of names and values: each stays the one it is, whatever else comes, and nothing is lost without a word.

import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import i18next from "i18next";
import { useState } from "react";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, expect, test } from "vitest";
import editor from "../../i18n/en/editor.json";
import { TipProvider } from "../../ui/tip";
import { NameValues } from "./name-values";

beforeAll(async () => {
  await i18next.use(initReactI18next).init({ lng: "en", resources: { en: { editor } } });
});
afterEach(cleanup);

let now: Record<string, unknown> | undefined;

function Rows({ other }: { other: Record<string, unknown> }) {
  const [value, setValue] = useState<Record<string, unknown> | undefined>({});
  now = value;
  return (
    <TipProvider>
      <NameValues label="Headers" add="Add" value={value ?? {}} onChange={setValue} />
      <button type="button" onClick={() => setValue(other)}>
        Paste
      </button>
    </TipProvider>
  );
}

const click = (name: string) => fireEvent.click(screen.getByRole("button", { name }));
const fields = () => screen.getAllByRole("textbox") as HTMLInputElement[];
const write = (at: number, value: string) => fireEvent.change(fields()[at]!, { target: { value } });

test("a row that is added behind pasted ones is a row of its own", () => {
  render(<Rows other={{ a: "1", b: "2", c: "3" }} />);
  click("Paste");
  click("Add");
  write(6, "d");
  write(7, "4");
  expect(now).toEqual({ a: "1", b: "2", c: "3", d: "4" });
});

test("a list stays a list while it is changed, and what is no list any more is a text", () => {
  render(<Rows other={{ tag: ["a", "b"] }} />);
  click("Paste");
  expect(fields()[1]!.value).toBe('["a","b"]');
  write(1, '["a","b","c"]');
  expect(now).toEqual({ tag: ["a", "b", "c"] });
  write(1, "a");
  expect(now).toEqual({ tag: "a" });
});

test("a name that is there twice is told, since only one of them counts", () => {
  render(<Rows other={{ a: "1" }} />);
  click("Paste");
  click("Add");
  write(2, "a");
  expect(screen.getByText(editor.rows.twice)).toBeTruthy();
  write(2, "ab");
  expect(screen.queryByText(editor.rows.twice)).toBeNull();
});
