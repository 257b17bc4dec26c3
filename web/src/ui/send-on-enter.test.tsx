// One Enter sends one message, whatever is being composed.

import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useRef } from "react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { useSendOnEnter } from "./send-on-enter";

let sent: string[];

function Box() {
  const box = useRef<HTMLTextAreaElement>(null);
  const keys = useSendOnEnter(() => {
    const text = box.current!.value.trim();
    if (!text) return;
    sent.push(text);
    box.current!.value = "";
  });
  return <textarea ref={box} {...keys} />;
}

beforeEach(() => {
  sent = [];
  vi.useFakeTimers();
  render(<Box />);
});
afterEach(() => {
  vi.useRealTimers();
  cleanup();
});

const box = () => screen.getByRole("textbox") as HTMLTextAreaElement;
// The test's browser leaves out what was composed.
const ended = (data: string) =>
  fireEvent(box(), Object.assign(new CompositionEvent("compositionend", { bubbles: true }), { data }));
const enter = (more: object = {}) => fireEvent.keyDown(box(), { key: "Enter", keyCode: 13, ...more });

test("Enter while a syllable is composed sends the whole text once, after it has ended", () => {
  box().value = "안녕하세요";
  enter({ isComposing: true, keyCode: 229 });
  expect(sent).toEqual([]);
  ended("요");
  vi.runAllTimers();
  expect(sent).toEqual(["안녕하세요"]);
});

test("browsers that say Enter again after the composing send no second message", () => {
  box().value = "안녕";
  enter({ isComposing: true, keyCode: 229 });
  ended("녕");
  enter();
  vi.runAllTimers();
  expect(sent).toEqual(["안녕"]);
});

test("choosing a Japanese word with Enter sends nothing", () => {
  box().value = "日本";
  enter({ isComposing: true, keyCode: 229 });
  ended("日本");
  vi.runAllTimers();
  expect(sent).toEqual([]);
  enter();
  expect(sent).toEqual(["日本"]);
});

test("a syllable that ends without Enter sends nothing, and Shift+Enter never does", () => {
  box().value = "가";
  ended("가");
  enter({ shiftKey: true });
  vi.runAllTimers();
  expect(sent).toEqual([]);
});
