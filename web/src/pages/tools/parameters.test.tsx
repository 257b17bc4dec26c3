// The fields of a parameter say what its schema says, whichever of them it was changed in.

import { act, cleanup, configure, fireEvent, render, screen } from "@testing-library/react";
import { useState } from "react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { loadTexts } from "../../i18n";
import type { Schema } from "../../ui/schema";
import { TipProvider } from "../../ui/tip";
import { Toasts } from "../../ui/toast";
import { type Draft, emptyDraft, parameter, unreadIn } from "./draft";
import type { Change } from "./editor-state";
import { JsonText } from "./json-text";
import { Parameters } from "./parameters";

// Parts of it are loaded when they are first shown, which takes its time on a machine that is at work.
configure({ asyncUtilTimeout: 10_000 });
vi.setConfig({ testTimeout: 30_000 });

beforeAll(() => loadTexts(["editor", "frame"]));
afterEach(cleanup);

let now: Draft;
function Step({ schema, query = "", more = [] }: { schema: Schema; query?: string; more?: string[] }) {
  const [draft, setDraft] = useState<Draft>({
    ...emptyDraft(),
    config: { query },
    parameters: [{ ...parameter("n"), schema }, ...more.map((name) => parameter(name))],
  });
  now = draft;
  const change = (some: Change) =>
    setDraft((before) => ({ ...before, ...(typeof some === "function" ? some(before) : some) }));
  return (
    <TipProvider>
      <Toasts />
      <Parameters draft={draft} change={change} problem={() => undefined} dirty keep="n" />
    </TipProvider>
  );
}
const field = (label: string) => screen.getByLabelText(label) as HTMLInputElement;
const write = (label: string, value: string) => fireEvent.change(field(label), { target: { value } });
const schema = () => now.parameters[0]!.schema;

test("another type takes its default along out of the field", () => {
  render(<Step schema={{ type: "number", default: 5 }} />);
  expect(field("Default of n").value).toBe("5");
  write("Type of n", "boolean");
  expect(schema()).toEqual({ type: "boolean" });
  expect(field("Default of n").value).toBe("");
});

test("what is no value of the type stays in sight and is not saved as something else", () => {
  render(<Step schema={{ type: "number" }} />);
  write("Default of n", "1.50");
  expect(schema().default).toBe(1.5);
  expect(field("Default of n").value).toBe("1.50");
  write("Default of n", "1.5x");
  expect(field("Default of n").value).toBe("1.5x");
  expect(field("Default of n").getAttribute("aria-invalid")).toBe("true");
  expect(now.parameters[0]).toMatchObject({ unreadDefault: "1.5x" });
  write("Type of n", "string");
  expect(now.parameters[0]?.unreadDefault).toBeUndefined();
});

test("what is said of a parameter that has no name yet asks for one", () => {
  render(<Step schema={{ type: "string" }} />);
  write("Name of n", "");
  expect(screen.queryByText("It needs a name.")).toBeNull();
  write("Description of parameter 1", "who");
  expect(screen.getByText("It needs a name.")).toBeTruthy();
});

test("another name follows into the query, and is taken back with it", () => {
  render(<Step schema={{ type: "number" }} query="SELECT * FROM t WHERE a = :n AND b = {{n}}" />);
  const name = field("Name of n");
  fireEvent.focus(name);
  for (const text of ["", "u", "us", "user"]) fireEvent.change(name, { target: { value: text } });
  expect(now.config.query).toBe("SELECT * FROM t WHERE a = :user AND b = {{user}}");
  fireEvent.blur(name);
  fireEvent.click(screen.getByRole("button", { name: "Undo" }));
  expect(now.config.query).toBe("SELECT * FROM t WHERE a = :n AND b = {{n}}");
  expect(now.parameters[0]!.name).toBe("n");
});

test("a value that is none of the type keeps the tool from being saved without it", async () => {
  render(<Step schema={{ type: "integer" }} />);
  fireEvent.click(screen.getByLabelText("Advanced of n"));
  await screen.findByLabelText("Only these values");
  write("Only these values", "1\ntwo");
  expect(unreadIn(now)).toEqual(["input_schema.properties.n"]);
  fireEvent.click(screen.getByLabelText("Advanced of n"));
  fireEvent.click(screen.getByLabelText("Advanced of n"));
  expect(field("Only these values").value).toBe("1\ntwo");
  write("Only these values", "1\n2");
  expect(unreadIn(now)).toEqual([]);
  expect(schema().enum).toEqual([1, 2]);
});

test("half a number can be written among the values", async () => {
  render(<Step schema={{ type: "number" }} />);
  fireEvent.click(screen.getByLabelText("Advanced of n"));
  await screen.findByLabelText("Only these values");
  for (const text of ["-", "-1", "-1\n2", "-1\n2.", "-1\n2.5"]) {
    write("Only these values", text);
    expect(field("Only these values").value).toBe(text);
  }
  expect(schema().enum).toEqual([-1, 2.5]);
});

test("a value that is changed elsewhere is shown as it is now, and not as it was typed", () => {
  const text = (value: unknown, unread?: string) => (
    <JsonText object label="schema" value={value} unread={unread} onChange={() => {}} />
  );
  const { rerender, container } = render(text({ type: "number" }));
  const said = () => container.querySelector("textarea")?.value ?? container.textContent;
  expect(said()).toContain("number");
  rerender(text({ type: "string", maxLength: 3 }));
  expect(said()).toContain("maxLength");
});

const drawn = () => act(() => new Promise((done) => requestAnimationFrame(() => done(undefined))));
const names = () => now.parameters.map((one) => one.name);

test("what is removed can be taken back to its place, and the focus is at the next one", async () => {
  render(<Step schema={{ type: "number" }} more={["m", "o"]} />);
  fireEvent.click(screen.getByLabelText("Remove m"));
  await drawn();
  expect(names()).toEqual(["n", "o"]);
  expect(document.activeElement).toBe(field("Name of o"));
  fireEvent.click(screen.getByLabelText("Remove o"));
  await drawn();
  expect(document.activeElement).toBe(field("Name of n"));
  fireEvent.click(screen.getByLabelText("Remove n"));
  await drawn();
  expect(document.activeElement?.textContent).toBe("Add parameter");
  for (const undo of screen.getAllByRole("button", { name: "Undo" }).reverse()) fireEvent.click(undo);
  expect(names()).toEqual(["n", "m", "o"]);
  expect(schema()).toEqual({ type: "number" });
});

test("whoever adds one, or those that the query has, goes on at the first of them; an empty one goes without a word", async () => {
  render(<Step schema={{ type: "number" }} query="SELECT :n, :x, :y" />);
  fireEvent.click(screen.getByRole("button", { name: /^Add 2 / }));
  await drawn();
  expect(names()).toEqual(["n", "x", "y"]);
  expect(document.activeElement).toBe(field("Name of x"));
  fireEvent.click(screen.getByRole("button", { name: "Add parameter" }));
  await drawn();
  expect(document.activeElement).toBe(field("Name of parameter 4"));
  fireEvent.click(screen.getByLabelText("Remove parameter 4"));
  await drawn();
  expect(screen.queryByRole("button", { name: "Undo" })).toBeNull();
});
