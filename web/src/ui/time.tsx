// Times as people say them; the exact one is in the tooltip and for machines.

import { useTranslation } from "react-i18next";
import { Tip } from "./tip";

const UNITS: Array<[Intl.RelativeTimeFormatUnit, number]> = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

export function ago(at: Date, language: string, now = Date.now()): string {
  const seconds = (at.getTime() - now) / 1000;
  const format = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const unit = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  if (unit?.[0] === "day" && Math.abs(seconds) > 30 * 86_400) return at.toLocaleDateString(language);
  return unit ? format.format(Math.round(seconds / unit[1]), unit[0]) : format.format(Math.round(seconds), "second");
}

export function When({ at }: { at: string | null | undefined }) {
  const { i18n } = useTranslation();
  if (!at) return <span className="text-muted">—</span>;
  const date = new Date(at);
  return (
    <Tip text={date.toLocaleString(i18n.language, { dateStyle: "full", timeStyle: "long" })}>
      <time dateTime={at} className="whitespace-nowrap tabular-nums">
        {ago(date, i18n.language)}
      </time>
    </Tip>
  );
}

/** Seconds, in the unit that suits them. */
export function duration(seconds: number): string {
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 1) return `${(seconds * 1000).toPrecision(3).replace(/\.?0+$/, "")} ms`;
  if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
}
