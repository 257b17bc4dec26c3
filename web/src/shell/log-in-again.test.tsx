// Who logs in again is asked for anew: the same person goes on, for another one nothing of the first goes on.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { meQuery } from "../api/me";
import { connection, endExpiry, loggedInAgain } from "../api/session";
import { loadTexts } from "../i18n";
import { TipProvider } from "../ui/tip";
import { LogInAgain } from "./log-in-again";

beforeAll(() => loadTexts(["frame", "errors"]));
afterEach(() => {
  endExpiry(false);
  cleanup();
  vi.restoreAllMocks();
});

const ann = { user: "ann", role: "author", scopes: ["read", "author"] };

/** The dialog over ann's page, with a request of hers waiting; `status` and `me` are what the server says who is there now. */
function expired(status: number, me: unknown) {
  const queries = new QueryClient();
  queries.setQueryData(meQuery.queryKey, ann as never);
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => new Response(JSON.stringify(me), { status }));
  const reload = vi.spyOn(location, "reload").mockImplementation(() => {});
  const goesOn = loggedInAgain();
  render(
    <QueryClientProvider client={queries}>
      <TipProvider>
        <LogInAgain />
      </TipProvider>
    </QueryClientProvider>,
  );
  fireEvent.click(screen.getByText("I am logged in again"));
  return { queries, reload, goesOn };
}

test("the same person goes on, with what they may do now", async () => {
  const { queries, reload, goesOn } = expired(200, { ...ann, role: "viewer", scopes: ["read"] });
  expect(await goesOn).toBe(true);
  expect(queries.getQueryData(meQuery.queryKey)).toMatchObject({ role: "viewer", scopes: ["read"] });
  expect(reload).not.toHaveBeenCalled();
});

test("what one person sent is not done in the name of another, and the page begins anew", async () => {
  const { reload, goesOn } = expired(200, { user: "bob", role: "admin", scopes: ["admin"] });
  expect(await goesOn).toBe(false);
  await waitFor(() => expect(reload).toHaveBeenCalled());
});

test("who is not logged in after all stays at the question", async () => {
  expired(401, { error: { code: "unauthenticated", message: "no session", details: null, request_id: "r1" } });
  expect(await screen.findByText("no session")).toBeTruthy();
  expect(connection.current().expired).toBe(true);
});
