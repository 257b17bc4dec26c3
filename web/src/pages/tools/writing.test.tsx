// Nothing is written by a run that nobody meant.

import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import frame from "../../i18n/en/frame.json";
import tools from "../../i18n/en/tools.json";
import { TipProvider } from "../../ui/tip";
import { emptyDraft, parameter } from "./draft";
import { Tester } from "./tester";
import { partOf, writes } from "./writing";

beforeAll(async () => {
  const resources = { en: { frame, tools } };
  await i18next.use(initReactI18next).init({ lng: "en", resources, defaultNS: "frame", ns: ["frame", "tools"] });
});
afterEach(cleanup);

test("a part of a query may only read, and is given only what it uses", () => {
  const draft = {
    ...emptyDraft(),
    parameters: [parameter("id"), parameter("other")],
    config: { source: "shop", query: "DELETE FROM orders\nWHERE id = :id", write: true, max_rows: 5 },
  };
  const { tool, args } = partOf(draft, "SELECT :id", { id: "1", other: "2" });
  expect(tool.config).toEqual({ source: "shop", query: "SELECT :id", result: "records", max_rows: 5 });
  expect(tool).toMatchObject({ input_schema: { required: ["id"] } });
  expect(args).toEqual({ id: "1" });
});

test("only an SQL tool that says so writes, and what its author says destroys", () => {
  expect(writes({ kind: "sql", config: { write: true } })).toBe(true);
  expect(writes({ kind: "sql", config: {} })).toBe(false);
  expect(writes({ kind: "http", config: null })).toBe(false);
  expect(writes({ kind: "http", config: null, annotations: { destructive: true } })).toBe(true);
  expect(writes({ ...emptyDraft(), kind: "shell", rest: { annotations: { destructive: true } } })).toBe(true);
  expect(writes({ kind: "shell", config: {}, annotations: { destructive: false } })).toBe(false);
});

const tester = (mayWrite: boolean) => {
  const run = vi.fn(() => new Promise<never>(() => {}));
  render(
    <TipProvider>
      <Tester keep={`writes ${mayWrite}`} schema={{ type: "object" }} run={run} writes={mayWrite} />
    </TipProvider>,
  );
  fireEvent.click(screen.getByRole("button", { name: "Test run" }));
  return run;
};

test("a test run of a tool that writes asks first", async () => {
  const run = tester(true);
  expect(run).not.toHaveBeenCalled();
  fireEvent.click(await screen.findByRole("button", { name: "Run it" }));
  expect(run).toHaveBeenCalledOnce();
});

test("a test run of one that reads does not", () => {
  expect(tester(false)).toHaveBeenCalledOnce();
});

test("whoever changes their mind runs nothing", async () => {
  const run = tester(true);
  fireEvent.click(await screen.findByRole("button", { name: "Cancel" }));
  expect(screen.queryByRole("alertdialog")).toBeNull();
  expect(run).not.toHaveBeenCalled();
});

test("Ctrl+Enter runs it once, also in the middle of a Korean syllable", async () => {
  const run = vi.fn(() => new Promise<never>(() => {}));
  render(
    <TipProvider>
      <Tester keep="korean" schema={{ type: "object" }} run={run} />
    </TipProvider>,
  );
  const press = (more: object) => fireEvent.keyDown(document.body, { code: "Enter", ctrlKey: true, ...more });
  press({ key: "Process", keyCode: 229, isComposing: true });
  expect(run).toHaveBeenCalledOnce();
  press({ key: "Enter" });
  expect(run).toHaveBeenCalledOnce();
});
