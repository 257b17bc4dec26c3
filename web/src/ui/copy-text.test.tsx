// What is copied is in the clipboard, or it is said that it is not.

import { act, cleanup, render, screen } from "@testing-library/react";
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import frame from "../i18n/en/frame.json";
import { copyText } from "./copy-text";
import { TipProvider } from "./tip";
import { Toasts } from "./toast";

let taken: string | undefined;
const oldWay = vi.fn(() => {
  taken = (document.activeElement as HTMLTextAreaElement).value;
  return true;
});

beforeAll(async () => {
  await i18next.use(initReactI18next).init({ lng: "en", resources: { en: { frame } }, defaultNS: "frame" });
});
beforeEach(() => {
  taken = undefined;
  document.execCommand = oldWay;
});
afterEach(() => {
  vi.unstubAllGlobals();
  cleanup();
});

const withClipboard = (clipboard: unknown) => vi.stubGlobal("navigator", { clipboard });

test("on plain http, from within a dialog, too", async () => {
  withClipboard(undefined);
  render(
    <div role="dialog">
      <button type="button">here</button>
    </div>,
  );
  screen.getByRole("button").focus();
  oldWay.mockImplementationOnce(() => {
    taken = document.querySelector("textarea")?.value;
    return document.querySelector("textarea")?.closest("[role=dialog]") !== null;
  });
  expect(await copyText("a key")).toBe(true);
  expect(taken).toBe("a key");
  expect(document.querySelector("textarea")).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole("button"));
});

test("where it is refused, by the old way", async () => {
  withClipboard({ writeText: () => Promise.reject(new Error("denied")) });
  expect(await copyText("x")).toBe(true);
});

test("where neither works, it is said", async () => {
  withClipboard(undefined);
  oldWay.mockReturnValueOnce(false);
  render(
    <TipProvider>
      <Toasts />
    </TipProvider>,
  );
  await act(async () => expect(await copyText("x")).toBe(false));
  expect(screen.getByText(frame.copyFailed)).toBeTruthy();
});
