// A message is gone only once it was taken.

import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import i18next from "i18next";
import { initReactI18next } from "react-i18next";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import playground from "../../i18n/en/playground.json";
import { Composer } from "./composer";

beforeAll(async () => {
  await i18next.use(initReactI18next).init({ lng: "en", resources: { en: { playground } } });
});
beforeEach(() => localStorage.clear());
afterEach(cleanup);

const shown = (onSend: (text: string) => Promise<unknown>) =>
  render(<Composer isBusy={false} isWaiting={false} isStopping={false} onSend={onSend} onStop={() => {}} />);
const box = () => screen.getByRole("textbox") as HTMLTextAreaElement;
const type = (text: string) => fireEvent.change(box(), { target: { value: text } });
const send = () => fireEvent.click(screen.getByRole("button", { name: playground.send }));

test("what could not be sent is there again, before what was typed since", async () => {
  let refuse = (_: Error) => {};
  shown(() => new Promise((_, reject) => (refuse = reject)));
  type("first");
  send();
  expect(box().value).toBe("");
  type("second");
  await act(async () => refuse(new Error("gone")));
  expect(box().value).toBe("first\nsecond");
  expect((screen.getByRole("button", { name: playground.send }) as HTMLButtonElement).disabled).toBe(false);
  cleanup();
  shown(() => Promise.resolve());
  expect(box().value).toBe("first\nsecond");
});

test("what was sent is not kept", async () => {
  shown(() => Promise.resolve());
  type("hello");
  await act(async () => send());
  expect(box().value).toBe("");
  cleanup();
  shown(() => Promise.resolve());
  expect(box().value).toBe("");
});
