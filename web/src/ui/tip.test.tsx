// A tip costs its buttons nothing: one layer shows it, after a moment under the pointer or at once for the keys.

import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Tip, TipProvider } from "./tip";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const Page = ({ text = "Delete" }: { text?: string | null }) => (
  <TipProvider>
    <Tip text={text}>
      <button type="button">x</button>
    </Tip>
    <p>elsewhere</p>
  </TipProvider>
);
const button = () => screen.getByRole("button");
const shown = () => screen.queryByRole("tooltip")?.textContent;
const wait = (ms: number) => act(() => void vi.advanceTimersByTime(ms));
const over = (pointerType = "mouse") => fireEvent.pointerOver(button(), { pointerType });

test("it comes when the pointer rests, stays while it is pointed at, and goes", () => {
  render(<Page />);
  over();
  wait(200);
  expect(shown()).toBeUndefined();
  wait(200);
  expect(shown()).toBe("Delete");
  // It can be read with the pointer on it.
  fireEvent.pointerOver(screen.getByRole("tooltip"), { pointerType: "mouse" });
  wait(1_000);
  expect(shown()).toBe("Delete");
  fireEvent.pointerOver(screen.getByText("elsewhere"), { pointerType: "mouse" });
  wait(500);
  expect(shown()).toBeUndefined();
});

test("a finger, a click and Esc do not leave one behind", () => {
  render(<Page />);
  over("touch");
  wait(1_000);
  expect(shown()).toBeUndefined();
  over();
  wait(400);
  fireEvent.pointerDown(button());
  expect(shown()).toBeUndefined();
  over();
  wait(400);
  fireEvent.keyDown(document.body, { key: "Escape" });
  expect(shown()).toBeUndefined();
});

test("with the keys it is there at once, and goes with the focus", () => {
  render(<Page />);
  fireEvent.keyDown(document.body, { key: "Tab" });
  act(() => button().focus());
  expect(shown()).toBe("Delete");
  act(() => button().blur());
  expect(shown()).toBeUndefined();
  // What a click gives the focus to was pointed at.
  fireEvent.pointerDown(button());
  act(() => button().focus());
  expect(shown()).toBeUndefined();
});

test("without a text there is none", () => {
  render(<Page text={null} />);
  over();
  wait(1_000);
  expect(shown()).toBeUndefined();
});
