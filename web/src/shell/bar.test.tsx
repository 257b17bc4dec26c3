// Logging out ends at the page to log in, also where the session has ended before; where it goes on, nobody is told otherwise.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { api } from "../api/client";
import { meQuery } from "../api/me";
import { connection } from "../api/session";
import { loadTexts } from "../i18n";
import frame from "../i18n/en/frame.json";
import { TipProvider } from "../ui/tip";
import { Toasts } from "../ui/toast";
import { Bar } from "./bar";

vi.mock("@tanstack/react-router", () => ({ useNavigate: () => () => {} }));

const gone = vi.fn();
let status = 204;

beforeAll(() => loadTexts(["frame", "errors"]));
beforeEach(async () => {
  gone.mockClear();
  vi.stubGlobal("location", {
    origin: location.origin,
    set href(to: string) {
      gone(to);
    },
  });
  vi.stubGlobal("fetch", async (request: Request) => {
    if (!request.url.endsWith("/logout")) return Response.json({});
    if (status === 204) return new Response(null, { status });
    return Response.json({ error: { code: "x", message: "not now" } }, { status });
  });
  // Only whoever was in can have a session that ends.
  await api.GET("/api/v1/me");
});
afterEach(() => {
  cleanup();
  vi.unstubAllGlobals();
});

async function logOut(answer: number) {
  status = answer;
  const queries = new QueryClient();
  queries.setQueryData(meQuery.queryKey, { user: "kim", role: "admin", scopes: ["admin"] } as never);
  render(
    <QueryClientProvider client={queries}>
      <TipProvider>
        <Bar onMenu={() => {}} onSearch={() => {}} onConnect={() => {}} />
        <Toasts />
      </TipProvider>
    </QueryClientProvider>,
  );
  fireEvent.click(screen.getByRole("button", { name: /kim/ }));
  const entry = await screen.findByRole("menuitem", { name: frame.logOut }, { timeout: 10_000 });
  await act(async () => void fireEvent.click(entry));
}

// What a menu holds comes with the first that is opened.
vi.setConfig({ testTimeout: 20_000 });

test.each([204, 401])("after %d one is at the page to log in, without a question", async (answer) => {
  await logOut(answer);
  await vi.waitFor(() => expect(gone).toHaveBeenCalledExactlyOnceWith("/login"));
  expect(connection.current().expired).toBe(false);
});

test("what fails otherwise is told, and one stays", async () => {
  await logOut(500);
  expect(await screen.findByText(/not now/)).toBeTruthy();
  expect(gone).not.toHaveBeenCalled();
});
