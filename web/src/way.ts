// Where somebody wanted to go when they had to log in first. It stays in the tab: whatever way they come in, they go on there, and
// no address says where, so none can send them elsewhere.

const KEPT = "toolcrib.way";
/** Who comes back later than that has begun something else. */
const KEPT_MS = 30 * 60_000;

export function rememberWay(way: string) {
  sessionStorage.setItem(KEPT, JSON.stringify({ way, at: Date.now() }));
}

/** Once. */
export function takeWay(): string | undefined {
  const kept = sessionStorage.getItem(KEPT);
  if (!kept) return undefined;
  sessionStorage.removeItem(KEPT);
  const { way, at } = JSON.parse(kept) as { way: string; at: number };
  return Date.now() - at < KEPT_MS ? way : undefined;
}
