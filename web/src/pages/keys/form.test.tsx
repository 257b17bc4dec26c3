// A key is shown once: it goes when somebody says that they have it, not by accident.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { meQuery } from "../../api/me";
import connect from "../../i18n/en/connect.json";
import frame from "../../i18n/en/frame.json";
import keys from "../../i18n/en/keys.json";
import { TipProvider } from "../../ui/tip";
import { Made } from "./form";

beforeAll(async () => {
  const resources = { en: { connect, frame, keys } };
  await i18next.use(initReactI18next).init({ lng: "en", resources, defaultNS: "frame", ns: ["frame", "keys"] });
});
afterEach(cleanup);

const made = { id: "1", name: "laptop", key: "tc_secret" } as never;

test("neither a click beside it nor Escape takes the key away", async () => {
  const close = vi.fn();
  render(
    <TipProvider>
      <Made made={made} onClose={close} />
    </TipProvider>,
  );
  // Dialogs listen for clicks beside them from the next moment on.
  await new Promise((resolve) => setTimeout(resolve));
  fireEvent.pointerDown(document.body, { button: 0, pointerType: "mouse" });
  fireEvent.click(document.body);
  fireEvent.keyDown(document.activeElement ?? document.body, { key: "Escape" });
  expect(close).not.toHaveBeenCalled();
  fireEvent.click(screen.getByRole("button", { name: keys.made.done }));
  expect(close).toHaveBeenCalledOnce();
});

test("the way to connect a client has the key filled in", async () => {
  const queries = new QueryClient();
  queries.setQueryData(meQuery.queryKey, { user: "kim", scopes: ["read", "call"] } as never);
  render(
    <QueryClientProvider client={queries}>
      <TipProvider>
        <Made made={made} onClose={() => {}} />
      </TipProvider>
    </QueryClientProvider>,
  );
  fireEvent.click(screen.getByRole("button", { name: keys.made.connect }));
  expect(await screen.findByDisplayValue("tc_secret", {}, { timeout: 10_000 })).toBeTruthy();
}, 20_000);
