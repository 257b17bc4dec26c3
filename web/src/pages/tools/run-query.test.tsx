// A query that takes long can be stopped where it was begun.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import editor from "../../i18n/en/editor.json";
import frame from "../../i18n/en/frame.json";
import tools from "../../i18n/en/tools.json";
import { TipProvider } from "../../ui/tip";
import { sourcesQuery } from "../sources/queries";
import { emptyDraft } from "./draft";
import { LogicSql } from "./logic-sql";

const asked = vi.hoisted(() => [] as AbortSignal[]);
vi.mock("./queries", () => ({
  tryTool: (_tool: unknown, _args: unknown, signal: AbortSignal) => {
    asked.push(signal);
    return new Promise(() => {});
  },
}));
vi.mock("../../api/me", () => ({ useMay: () => true }));
vi.mock("./table-explorer", () => ({ TableExplorer: () => null }));
vi.mock("./sql-code", () => ({ default: () => null }));

beforeAll(async () => {
  const resources = { en: { editor, frame, tools } };
  await i18next.use(initReactI18next).init({ lng: "en", resources, defaultNS: "frame" });
});
afterEach(cleanup);

test("while a query runs there is a way to stop it", async () => {
  const queries = new QueryClient({ defaultOptions: { queries: { enabled: false } } });
  queries.setQueryData(sourcesQuery.queryKey, []);
  const draft = { ...emptyDraft(), config: { source: "shop", query: "SELECT 1" } };
  await act(async () => {
    render(
      <QueryClientProvider client={queries}>
        <TipProvider>
          <LogicSql draft={draft} change={() => {}} problem={() => undefined} dirty keep="t" />
        </TipProvider>
      </QueryClientProvider>,
    );
  });
  expect(screen.queryByRole("button", { name: tools.stop })).toBeNull();
  await act(async () => void fireEvent.click(screen.getByRole("button", { name: editor.sql.runSelection })));
  expect(asked[0]!.aborted).toBe(false);
  await act(async () => void fireEvent.click(screen.getByRole("button", { name: tools.stop })));
  expect(asked[0]!.aborted).toBe(true);
  expect(screen.queryByRole("button", { name: tools.stop })).toBeNull();
});
