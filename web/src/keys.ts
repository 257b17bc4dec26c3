// The one list of keys: what they do is bound here, and the sheet behind `?` and the palette read it.

import { useEffect, useSyncExternalStore } from "react";

export type Shortcut = {
  id: string;
  keys: string;
  label: string;
  /** Works while a dialog or drawer is open: it belongs to it. */
  above?: boolean;
  run: () => void;
};

let all: Shortcut[] = [];
const listeners = new Set<() => void>();
const tell = () => {
  for (const listener of listeners) listener();
};

const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

/** `mod+k` as it stands on this machine's keyboard. */
export function shownKeys(keys: string): string[] {
  return keys.split(" ").map((part) =>
    part
      .split("+")
      .map((key) =>
        key === "mod"
          ? isMac
            ? "⌘"
            : "Ctrl"
          : key === "enter"
            ? "↵"
            : /^.$|^f\d+$/.test(key)
              ? key.toUpperCase()
              : key,
      )
      .join(isMac ? "" : "+"),
  );
}

function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return !!element?.closest?.("input, textarea, select, [contenteditable=true], [role=menu], [role=listbox]");
}

/** Where the keyboard writes Hangul, the key that has the letter counts. An input method that composes may name none at all. */
function keyOf({ key, code }: KeyboardEvent): string {
  if (key === "Process" || key === "Unidentified") return code.replace(/^(Key|Digit|Numpad)(?=.)/, "").toLowerCase();
  const letter = key.length === 1 && key > "\u007f" ? /^Key([A-Z])$/.exec(code)?.[1] : undefined;
  return (letter ?? key).toLowerCase();
}

/**
 * Letters of a Korean syllable that is not finished belong to nobody else. With Ctrl or Cmd a key is no letter: whoever saves or
 * runs something right behind a syllable means it, and would have to do it twice.
 */
export const isComposing = (event: Pick<KeyboardEvent, "isComposing" | "keyCode" | "ctrlKey" | "metaKey">) =>
  (event.isComposing || event.keyCode === 229) && !event.ctrlKey && !event.metaKey;

/** Mod+Enter, which runs or sends what one is at. */
export const isModEnter = (event: KeyboardEvent) => (event.ctrlKey || event.metaKey) && keyOf(event) === "enter";

let before = "";
let beforeAt = 0;

export function onKeyDown(event: KeyboardEvent) {
  if (isComposing(event)) return;
  const key = keyOf(event);
  const mod = event.ctrlKey || event.metaKey;
  const name = `${mod ? "mod+" : ""}${event.altKey ? "alt+" : ""}${key}`;
  // Function keys write nothing.
  if (!mod && !/^f\d+$/.test(key) && isTyping(event.target)) return;
  const isCovered = !mod && document.querySelector("[role=dialog],[role=alertdialog]") !== null;
  const bound = isCovered ? all.filter((shortcut) => shortcut.above) : all;
  const chord = performance.now() - beforeAt < 1200 ? `${before} ${name}` : "";
  const found =
    bound.findLast((shortcut) => shortcut.keys === chord) ?? bound.findLast((shortcut) => shortcut.keys === name);
  before = name;
  beforeAt = performance.now();
  if (!found || event.defaultPrevented) return;
  event.preventDefault();
  before = "";
  found.run();
}

/** Binds keys while a component is there; the one that came last wins. */
export function useShortcuts(shortcuts: Shortcut[]) {
  useEffect(() => {
    all = [...all, ...shortcuts];
    tell();
    return () => {
      all = all.filter((one) => !shortcuts.includes(one));
      tell();
    };
  }, [shortcuts]);
}

export function useAllShortcuts(): Shortcut[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    () => all,
  );
}
