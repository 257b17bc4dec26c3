// The form hands on exactly what will be sent, and says when something that was typed is no value.

import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import i18next from "i18next";
import { useState } from "react";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import form from "../i18n/en/form.json";
import type { Schema } from "./schema";
import { SchemaForm, type Values } from "./schema-form";
import { TipProvider } from "./tip";

// The editor for code needs a real browser.
vi.mock("./code", () => ({
  Code: ({ label, value, onChange }: { label: string; value: string; onChange: (text: string) => void }) => (
    <textarea aria-label={label} value={value} onChange={(event) => onChange(event.target.value)} />
  ),
}));

beforeAll(async () => {
  await i18next.use(initReactI18next).init({ lng: "en", resources: { en: { form } }, ns: ["form"] });
});
afterEach(cleanup);

let sent: Values;
let ok: boolean;

/** Holds the values as a text, as a toolset does: they are other objects each time. */
function TextHost({ schema, start = {} }: { schema: Schema; start?: Values }) {
  const [{ text }, setText] = useState({ text: JSON.stringify(start) });
  sent = JSON.parse(text);
  const change = (next: Values, good: boolean) => {
    ok = good;
    setText({ text: JSON.stringify(next) });
  };
  return (
    <TipProvider>
      <SchemaForm schema={schema} value={JSON.parse(text)} onChange={change} />
    </TipProvider>
  );
}

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

test("what is no value yet stays, also where the values are made anew each time", async () => {
  const told = vi.spyOn(console, "error").mockImplementation(() => {});
  render(<TextHost schema={{ properties: { a: { type: "number" }, b: {} } }} start={{ a: 1, b: [1] }} />);
  type(/^a/, "1.");
  type(/^b/, "[1, ");
  await act(async () => {});
  expect([field(/^a/), field(/^b/)].map((one) => (one as HTMLInputElement).value)).toEqual(["1.", "[1, "]);
  expect([sent, ok]).toEqual([{ a: 1, b: [1] }, false]);
  expect(told).not.toHaveBeenCalled();
  told.mockRestore();
});

test("as JSON, what is typed is kept as it is typed", async () => {
  render(<TextHost schema={{ properties: { a: { type: "number" } } }} />);
  fireEvent.click(screen.getByText(form.asJson));
  const json = await screen.findByLabelText(form.argumentsAsJson, {}, { timeout: 4_000 });
  fireEvent.change(json, { target: { value: '{"a":1}' } });
  expect([sent, ok]).toEqual([{ a: 1 }, true]);
  expect(json).toHaveProperty("value", '{"a":1}');
  fireEvent.change(json, { target: { value: '{"a":1, "b' } });
  await act(async () => {});
  expect(json).toHaveProperty("value", '{"a":1, "b');
  expect([sent, ok]).toEqual([{ a: 1 }, false]);
  fireEvent.click(screen.getByText(form.asForm));
  expect(screen.getByText(form.mendFirst)).toBeTruthy();
  expect(json).toHaveProperty("value", '{"a":1, "b');
  fireEvent.change(json, { target: { value: '{"a":2}' } });
  expect(screen.queryByText(form.mendFirst)).toBeNull();
  fireEvent.click(screen.getByText(form.asForm));
  expect(field(/^a/)).toHaveProperty("value", "2");
});

test("nobody leaves the form behind with something in it that is no value", () => {
  render(<Host schema={{ properties: { a: { type: "number" } } }} />);
  type(/^a/, "1.");
  fireEvent.click(screen.getByText(form.asJson));
  expect(screen.getByText(form.mendFirst)).toBeTruthy();
  expect(field(/^a/)).toHaveProperty("value", "1.");
});

test("what was given is there again once it is to be sent after all", () => {
  render(<Host schema={{ properties: { a: { type: ["string", "null"] } } }} />);
  type(/^a/, "a long text");
  type(/How a is sent/, "null");
  type(/How a is sent/, "given");
  expect(sent).toEqual({ a: "a long text" });
  type(/How a is sent/, "omit");
  type(/How a is sent/, "given");
  expect(sent).toEqual({ a: "a long text" });
});

test("a value that is none of the choices is shown as what it is", () => {
  render(<Host schema={{ properties: { a: { enum: ["x", "y"] } } }} start={{ a: "z" }} />);
  expect((field(/^a/) as HTMLSelectElement).selectedOptions[0]?.text).toBe("z (none of these)");
  type(/^a/, "1");
  expect(sent).toEqual({ a: "y" });
});

test("half a number in a list stays with its item, and an empty one is none", () => {
  const schema = { properties: { a: { type: "array", items: { type: "number" } } }, required: ["a"] };
  render(<Host schema={schema} start={{ a: [1, 1] }} />);
  type(/^2/, "1.");
  fireEvent.click(screen.getByLabelText("Remove item 1"));
  expect(field(/^1/)).toHaveProperty("value", "1.");
  expect([sent, ok]).toEqual([{ a: [1] }, false]);
  type(/^1/, "");
  expect([field(/^1/).getAttribute("value"), ok]).toEqual(["", false]);
  type(/^1/, "7");
  expect([sent, ok]).toEqual([{ a: [7] }, true]);
});

test("a field that is written as JSON stays one while somebody is at it", () => {
  render(<Host schema={{ properties: { a: { type: "number" } } }} start={{ a: "12" }} />);
  const json = field(/^a/);
  act(() => json.focus());
  fireEvent.change(json, { target: { value: "12" } });
  expect(sent).toEqual({ a: 12 });
  expect(document.activeElement).toBe(json);
  expect(field(/^a/)).toBe(json);
  act(() => json.blur());
  expect(field(/^a/).tagName).toBe("INPUT");
});
