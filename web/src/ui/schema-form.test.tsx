// The form hands on exactly what will be sent, and says when something that was typed is no value.

import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import i18next from "i18next";
import { useState } from "react";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, expect, test } from "vitest";
import form from "../i18n/en/form.json";
import type { Schema } from "./schema";
import { SchemaForm, type Values } from "./schema-form";
import { TipProvider } from "./tip";

beforeAll(async () => {
  await i18next.use(initReactI18next).init({ lng: "en", resources: { en: { form } }, ns: ["form"] });
});
afterEach(cleanup);

let sent: Values;
let ok: boolean;

function Host({ schema, start = {}, problem }: { schema: Schema; start?: Values; problem?: string }) {
  const [value, setValue] = useState(start);
  sent = value;
  const change = (next: Values, good: boolean) => {
    ok = good;
    setValue(next);
  };
  const problems = problem ? [{ path: "a", message: problem }] : [];
  return (
    <TipProvider>
      <SchemaForm schema={schema} value={value} onChange={change} problems={problems} />
    </TipProvider>
  );
}

const field = (label: RegExp) => screen.getByLabelText(label);
const type = (label: RegExp, value: string) => fireEvent.change(field(label), { target: { value } });

test("numbers are sent as numbers, and half a number keeps it from being sent", () => {
  render(<Host schema={{ properties: { a: { type: "number" } }, required: ["a"] }} />);
  type(/^a/, "2.5");
  expect(sent).toEqual({ a: 2.5 });
  expect(ok).toBe(true);
  type(/^a/, "2.");
  expect(ok).toBe(false);
  expect(field(/^a/)).toHaveProperty("value", "2.");
  type(/^a/, "2");
  expect([sent, ok]).toEqual([{ a: 2 }, true]);
});

test("left out, empty and null are three things", () => {
  render(<Host schema={{ properties: { a: { type: ["string", "null"] } } }} />);
  type(/^a/, "x");
  type(/^a/, "");
  expect(sent).toEqual({ a: "" });
  type(/How a is sent/, "null");
  expect(sent).toEqual({ a: null });
  type(/How a is sent/, "omit");
  expect(sent).toEqual({});
});

test("items are added to a list and taken out of it, as what they are", () => {
  render(<Host schema={{ properties: { a: { type: "array", items: { type: "integer" } } }, required: ["a"] }} />);
  fireEvent.click(screen.getByText("Add item"));
  fireEvent.click(screen.getByText("Add item"));
  type(/^2/, "7");
  expect(sent).toEqual({ a: [0, 7] });
  fireEvent.click(screen.getByLabelText("Remove item 1"));
  expect(sent).toEqual({ a: [7] });
});

test("objects within objects and choices that are no texts", () => {
  const schema = {
    properties: {
      o: { type: "object", properties: { b: { type: "boolean" }, c: { enum: [1, "1"] } }, required: ["b", "c"] },
    },
    required: ["o"],
  };
  render(<Host schema={schema} />);
  type(/^b/, "1");
  type(/^c/, "0");
  expect(sent).toEqual({ o: { b: false, c: 1 } });
});

test("a value that its field cannot show is neither lost nor changed", () => {
  render(<Host schema={{ properties: { a: { type: "number" } } }} start={{ a: "12", other: [1] }} />);
  expect(field(/^a/)).toHaveProperty("value", '"12"');
  expect(screen.getByText("Also sent: other")).toBeTruthy();
  type(/^a/, "[1");
  expect(ok).toBe(false);
  type(/^a/, "13");
  expect([sent, ok]).toEqual([{ a: 13, other: [1] }, true]);
});

test("what the server says of a field stands at it", () => {
  render(<Host schema={{ properties: { a: { type: "string" } } }} problem="too short" />);
  expect(field(/^a/).getAttribute("aria-invalid")).toBe("true");
  expect(screen.getByText("too short")).toBeTruthy();
});

test("a secret is covered while it is typed, in all its lines, and said to be one", () => {
  for (const mark of [{ "x-secret": true }, { writeOnly: true }, { format: "password" }]) {
    render(<Host schema={{ properties: { a: { type: "string", ...mark }, b: { type: "string" } } }} />);
    type(/^a/, "one\ntwo");
    expect(sent).toEqual({ a: "one\ntwo" });
    expect(field(/^a/).className).toContain("text-security");
    expect(field(/^b/).className).not.toContain("text-security");
    expect(screen.getByText(form.secret)).toBeTruthy();
    cleanup();
  }
});
