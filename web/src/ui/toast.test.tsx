// Something that can be taken back stays long enough for that, and can be reached without a mouse.

import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { onKeyDown } from "../keys";
import { TipProvider } from "./tip";
import { Toasts, toast } from "./toast";

beforeEach(() => {
  vi.useFakeTimers();
  document.addEventListener("keydown", onKeyDown);
  render(
    <TipProvider>
      <input aria-label="field" />
      <Toasts />
    </TipProvider>,
  );
});

afterEach(() => {
  act(() => vi.runAllTimers());
  cleanup();
  document.removeEventListener("keydown", onKeyDown);
  vi.useRealTimers();
});

const undo = vi.fn();
const tell = () => act(() => toast("Deleted", { action: { label: "Undo", run: undo } }));
const pass = (seconds: number) => act(() => vi.advanceTimersByTime(seconds * 1000));
const isThere = () => screen.queryByText("Deleted") !== null;
const region = () => screen.getByText("Deleted").closest("section") as HTMLElement;

test("what can be taken back stays longer than other news", () => {
  tell();
  act(() => toast("Saved"));
  pass(10);
  expect(screen.queryByText("Saved")).toBeNull();
  expect(isThere()).toBe(true);
  pass(11);
  expect(isThere()).toBe(false);
});

test("it does not go while the pointer is on it, and not at once after that", () => {
  tell();
  pass(19);
  fireEvent.pointerEnter(region());
  pass(60);
  expect(isThere()).toBe(true);
  fireEvent.pointerLeave(region());
  pass(2);
  expect(isThere()).toBe(true);
  pass(2);
  expect(isThere()).toBe(false);
});

test("news that come while others are held wait, too, and go afterwards", () => {
  tell();
  fireEvent.pointerEnter(region());
  act(() => toast("Saved"));
  pass(60);
  expect(screen.queryByText("Saved")).not.toBeNull();
  fireEvent.pointerLeave(region());
  pass(7);
  expect(screen.queryByText("Saved")).toBeNull();
});

test("F8 leads to Undo from a field, and back once it is done", () => {
  screen.getByLabelText("field").focus();
  tell();
  fireEvent.keyDown(screen.getByLabelText("field"), { key: "F8" });
  expect(document.activeElement?.textContent).toContain("Undo");
  pass(60);
  expect(isThere()).toBe(true);
  fireEvent.click(document.activeElement as HTMLElement);
  expect(undo).toHaveBeenCalledTimes(1);
  expect(isThere()).toBe(false);
  expect(document.activeElement).toBe(screen.getByLabelText("field"));
});

test("Esc closes the news that has the focus", () => {
  screen.getByLabelText("field").focus();
  tell();
  fireEvent.keyDown(screen.getByLabelText("field"), { key: "F8" });
  fireEvent.keyDown(document.activeElement as HTMLElement, { key: "Escape" });
  expect(isThere()).toBe(false);
  expect(document.activeElement).toBe(screen.getByLabelText("field"));
});
