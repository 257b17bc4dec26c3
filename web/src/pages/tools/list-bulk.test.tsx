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

const { switched, removed, restored, went, came } = vi.hoisted(() => ({
  switched: vi.fn(),
  removed: vi.fn(),
  restored: vi.fn(async () => {}),
  went: vi.fn(),
  came: vi.fn(),
}));
vi.mock("./queries", () => ({
  mayChange: () => true,
  switchTool: (_: unknown, name: string, on: boolean) => switched(name, on),
  removeOne: (_: unknown, name: string) => removed(name),
  restoreOne: restored,
  toolsWent: went,
  toolsCame: came,
}));
vi.mock("../../api/me", () => ({ useMay: () => true, useMe: () => ({ user: "admin", scopes: ["admin"] }) }));

beforeAll(async () => {
  const resources = { en: { frame, tools } };
  await i18next.use(initReactI18next).init({ lng: "en", resources, defaultNS: "frame", ns: ["frame", "tools"] });
});
afterEach(cleanup);

const click = (name: string) => act(async () => void fireEvent.click(screen.getByRole("button", { name })));

test("all that fit can be chosen where only some of them are loaded", async () => {
  const bar = (onWhole?: () => Promise<void>) => (
    <QueryClientProvider client={new QueryClient()}>
      <TipProvider>
        <BulkBar
          tools={[{ name: "on", is_active: true } as Tool]}
          chosen={new Set(["on"])}
          onChoose={() => {}}
          onWhole={onWhole}
        />
        <Toasts />
      </TipProvider>
    </QueryClientProvider>
  );
  const { rerender } = render(bar());
  expect(screen.queryByRole("button", { name: tools.chooseWhole })).toBeNull();
  const whole = vi.fn().mockResolvedValueOnce(undefined).mockRejectedValueOnce(new Error("gone away"));
  rerender(bar(whole));
  await click(tools.chooseWhole);
  expect(whole).toHaveBeenCalledTimes(1);
  expect(screen.queryByText(/gone away/)).toBeNull();
  await click(tools.chooseWhole);
  expect(screen.getByText(/gone away/)).toBeTruthy();
});

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

test("many are deleted a few at a time, it is told how far, and it can be stopped", async () => {
  const waiting: Array<() => void> = [];
  removed.mockImplementation((name: string) =>
    name === "t1"
      ? Promise.reject(new Error("not this one"))
      : new Promise<void>((resolve) => waiting.push(() => resolve())),
  );
  const all = Array.from({ length: 50 }, (_, at) => ({ name: `t${at}`, is_active: true }) as Tool);
  render(
    <QueryClientProvider client={new QueryClient()}>
      <TipProvider>
        <BulkBar tools={all} chosen={new Set(all.map((tool) => tool.name))} onChoose={() => {}} />
        <Toasts />
      </TipProvider>
    </QueryClientProvider>,
  );
  await click(tools.delete);
  await act(async () => void fireEvent.click(screen.getAllByRole("button", { name: tools.delete }).at(-1)!));
  expect(waiting).toHaveLength(4);
  expect(screen.queryByRole("alertdialog")).toBeNull();
  expect(screen.getByText("1 of 50")).toBeTruthy();
  await act(async () => waiting.splice(0, 2).map((end) => end()));
  expect(screen.getByText("3 of 50")).toBeTruthy();
  await click(tools.stop);
  await act(async () => waiting.splice(0).map((end) => end()));
  expect(screen.getByText(/^6 tools were deleted Stopped: 43 are left as they were\./)).toBeTruthy();
  expect(screen.getByText(/not this one/)).toBeTruthy();
  expect(removed).toHaveBeenCalledTimes(7);
  expect(went).toHaveBeenCalledOnce();
  await click(tools.undo);
  expect(restored).toHaveBeenCalledTimes(6);
  expect(came).toHaveBeenCalledOnce();
});
