// What is written and not saved stays in this browser: a moment after each change, and at once when a form goes away, be it that
// somebody leaves, that the page is loaded anew, or that a part of it breaks.

import i18next from "i18next";
import { type Dispatch, type RefObject, type SetStateAction, useEffect, useMemo, useRef, useState } from "react";
import { readExact, writeExact } from "./exact";
import { toast } from "./ui/toast";

const AFTER_MS = 300;

let isToldOfNoRoom = false;

/** A browser that has no room left, or keeps nothing, says so by throwing: whoever relies on it is told, once. */
function keep(write: () => void) {
  try {
    write();
  } catch {
    if (!isToldOfNoRoom) toast(i18next.t("notKept"), { failed: true });
    isToldOfNoRoom = true;
  }
}

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
      keep(() => store.write(key, draft));
    }, AFTER_MS);
    return () => clearTimeout(later);
  }, [store, draft, dirty, key, isDone]);
  useEffect(() => {
    const write = () => {
      const last = unwritten.current;
      if (last && !isDone.current) keep(() => store.write(key, last.draft));
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
    return readExact(localStorage.getItem(key) ?? "null") as T | null;
  } catch {
    return null;
  }
}

/** The version a draft was begun on, where what is stored has one: nobody overwrites what they have not seen. */
const versionOf = (draft: object) => (draft as { version?: number }).version ?? 0;

const isSame = (one: object, other: object) =>
  writeExact({ ...one, version: 0 }) === writeExact({ ...other, version: 0 });

const keyOf = (name: string) => `toolcrib.form.${name}`;

export type Kept<T> = {
  draft: T;
  setDraft: Dispatch<SetStateAction<T>>;
  /** What is there was written another time. */
  isRestored: boolean;
  discard: () => void;
  /** It is saved, and the form goes away: nothing of it is kept any more. */
  done: () => void;
  /** It is saved as `next` under another name, where somebody is brought: what was written since `sent` is found again there. */
  moved: (sent: T, next: T, name: string) => void;
  /** It is saved as `next`, and the form stays: what was written since `sent` is a change of that. */
  saved: (sent: T, next: T) => void;
  /** What is stored now, and whether somebody saved it after this was begun. */
  stored: T;
  isOutdated: boolean;
  /** What is written goes on from the version that somebody else saved since. */
  goOn: () => void;
  /** For the question to whoever leaves. */
  leaving: { dirty: boolean; isDone: RefObject<boolean>; onDiscard: () => void };
};

/**
 * The state of a form that begins as `original`, or as what was not saved the last time. `safe` leaves out what must not stay
 * behind in a browser, passwords that were typed, and puts what is stored in their place. A newer version of `original` is taken
 * over while nothing is written; what is written stays, with the version it was begun on.
 */
export function useKept<T extends object>(
  name: string,
  original: T,
  safe: (draft: T, stored: T) => T = (draft) => draft,
): Kept<T> {
  const key = keyOf(name);
  const [begun, setBegun] = useState(original);
  const [draft, setDraft] = useState<T>(() => {
    const found = read<T>(key);
    const was = found && { ...begun, ...found };
    return was && !isSame(was, begun) ? was : begun;
  });
  const [isRestored, setRestored] = useState(draft !== begun);
  const isDone = useRef(false);
  const leaveOut = useRef((what: T) => what);
  leaveOut.current = (what) => safe(what, begun);
  const place = useRef<string>(null);
  const store = useMemo(
    (): Store<T> => ({
      write: (at, what) => localStorage.setItem(place.current ?? at, writeExact(leaveOut.current(what))),
      drop: (at) => localStorage.removeItem(place.current ?? at),
    }),
    [],
  );
  const dirty = !isSame(draft, begun);
  if (versionOf(original) > versionOf(begun)) {
    setBegun(original);
    if (!dirty) setDraft(original);
  }
  useKeeping(store, key, draft, dirty, isDone);
  const saved = (sent: T, next: T) => {
    setBegun(next);
    setDraft((now) => (isSame(now, sent) ? next : { ...now, version: versionOf(next) }));
    setRestored(false);
  };
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
    saved,
    moved: (sent, next, to) => {
      store.drop(key);
      place.current = keyOf(to);
      saved(sent, next);
    },
    stored: begun,
    isOutdated: !isDone.current && versionOf(draft) !== versionOf(begun),
    goOn: () => setDraft((now) => ({ ...now, version: versionOf(begun) })),
    leaving: { dirty, isDone, onDiscard: () => store.drop(key) },
  };
}
