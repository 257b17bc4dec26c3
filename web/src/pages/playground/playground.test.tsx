// What is sent again is sent once, however quickly somebody clicks.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { meQuery } from "../../api/me";
import { loadTexts } from "../../i18n";
import { TipProvider } from "../../ui/tip";
import Playground from "./playground";

vi.mock("../../search", () => ({ useAddress: () => [{ runs: "r1" }, () => {}] }));
vi.mock("./turn", () => ({
  Turn: ({ onRetry, isSending }: { onRetry: (input: string) => void; isSending: boolean }) => (
    <button type="button" disabled={isSending} onClick={() => onRetry("1+1")}>
      again
    </button>
  ),
}));

beforeAll(() => loadTexts(["playground", "runs", "form", "result", "frame"]));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("a double click on Try again begins one run, and a refusal leaves it to be tried once more", async () => {
  const begun: Array<() => void> = [];
  vi.stubGlobal("fetch", async (request: Request) => {
    if (request.method !== "POST") return Response.json({ items: [], next_cursor: null });
    await new Promise<void>((resolve) => begun.push(resolve));
    return Response.json({ error: { code: "internal_error", message: "not now" } }, { status: 500 });
  });
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  queries.setQueryData(meQuery.queryKey, { user: "kim", scopes: ["call"] } as never);
  render(
    <QueryClientProvider client={queries}>
      <TipProvider>
        <Playground />
      </TipProvider>
    </QueryClientProvider>,
  );
  const again = await screen.findByRole("button", { name: "again" });
  // Both before anything is drawn anew.
  await act(async () => {
    again.click();
    again.click();
  });
  await vi.waitFor(() => expect(begun).toHaveLength(1));
  expect(again).toHaveProperty("disabled", true);
  await act(async () => begun[0]?.());
  await vi.waitFor(() => expect(again).toHaveProperty("disabled", false));
  fireEvent.click(again);
  await vi.waitFor(() => expect(begun).toHaveLength(2));
});
