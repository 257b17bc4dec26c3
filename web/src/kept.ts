// What is written and not saved stays in this browser: a moment after each change, and at once when a form goes away, be it that
// somebody leaves, that the page is loaded anew, or that a part of it breaks.

import { type Dispatch, type RefObject, type SetStateAction, useEffect, useMemo, useRef, useState } from "react";

const AFTER_MS = 300;

type Store<T> = { write: (key: string, draft: T) => void; drop: (key: string) => void };

/** `isDone` is set once there is nothing to keep any more: it was saved, or thrown away. */
export function useKeeping<T>(store: Store<T>, key: string, draft: T, dirty: boolean, isDone: RefObject<boolean>) {
  const unwritten = useRef<{ draft: T }>(null);
  useEffect(() => {
    if (isDone.current) return;
    unwritten.current = dirty ? { draft } : null;
    if (!dirty) return store.drop(key);
    const later = setTimeout(() => {
      unwritten.current = null;
      store.write(key, draft);
    }, AFTER_MS);
    return () => clearTimeout(later);
  }, [store, draft, dirty, key, isDone]);
  useEffect(() => {
    const write = () => {
      if (unwritten.current && !isDone.current) store.write(key, unwritten.current.draft);
    };
    addEventListener("pagehide", write);
    return () => {
      removeEventListener("pagehide", write);
      write();
    };
  }, [store, key, isDone]);
}

function read<T>(key: string): T | null {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null") as T | null;
  } catch {
    return null;
  }
}

export type Kept<T> = {
  draft: T;
  setDraft: Dispatch<SetStateAction<T>>;
  /** What is there was written another time. */
  isRestored: boolean;
  discard: () => void;
  /** It is saved: nothing of it is kept any more. */
  done: () => void;
  /** For the question to whoever leaves. */
  leaving: { dirty: boolean; isDone: RefObject<boolean>; onDiscard: () => void };
};

/**
 * The state of a form that begins as `original`, or as what was not saved the last time. `safe` leaves out what must not stay
 * behind in a browser: passwords that were typed.
 */
export function useKept<T extends object>(
  name: string,
  original: T,
  safe: (draft: T) => T = (draft) => draft,
): Kept<T> {
  const key = `toolcrib.form.${name}`;
  const [begun] = useState(original);
  const [found] = useState(() => read<T>(key));
  const [draft, setDraft] = useState<T>(() => (found ? { ...begun, ...found } : begun));
  const [isRestored, setRestored] = useState(found !== null);
  const isDone = useRef(false);
  const leaveOut = useRef(safe);
  const store = useMemo(
    (): Store<T> => ({
      write: (at, what) => localStorage.setItem(at, JSON.stringify(leaveOut.current(what))),
      drop: (at) => localStorage.removeItem(at),
    }),
    [],
  );
  const dirty = JSON.stringify(draft) !== JSON.stringify(begun);
  useKeeping(store, key, draft, dirty, isDone);
  return {
    draft,
    setDraft,
    isRestored,
    discard: () => {
      setDraft(begun);
      setRestored(false);
    },
    done: () => {
      isDone.current = true;
      store.drop(key);
    },
    leaving: { dirty, isDone, onDiscard: () => store.drop(key) },
  };
}
