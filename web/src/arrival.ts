// Whoever comes to another page is told so: the focus goes to its heading, which is then read out. Otherwise it would stay on a
// link of the page before, or get lost with it.

import { type RefObject, useEffect } from "react";

let isAwaited = false;

type Going = { fromLocation?: { pathname: string }; pathChanged: boolean };

/** The first page is read from its beginning; what else the address says of a page moves nobody. */
export function expectArrival({ fromLocation, pathChanged }: Going) {
  isAwaited ||= fromLocation !== undefined && pathChanged;
}

/** Somebody who is already at work in the new page, or in a dialog above it, is left there. */
const isAtWork = () => document.activeElement?.closest("#main *, [role=dialog], [role=alertdialog]") != null;

/** `name` changes with the page, also where the next one is drawn by the same parts. */
export function useArrival(heading: RefObject<HTMLElement | null>, name: string) {
  // biome-ignore lint/correctness/useExhaustiveDependencies: another name is another page
  useEffect(() => {
    if (!isAwaited) return;
    isAwaited = false;
    // What was open above the page before gives the focus back first, when it is gone.
    setTimeout(() => {
      if (!isAtWork()) heading.current?.focus({ preventScroll: true });
    }, 0);
  }, [name]);
}
