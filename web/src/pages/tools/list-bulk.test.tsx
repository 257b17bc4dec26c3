// What is done with many tools is done, and undone, only where it makes a difference.

import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import frame from "../../i18n/en/frame.json";
import tools from "../../i18n/en/tools.json";
import { TipProvider } from "../../ui/tip";
import { Toasts } from "../../ui/toast";
import { BulkBar } from "./list-bulk";
import type { Tool } from "./queries";

const switched = vi.hoisted(() => vi.fn());
vi.mock("./queries", () => ({
  isChangeable: () => true,
  switchTool: (_: unknown, name: string, on: boolean) => switched(name, on),
}));
vi.mock("../../api/me", () => ({ useMay: () => true }));

beforeAll(async () => {
  const resources = { en: { frame, tools } };
  await i18next.use(initReactI18next).init({ lng: "en", resources, defaultNS: "frame", ns: ["frame", "tools"] });
});
afterEach(cleanup);

const click = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));

test("only what was switched off is switched on again, and what then fails is told", async () => {
  switched.mockResolvedValue(undefined);
  const all = [
    { name: "on", is_active: true },
    { name: "off", is_active: false },
  ] as Tool[];
  render(
    <QueryClientProvider client={new QueryClient()}>
      <TipProvider>
        <BulkBar tools={all} chosen={new Set(["on", "off"])} onChoose={() => {}} />
        <Toasts />
      </TipProvider>
    </QueryClientProvider>,
  );
  await click(tools.turnOff);
  expect(switched.mock.calls).toEqual([["on", false]]);
  switched.mockClear();
  switched.mockRejectedValue(new Error("not now"));
  await click(tools.undo);
  expect(switched.mock.calls).toEqual([["on", true]]);
  expect(screen.getByText(/not now/)).toBeTruthy();
});
