// Whoever may only look is told what they lack, in words.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, beforeAll, expect, test } from "vitest";
import { meQuery, type Scope } from "../api/me";
import { loadTexts, textsIn } from "../i18n";
import { NotToSee, ReadOnly } from "./note";

beforeAll(() => loadTexts(["frame"]));
afterEach(cleanup);

function Shown({ scope }: { scope: Scope }) {
  const queries = new QueryClient();
  queries.setQueryData(meQuery.queryKey, { name: "kim", scopes: ["read"] } as never);
  return (
    <QueryClientProvider client={queries}>
      <ReadOnly scope={scope} />
      <NotToSee scope={scope} />
    </QueryClientProvider>
  );
}

test("a scope is named by what it lets one do", () => {
  render(<Shown scope="author" />);
  expect(screen.getAllByText(/make and change tools, toolsets and agents/)).toHaveLength(2);
});

test("every scope has its words, in both languages", async () => {
  for (const language of ["en", "ko"] as const) {
    const { scopes } = (await textsIn(language, "frame")) as { scopes?: Record<string, string> };
    expect(Object.keys(scopes ?? {})).toEqual(["read", "call", "author", "operate", "admin"]);
  }
});
