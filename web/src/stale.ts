// A part of the page that did not come. After an upgrade its file is gone, and the page is loaded anew, but never twice in a row;
// where the server does not answer at all, loading anew would lose the page, so it waits until the server is back.

import { connection } from "./api/session";

const KEY = "toolcrib.reloaded";
const AGAIN_AFTER_MS = 10_000;

/** A page whose file did not come. The router loads anew whatever fails in the browser's own words, so these are others. */
export class PageMissing extends Error {
  constructor(cause: unknown) {
    super("A part of the page could not be loaded.", { cause });
  }
}

const missing = new WeakSet<object>();

/** Notes what could not be loaded, to tell it from a part that came and broke. */
export function noteMissing(at: Window = window) {
  at.addEventListener("vite:preloadError", (event) => missing.add((event as Event & { payload: Error }).payload));
}

export const isMissing = (error: unknown): boolean =>
  error instanceof PageMissing || (typeof error === "object" && error !== null && missing.has(error));

function reloadOnce(): boolean {
  const last = Number(sessionStorage.getItem(KEY) ?? 0);
  if (Date.now() - last < AGAIN_AFTER_MS) return false;
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
  return true;
}

/** Loads the page anew as soon as the server answers, unless that did not help just now. What it returns takes it back. */
export function reloadWhenAnswered(onNoHelp?: () => void): () => void {
  let isWanted = true;
  const look = async () => {
    if (!connection.current().reachable || !(await connection.answers())) return;
    if (isWanted && !reloadOnce()) onNoHelp?.();
  };
  const stop = connection.subscribe(() => void look());
  void look();
  return () => {
    isWanted = false;
    stop();
  };
}
