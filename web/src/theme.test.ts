// Whoever left the theme to the system sees what the system shows, also when that changes.

import { expect, test, vi } from "vitest";
import { followSystem, paint } from "./theme";

function system() {
  const media = Object.assign(new EventTarget(), { matches: false });
  vi.stubGlobal("matchMedia", () => media);
  return {
    turn: (dark: boolean) => {
      media.matches = dark;
      media.dispatchEvent(new Event("change"));
    },
  };
}

const isDark = () => document.documentElement.classList.contains("dark");

test("follows the system unless somebody chose", () => {
  const { turn } = system();
  followSystem();
  paint("system");
  expect(isDark()).toBe(false);
  turn(true);
  expect(isDark()).toBe(true);
  paint("light");
  turn(false);
  turn(true);
  expect(isDark()).toBe(false);
  paint("system");
  expect(isDark()).toBe(true);
});
