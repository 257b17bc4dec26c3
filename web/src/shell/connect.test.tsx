// A key that was made while connecting is shown once: it does not go by accident.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { meQuery } from "../api/me";
import { loadTexts } from "../i18n";
import connect from "../i18n/en/connect.json";
import frame from "../i18n/en/frame.json";
import { TipProvider } from "../ui/tip";
import { Connect } from "./connect";

vi.mock("@tanstack/react-router", () => ({
  Link: ({ children }: { children: React.ReactNode }) => <a href="/keys">{children}</a>,
}));

beforeAll(() => loadTexts(["connect", "frame"]));
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

test("neither a click beside it nor Escape takes the new key away, nor the wait for it, nor another client", async () => {
  let answer = () => {};
  vi.stubGlobal("fetch", async () => {
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return Response.json({ id: "1", name: "claude-code", key: "tck_once" });
  });
  const queries = new QueryClient();
  queries.setQueryData(meQuery.queryKey, { user: "kim", scopes: ["read", "call"] } as never);
  const close = vi.fn();
  render(
    <QueryClientProvider client={queries}>
      <TipProvider>
        <Connect open onClose={close} />
      </TipProvider>
    </QueryClientProvider>,
  );
  // Dialogs listen for clicks beside them from the next moment on.
  await act(() => new Promise((resolve) => setTimeout(resolve)));
  const stray = () => {
    fireEvent.pointerDown(document.body, { button: 0, pointerType: "mouse" });
    fireEvent.click(document.body);
    fireEvent.keyDown(document.activeElement ?? document.body, { key: "Escape" });
  };
  await act(async () => void fireEvent.click(screen.getByRole("button", { name: connect.makeKey })));
  stray();
  fireEvent.click(screen.getByRole("button", { name: frame.close }));
  expect(close).not.toHaveBeenCalled();
  await act(async () => answer());
  await screen.findByDisplayValue("tck_once");
  stray();
  expect(close).not.toHaveBeenCalled();
  const client = screen.getByLabelText(connect.client);
  fireEvent.change(client, { target: { value: "stdio" } });
  fireEvent.change(client, { target: { value: "cursor" } });
  expect(screen.getByDisplayValue("tck_once")).toBeTruthy();
  expect(screen.queryByRole("button", { name: connect.makeKey })).toBeNull();
  fireEvent.click(screen.getByRole("button", { name: frame.close }));
  expect(close).toHaveBeenCalledOnce();
});

test("without a new key it goes as drawers do", async () => {
  const close = vi.fn();
  const queries = new QueryClient();
  queries.setQueryData(meQuery.queryKey, { user: "kim", scopes: ["read", "call"] } as never);
  render(
    <QueryClientProvider client={queries}>
      <TipProvider>
        <Connect open onClose={close} />
      </TipProvider>
    </QueryClientProvider>,
  );
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "Escape" });
  expect(close).toHaveBeenCalledOnce();
});
