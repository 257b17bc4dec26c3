// Where the focus goes once something above the page is closed: to whatever opened it. Radix knows that only of its own buttons.

import { useRef } from "react";

/** An entry of a menu goes with its menu, but not the menu's button. */
function openerOf(element: Element | null): HTMLElement | null {
  const button = element?.closest("[role=menu]")?.getAttribute("aria-labelledby");
  return (button ? document.getElementById(button) : element) as HTMLElement | null;
}

// What opened a dialog may be gone before the dialog is there.
let last: HTMLElement | null = null;
globalThis.document?.addEventListener("focusin", (event) => {
  last = openerOf(event.target as Element);
});

/** For the content of a dialog. `begin` puts the focus somewhere else than at its first control. */
export function useOpener(begin?: (content: HTMLElement) => void) {
  const opener = useRef<HTMLElement>(null);
  return {
    onOpenAutoFocus: (event: Event) => {
      const now = document.activeElement;
      opener.current = now === document.body ? last : openerOf(now);
      if (!begin) return;
      event.preventDefault();
      begin(event.currentTarget as HTMLElement);
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault();
      // What is behind stays where it is scrolled to. Where what opened this is gone, one goes on in the page, not before it.
      const goal = opener.current?.isConnected ? opener.current : document.getElementById("main");
      goal?.focus({ preventScroll: true });
    },
  };
}

// The first control is most often the button that closes it: it would show its tooltip, and the first Esc would only close that.

export const atContent = (content: HTMLElement) => content.focus();

const FIELD = "input:not([type=hidden],[readonly],:disabled), textarea:not([readonly],:disabled)";

export const atFirstField = (content: HTMLElement) => (content.querySelector<HTMLElement>(FIELD) ?? content).focus();
