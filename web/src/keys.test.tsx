// The keys do the same whatever language the keyboard writes.

import { cleanup, fireEvent, renderHook } from "@testing-library/react";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { onKeyDown, useShortcuts } from "./keys";

const ran = vi.fn();
beforeEach(() => {
  ran.mockClear();
  addEventListener("keydown", onKeyDown);
  const shortcuts = ["mod+k", "mod+s", "mod+enter", "j", "g t", "/"].map((keys) => ({
    id: keys,
    keys,
    label: keys,
    run: () => ran(keys),
  }));
  renderHook(() => useShortcuts(shortcuts));
});
afterEach(() => {
  removeEventListener("keydown", onKeyDown);
  cleanup();
});

const press = (key: string, code: string, more: object = {}) =>
  fireEvent.keyDown(document.body, { key, code, ...more });

test("in Hangul, the key with the letter counts", () => {
  press("ㅏ", "KeyK", { ctrlKey: true });
  press("ㅓ", "KeyJ");
  press("ㅎ", "KeyG");
  press("ㅅ", "KeyT");
  expect(ran.mock.calls.flat()).toEqual(["mod+k", "j", "g t"]);
});

test("in Latin, the letter itself, wherever the layout has it", () => {
  press("j", "KeyC");
  press("/", "Digit7");
  press("é", "KeyJ", { isComposing: true });
  expect(ran.mock.calls.flat()).toEqual(["j", "/"]);
});

test("with Ctrl or Cmd a key means the same while a syllable is being composed, however the input method names it", () => {
  const composing = { isComposing: true, keyCode: 229 };
  press("Process", "KeyS", { ctrlKey: true, ...composing });
  press("ㄴ", "KeyS", { metaKey: true, isComposing: true });
  press("Process", "Enter", { ctrlKey: true, ...composing });
  press("Process", "KeyJ", composing);
  press("Enter", "Enter", composing);
  expect(ran.mock.calls.flat()).toEqual(["mod+s", "mod+s", "mod+enter"]);
});
