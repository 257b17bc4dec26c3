// After an upgrade an open tab asks for files that are not there any more: it is loaded anew, but never twice in a row.

const KEY = "toolcrib.reloaded";
const AGAIN_AFTER_MS = 10_000;

export function reloadWhenStale(at: Window = window, now = Date.now) {
  at.addEventListener("vite:preloadError", (event) => {
    const last = Number(at.sessionStorage.getItem(KEY) ?? 0);
    if (now() - last < AGAIN_AFTER_MS) return;
    at.sessionStorage.setItem(KEY, String(now()));
    event.preventDefault();
    at.location.reload();
  });
}
