// Times as people say them; the exact one is in the tooltip and for machines.

import { useSyncExternalStore } from "react";
import { useTranslation } from "react-i18next";

const UNITS: Array<[Intl.RelativeTimeFormatUnit, number]> = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

type Formats = {
  relative: Intl.RelativeTimeFormat;
  date: Intl.DateTimeFormat;
  exact: Intl.DateTimeFormat;
  moment: Intl.DateTimeFormat;
};
const known = new Map<string, Formats>();

/** Made once for each language: making one costs as much as drawing the row that a time stands in. */
function formats(language: string): Formats {
  const found = known.get(language) ?? {
    relative: new Intl.RelativeTimeFormat(language, { numeric: "auto" }),
    date: new Intl.DateTimeFormat(language),
    moment: new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "medium" }),
    exact: new Intl.DateTimeFormat(language, { dateStyle: "full", timeStyle: "long" }),
  };
  known.set(language, found);
  return found;
}

export function ago(at: Date, language: string, now = Date.now()): string {
  const seconds = (at.getTime() - now) / 1000;
  const { relative, date } = formats(language);
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  if (unit?.[0] === "day" && Math.abs(seconds) > 30 * 86_400) return date.format(at);
  return unit
    ? relative.format(Math.round(seconds / unit[1]), unit[0])
    : relative.format(Math.round(seconds), "second");
}

/** A moment in full, as a tooltip tells it. */
export const exactly = (at: Date, language: string) => formats(language).exact.format(at);

// All times of a page go by one clock: each drawn when its row is would say different things of the same moment.
const TICK_MS = 5_000;
let clock = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const watchers = new Set<() => void>();

function watch(watcher: () => void) {
  watchers.add(watcher);
  timer ??= setInterval(() => {
    clock = Date.now();
    for (const one of watchers) one();
  }, TICK_MS);
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The clock, which stood still while nobody looked. */
function current() {
  if (timer === undefined && Math.abs(Date.now() - clock) > TICK_MS) clock = Date.now();
  return clock;
}

/** How long ago, in words; drawn anew only when they change. */
const useAgo = (at: Date, language: string) =>
  useSyncExternalStore(watch, () => {
    // What came after the last tick is not in the future.
    const now = current();
    return ago(at, language, at.getTime() > now && at.getTime() <= Date.now() ? at.getTime() : now);
  });

export function When({ at }: { at: string | null | undefined }) {
  return at ? <Ago at={at} /> : <span className="text-muted">—</span>;
}

/** Date and time, for what somebody may print. */
export function Moment({ at }: { at: string }) {
  const { i18n } = useTranslation();
  const date = new Date(at);
  return (
    <time dateTime={at} title={exactly(date, i18n.language)} className="whitespace-nowrap tabular-nums">
      {formats(i18n.language).moment.format(date)}
    </time>
  );
}

function Ago({ at }: { at: string }) {
  const { i18n } = useTranslation();
  const date = new Date(at);
  const words = useAgo(date, i18n.language);
  // The browser's own tooltip: a list has one in every row, and ours are dear.
  return (
    <time dateTime={at} title={exactly(date, i18n.language)} className="whitespace-nowrap tabular-nums">
      {words}
    </time>
  );
}

/** Three digits at most, without zeros behind the point. */
const digits = (value: number) => String(Number(value.toPrecision(3)));

/** Seconds, in the unit that suits them: what would be rounded up to the next unit is told in that one. */
export function duration(seconds: number): string {
  if (seconds < 0.000_999_5) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 0.9995) return `${digits(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(seconds < 9.995 ? 2 : 1)} s`;
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
