// What was typed for one kind of limit is there again after a look at the other.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { loadTexts } from "../../i18n";
import limits from "../../i18n/en/limits.json";
import { TipProvider } from "../../ui/tip";
import { LimitForm } from "./form";

beforeAll(() => loadTexts(["limits", "frame"]));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("each kind keeps its own target", () => {
  vi.stubGlobal("fetch", async () => Response.json({ items: [] }));
  render(
    <QueryClientProvider client={new QueryClient()}>
      <TipProvider>
        <LimitForm shown={null} onClose={() => {}} />
      </TipProvider>
    </QueryClientProvider>,
  );
  const target = () => screen.getByLabelText(new RegExp(`^${limits.target}`)) as HTMLInputElement;
  const choose = (type: string) => fireEvent.change(screen.getByLabelText(limits.type), { target: { value: type } });
  fireEvent.change(target(), { target: { value: "hong" } });
  choose("TOOL");
  expect(target().value).toBe("");
  fireEvent.change(target(), { target: { value: "sum" } });
  choose("USER");
  expect(target().value).toBe("hong");
  choose("TOOL");
  expect(target().value).toBe("sum");
});
