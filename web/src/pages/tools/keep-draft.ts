// What is written and not saved stays in this browser: a moment after each change, and at once when the editor goes away, be it
// that somebody leaves, that the page is loaded anew, or that a part of it breaks.

import { type RefObject, useEffect, useRef } from "react";
import { type Draft, drafts } from "./draft";

const AFTER_MS = 300;

/** `isDone` is set once there is nothing to keep any more: it was saved, or thrown away. */
export function useKeptDraft(key: string, draft: Draft, dirty: boolean, isDone: RefObject<boolean>) {
  const unwritten = useRef<Draft>(null);
  useEffect(() => {
    if (isDone.current) return;
    unwritten.current = dirty ? draft : null;
    if (!dirty) return drafts.drop(key);
    const later = setTimeout(() => {
      unwritten.current = null;
      drafts.write(key, draft);
    }, AFTER_MS);
    return () => clearTimeout(later);
  }, [draft, dirty, key, isDone]);
  useEffect(() => {
    const write = () => {
      if (unwritten.current && !isDone.current) drafts.write(key, unwritten.current);
    };
    addEventListener("pagehide", write);
    return () => {
      removeEventListener("pagehide", write);
      write();
    };
  }, [key, isDone]);
}
