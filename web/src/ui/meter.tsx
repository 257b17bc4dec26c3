// How much of something is used up: a bar, and the same in figures.

import clsx from "clsx";
import { useTranslation } from "react-i18next";

export function Meter({ count, max, label }: { count: number; max: number | null | undefined; label: string }) {
  const { i18n } = useTranslation();
  const figure = (value: number) => value.toLocaleString(i18n.language);
  if (max === null || max === undefined) return <span className="tabular-nums">{figure(count)}</span>;
  const share = max === 0 ? 1 : Math.min(1, count / max);
  return (
    <div className="grid min-w-32 gap-1">
      <span className="text-sm tabular-nums">
        {figure(count)} / {figure(max)}
      </span>
      {/* biome-ignore lint/a11y/useSemanticElements: the browser's own meter does not take our colours */}
      <div
        role="meter"
        aria-label={label}
        aria-valuemin={0}
        aria-valuemax={max}
        aria-valuenow={Math.min(count, max)}
        className="h-1.5 overflow-hidden rounded-full bg-sunken"
      >
        <div
          className={clsx("h-full rounded-full", share >= 1 ? "bg-danger" : share >= 0.8 ? "bg-warn" : "bg-accent")}
          style={{ width: `${share * 100}%` }}
        />
      </div>
    </div>
  );
}
