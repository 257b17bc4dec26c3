// Whether the server answers and still knows us. A request that finds the session gone waits here until somebody has logged
// in again, and is then sent once more: nothing that was typed is lost.

type Connection = { reachable: boolean; expired: boolean };

let now: Connection = { reachable: true, expired: false };
const listeners = new Set<() => void>();
let waiting: Array<(again: boolean) => void> = [];
let probe: ReturnType<typeof setTimeout> | undefined;

function set(change: Partial<Connection>) {
  const next = { ...now, ...change };
  if (next.reachable === now.reachable && next.expired === now.expired) return;
  now = next;
  for (const listener of listeners) listener();
}

export const connection = {
  subscribe(listener: () => void) {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  },
  current: () => now,
  lost() {
    set({ reachable: false });
    if (!probe) probe = setTimeout(look, 2000);
  },
  found: () => set({ reachable: true }),
  /** Whether the server answers now. */
  async answers(): Promise<boolean> {
    try {
      await fetch("/healthz", { cache: "no-store" });
      connection.found();
      return true;
    } catch {
      connection.lost();
      return false;
    }
  },
};

function look() {
  probe = undefined;
  void connection.answers();
}

/// Resolves with true once somebody has logged in again.
export function loggedInAgain(): Promise<boolean> {
  set({ expired: true });
  return new Promise((resolve) => waiting.push(resolve));
}

export function endExpiry(again: boolean) {
  const all = waiting;
  waiting = [];
  set({ expired: false });
  for (const resolve of all) resolve(again);
}
