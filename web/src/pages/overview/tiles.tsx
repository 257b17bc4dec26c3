// Four numbers of the last day, how they went over its hours, and whether they are more than the day before.

import { Link } from "@tanstack/react-router";
import { ArrowDown, ArrowUp } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { ENOUGH, slowest } from "../../behind/jobs";
import { share } from "../../ui/share";
import { Spark } from "../../ui/spark";
import { duration } from "../../ui/time";
import { change, type Day, errorShare } from "./use-day";

type TileProps = {
  label: string;
  value: string;
  /** What the number is of, where that is not plain. */
  of?: ReactNode;
  spark?: number[];
  bad?: number[];
  delta: number | undefined;
  /** What is different is itself a share: told in points, since a percentage of a percentage is something else. */
  inPoints?: boolean;
  /** Whether the day before is known yet. */
  isKnown: boolean;
  to: string;
  search?: Record<string, string>;
};

function Tile({ label, value, of, spark, bad, delta, inPoints, isKnown, to, search }: TileProps) {
  const { t, i18n } = useTranslation("home");
  const Icon = (delta ?? 0) < 0 ? ArrowDown : ArrowUp;
  const signed = { maximumFractionDigits: inPoints ? 1 : 0, signDisplay: "exceptZero" } as const;
  const told = inPoints
    ? t("points", { points: new Intl.NumberFormat(i18n.language, signed).format(100 * (delta ?? 0)) })
    : t("delta", { share: new Intl.NumberFormat(i18n.language, { ...signed, style: "percent" }).format(delta ?? 0) });
  return (
    <Link
      to={to}
      search={search as never}
      className="grid gap-1 rounded-lg border bg-panel px-4 py-3 no-underline hover:border-strong"
    >
      <span className="text-sm text-muted">{label}</span>
      <span className="flex items-end justify-between gap-2">
        <span className="text-2xl font-semibold tabular-nums">{value}</span>
        {spark && <Spark values={spark} bad={bad} label={t("overDay", { name: label })} />}
      </span>
      <span className="flex min-h-5 items-center gap-1 truncate text-xs text-muted">
        {of ??
          (delta === undefined ? (
            isKnown && t("noBefore")
          ) : (
            <>
              {Math.abs(delta) >= 0.005 && <Icon aria-hidden className="size-3" />}
              {told}
            </>
          ))}
      </span>
    </Link>
  );
}

export function Tiles({ day }: { day: Day }) {
  const { t, i18n } = useTranslation("home");
  const { now, before, steps } = day;
  const slow = slowest(now?.tools ?? []);
  const number = (value: number) => value.toLocaleString(i18n.language);
  const callers = now?.callers_in_all ?? 0;
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 xl:grid-cols-4">
      <Tile
        label={t("tile.calls")}
        value={now ? number(now.total) : "…"}
        spark={steps.map((step) => step.calls)}
        delta={change(now?.total ?? 0, before?.total)}
        isKnown={before !== undefined}
        to="/executions"
      />
      <Tile
        label={t("tile.errors")}
        value={now ? share(now.errors, now.total, i18n.language, 1) : "…"}
        spark={steps.map((step) => step.calls)}
        bad={steps.map((step) => step.errors)}
        delta={before?.total ? errorShare(now) - errorShare(before) : undefined}
        inPoints
        isKnown={before !== undefined}
        to="/executions"
        search={{ status: "error" }}
      />
      <Tile
        label={t("tile.p95")}
        value={slow ? duration(slow.p95_us / 1e6) : now ? "—" : "…"}
        of={
          slow && (
            <>
              <span className="truncate font-mono">{slow.tool_name}</span>
              {slow.calls >= ENOUGH && <span className="shrink-0">· {t("tile.enough", { count: ENOUGH })}</span>}
            </>
          )
        }
        delta={undefined}
        isKnown={before !== undefined}
        to="/analytics"
      />
      <Tile
        label={t("tile.callers")}
        value={now ? number(callers) : "…"}
        delta={change(callers, before?.callers_in_all)}
        isKnown={before !== undefined}
        to="/analytics"
      />
    </div>
  );
}
