// What was typed into a rule is there again after a look at another choice.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { loadTexts } from "../../i18n";
import policies from "../../i18n/en/policies.json";
import { TipProvider } from "../../ui/tip";
import { RuleForm } from "./rule-form";

beforeAll(() => loadTexts(["policies", "frame"]));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("whom it is for, and what they may only use, are kept for each choice", () => {
  vi.stubGlobal("fetch", async () => Response.json({ items: [] }));
  render(
    <QueryClientProvider client={new QueryClient()}>
      <TipProvider>
        <RuleForm
          rule={{ subject: "user", target: "hong", allow: ["sum"] }}
          rules={[]}
          onClose={() => {}}
          onDone={() => {}}
        />
      </TipProvider>
    </QueryClientProvider>,
  );
  const choose = (subject: string) =>
    fireEvent.change(screen.getByLabelText(policies.form.subject), { target: { value: subject } });
  choose("agent");
  expect(screen.queryByDisplayValue("hong")).toBeNull();
  choose("user");
  expect(screen.getByDisplayValue("hong")).toBeTruthy();
  const only = screen.getByLabelText(policies.form.only);
  fireEvent.click(only);
  expect(screen.queryByDisplayValue("sum")).toBeNull();
  fireEvent.click(only);
  expect(screen.getByDisplayValue("sum")).toBeTruthy();
});
