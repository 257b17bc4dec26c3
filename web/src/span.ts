// Spans of time as an address has them (`since=24h`, or two moments), and the equal steps that a chart draws them in.

export type Span = { from: number; to: number };

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** `15m`, `24h`, `7d` in milliseconds; none where it is something else. */
export function spanLength(text: string): number | undefined {
  const found = /^(\d+)([smhd])$/.exec(text);
  return found ? Number(found[1]) * (UNITS[found[2]!] ?? 0) : undefined;
}

/** Whoever looks again within this long asks for the same; what comes meanwhile belongs to a span that ends now. */
const GRAIN = 15_000;

/** Where a span is said to begin and to end; either may be no number, and the end before the beginning. */
export function endsOf(since: string | undefined, until: string | undefined, now = Date.now()): Span {
  const at = Math.floor(now / GRAIN) * GRAIN;
  const moment = (text: string) => {
    const length = spanLength(text);
    return length === undefined ? Date.parse(text) : at - length;
  };
  const to = until ? moment(until) : at + GRAIN;
  return { from: !since || since === "all" ? to - 30 * UNITS.d! : moment(since), to };
}

export type SpanProblem = "unread" | "reversed";

export function spanProblem({ from, to }: Span): SpanProblem | undefined {
  if (!Number.isFinite(from) || !Number.isFinite(to)) return "unread";
  return from < to ? undefined : "reversed";
}

/** What `since` and `until` mean now; the last day where they are no span. `all` reaches back as far as a chart makes sense of. */
export function spanOf(since: string | undefined, until: string | undefined, now = Date.now()): Span {
  const ends = endsOf(since, until, now);
  return spanProblem(ends) ? endsOf("24h", undefined, now) : ends;
}

const STEPS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 604_800].map(
  (seconds) => seconds * 1000,
);

/**
 * Equal steps, about as long as people count time in, that hold the span and nothing else: what is counted in them is what a list
 * of the same span shows. The last one has what is left, as where the server counts.
 */
export function stepsOf({ from, to }: Span, most: number): Span[] {
  const length = to - from;
  const about = STEPS.find((step) => length / step <= most) ?? length / most;
  const count = Math.min(most, Math.max(1, Math.round(length / about)));
  const size = Math.ceil(length / count);
  return Array.from({ length: count }, (_, at) => ({
    from: Math.min(from + at * size, to),
    to: Math.min(from + (at + 1) * size, to),
  }));
}

/** The moment a step begins, as short as its length allows; with its day where the whole reaches over more than one. */
export function momentLabel(at: number, length: number, language: string, isLong = false): string {
  const day = { month: "short", day: "numeric" } as const;
  const time = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" } as const;
  const inDay = length < 60_000 ? { ...time, second: "2-digit" as const } : time;
  const options = length >= UNITS.d! ? day : isLong ? { ...day, ...inDay } : inDay;
  return new Date(at).toLocaleString(language, options);
}
