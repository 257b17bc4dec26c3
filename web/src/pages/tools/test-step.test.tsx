// What came of a test stays with it, wherever it stands in the list.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import editor from "../../i18n/en/editor.json";
import frame from "../../i18n/en/frame.json";
import tools from "../../i18n/en/tools.json";
import { TipProvider } from "../../ui/tip";
import { keyOf } from "./cases";
import { type Case, emptyDraft, parameter } from "./draft";
import { type Given, TestStep } from "./test-step";

vi.mock("./queries", () => ({
  toolQuery: () => ({ queryKey: [] }),
  callTool: async () => ({ status: "success", data: "stored" }),
  tryTool: async (_: unknown, { a }: { a: number }) => ({ status: "success", data: a }),
}));

beforeAll(async () => {
  const resources = { en: { editor, frame, tools } };
  await i18next.use(initReactI18next).init({ lng: "en", resources, defaultNS: "frame" });
});
afterEach(cleanup);

const right: Case = { arguments: { a: 1 }, expect: 1 };
const wrong: Case = { arguments: { a: 2 }, expect: 3 };
const queries = new QueryClient();
const step = (tests: Case[], given?: Given, draft = emptyDraft()) => (
  <QueryClientProvider client={queries}>
    <TipProvider>
      <TestStep
        draft={{ ...draft, tests }}
        change={() => {}}
        problem={() => undefined}
        dirty
        keep="t"
        may
        given={given}
        onTried={() => {}}
      />
    </TipProvider>
  </QueryClientProvider>
);
const states = () => screen.getAllByRole("listitem").map((one) => one.dataset.status);

test("an outcome goes with its arguments", async () => {
  const { rerender } = render(step([right, wrong]));
  await act(async () => void fireEvent.click(screen.getByRole("button", { name: editor.test.runAll })));
  expect(states()).toEqual(["passed", "failed"]);
  rerender(step([wrong, right]));
  expect(states()).toEqual(["failed", "passed"]);
  rerender(step([{ arguments: { a: 9 }, expect: 1 }, right]));
  expect(states()).toEqual(["untried", "passed"]);
});

test("arguments are the same in any order", () => {
  expect(keyOf({ arguments: { a: 1, b: { c: 1, d: 2 } } })).toBe(keyOf({ arguments: { b: { d: 2, c: 1 }, a: 1 } }));
  expect(keyOf({ arguments: { a: [1, 2] } })).not.toBe(keyOf({ arguments: { a: [2, 1] } }));
});

const withToken = (token: unknown, dirty: boolean) => (
  <QueryClientProvider client={queries}>
    <TipProvider>
      <TestStep
        draft={{
          ...emptyDraft(),
          version: 1,
          auth_config: { type: "bearer", token },
          tests: [{ arguments: { a: 1 }, expect: "stored" }],
        }}
        change={() => {}}
        problem={() => undefined}
        dirty={dirty}
        keep="tool"
        may
        onTried={() => {}}
      />
    </TipProvider>
  </QueryClientProvider>
);
const runAll = () => screen.getByRole("button", { name: editor.test.runAll }) as HTMLButtonElement;

test("a tool with a stored secret runs as it is stored, and not with changes that lack the secret", async () => {
  const { rerender } = render(withToken({ set: true, last4: "1234" }, false));
  await act(async () => void fireEvent.click(runAll()));
  expect(states()).toEqual(["passed"]);
  rerender(withToken({ set: true, last4: "1234" }, true));
  expect(runAll().disabled).toBe(true);
  expect(screen.getByText(editor.test.sealed)).toBeTruthy();
  rerender(withToken({ $secret: "shop" }, true));
  expect(runAll().disabled).toBe(false);
});

test("a past call is tried again with what is known of it, and its secrets are asked for", () => {
  render(step([], { values: { a: 5 }, hidden: ["token"] }));
  expect(screen.getByText("The log keeps no secrets. Type them again: token.")).toBeTruthy();
});

test("before a secret becomes a part of a saved test, somebody is told who will read it", async () => {
  const draft = {
    ...emptyDraft(),
    parameters: [parameter("token", { type: "string", "x-secret": true }), parameter("a", { type: "number" })],
  };
  const shown = (values: Record<string, unknown>) => step([], { values, hidden: [] }, draft);
  const run = async () => void fireEvent.click(screen.getByRole("button", { name: tools.testRun }));
  const told = () => screen.queryByText(/everybody who may see the tool/);
  render(shown({ token: "t", a: 1 }));
  await act(run);
  await waitFor(() => expect(told()?.textContent).toContain("token"));
  cleanup();
  render(shown({ a: 1 }));
  await act(run);
  await screen.findByRole("button", { name: editor.test.keep });
  expect(told()).toBeNull();
});
