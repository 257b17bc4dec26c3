// Enter in a search within a form: it chooses the first hit, and does not send the form.

import { useEffect, useRef } from "react";
import { useSendOnEnter } from "./send-on-enter";

/** `first` is the first hit of what is typed now; while that is not known, Enter waits for it, unless somebody types on. */
export function usePickFirst<T>(text: string, isKnown: boolean, first: T | undefined, pick: (one: T) => void) {
  const wanted = useRef<string>(null);
  const pickNow = () => {
    if (wanted.current !== null && wanted.current !== text) wanted.current = null;
    if (wanted.current === null || !isKnown) return;
    wanted.current = null;
    if (first !== undefined) pick(first);
  };
  const latest = useRef(pickNow);
  latest.current = pickNow;
  useEffect(() => latest.current());
  return useSendOnEnter(() => {
    // A list of everything has no first hit that anybody meant.
    if (text.trim() === "") return;
    wanted.current = text;
    latest.current();
  });
}
