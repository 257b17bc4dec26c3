// While somebody types, the field keeps the text, however late the address follows: a Korean syllable is composed in several steps.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import audit from "./i18n/en/audit.json";
import policies from "./i18n/en/policies.json";
import Audit from "./pages/audit/list";
import { Explain } from "./pages/policies/explain";
import type { Search } from "./search";
import { SearchBox } from "./ui/search-box";
import { TipProvider } from "./ui/tip";

const address = vi.hoisted(() => ({ found: {} as Search, change: vi.fn() }));
// An address that has not followed yet.
vi.mock("./search", () => ({ useAddress: () => [address.found, address.change] }));
vi.mock("./api/me", () => ({ useMay: () => true, useMe: () => ({}) }));
vi.stubGlobal("fetch", () => new Promise(() => {}));

beforeAll(async () => {
  await i18next.use(initReactI18next).init({ lng: "en", resources: { en: { audit, policies } } });
});
afterEach(() => {
  cleanup();
  address.found = {};
  address.change.mockClear();
});

const within = (what: React.ReactNode) => (
  <QueryClientProvider client={new QueryClient()}>
    <TipProvider>{what}</TipProvider>
  </QueryClientProvider>
);

const pages = [
  ["the audit's", <Audit key="audit" />, ["actor", "action", "target"]],
  ["a policy's question's", <Explain key="explain" isUnsaved={false} />, ["tool", "user", "key", "agent", "toolset"]],
  ["a list's", <SearchBox key="search" />, ["q"]],
] as const;

test.each(pages)("%s fields keep what is being composed", (_, page, params) => {
  render(within(page));
  const fields = document.querySelectorAll<HTMLInputElement>("input");
  expect(fields).toHaveLength(params.length);
  for (const [at, field] of fields.entries()) {
    fireEvent.focus(field);
    for (const text of ["ㄱ", "기", "김"]) {
      fireEvent.change(field, { target: { value: text } });
      expect(field.value).toBe(text);
      expect(address.change).toHaveBeenLastCalledWith({ [params[at]!]: text });
    }
    fireEvent.blur(field);
  }
});

test("an address that changes behind the field is taken over, but not from under whoever types", () => {
  const { rerender } = render(within(<SearchBox />));
  const field = screen.getByRole("searchbox") as HTMLInputElement;
  fireEvent.focus(field);
  fireEvent.change(field, { target: { value: "김" } });
  address.found = { q: "기" };
  rerender(within(<SearchBox />));
  expect(field.value).toBe("김");
  fireEvent.blur(field);
  address.found = {};
  rerender(within(<SearchBox />));
  expect(field.value).toBe("");
});
