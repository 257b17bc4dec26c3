// Times as people say them; the exact one is in the tooltip and for machines.

import { useTranslation } from "react-i18next";

const UNITS: Array<[Intl.RelativeTimeFormatUnit, number]> = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

type Formats = { relative: Intl.RelativeTimeFormat; date: Intl.DateTimeFormat; exact: Intl.DateTimeFormat };
const known = new Map<string, Formats>();

/** Made once for each language: making one costs as much as drawing the row that a time stands in. */
function formats(language: string): Formats {
  const found = known.get(language) ?? {
    relative: new Intl.RelativeTimeFormat(language, { numeric: "auto" }),
    date: new Intl.DateTimeFormat(language),
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

export function When({ at }: { at: string | null | undefined }) {
  const { i18n } = useTranslation();
  if (!at) return <span className="text-muted">—</span>;
  const date = new Date(at);
  // The browser's own tooltip: a list has one in every row, and ours are dear.
  return (
    <time dateTime={at} title={exactly(date, i18n.language)} className="whitespace-nowrap tabular-nums">
      {ago(date, i18n.language)}
    </time>
  );
}

/** Seconds, in the unit that suits them. */
export function duration(seconds: number): string {
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${(seconds * 1000).toPrecision(3).replace(/\.?0+$/, "")} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
