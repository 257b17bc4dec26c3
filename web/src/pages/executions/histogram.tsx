// How many calls there were when, above the list of them; dragging over it filters the list.

import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { useStats } from "../../api/stats";
import type { Search } from "../../search";
import { spanOf } from "../../span";
import { Bars } from "../../ui/bars";
import { filterOf, STEPS, USUAL_SPAN } from "./queries";

/** While calls come in, the numbers are counted anew as often as that. */
export const EVERY_MS = 3_000;
/** Otherwise neither the list nor its numbers change under the eyes. */
const STILL = { refetchOnWindowFocus: false };

/** `now` is when the list below was asked for. */
type Props = { found: Search; now: number; isLive: boolean; onChange: (change: Search) => void };

export function Histogram({ found, now, isLive, onChange }: Props) {
  const { t, i18n } = useTranslation("executions");
  const span = useMemo(() => spanOf(found.since || USUAL_SPAN, found.until, now), [found.since, found.until, now]);
  const { status, tool, caller, transport } = filterOf(found);
  const {
    steps: bars,
    data,
    error,
    isPending,
  } = useStats(span, STEPS, { status, tool, caller, transport }, isLive ? { refetchInterval: EVERY_MS } : STILL);
  const total = data?.total ?? 0;
  // The list says what is wrong; a second time here would help nobody.
  if (error) return null;
  const of = [tool, caller].filter(Boolean).join(" · ");
  const text = of
    ? t("callsOf", { count: total, shown: total.toLocaleString(i18n.language), name: of })
    : t("calls", { count: total, shown: total.toLocaleString(i18n.language) });
  // The list goes on below what the bars are drawn for.
  const isMore = found.since === "all" && !found.until;
  const since = data && !data.complete && new Date(data.covered_since).toLocaleString(i18n.language);
  return (
    <div className="rounded-lg border bg-panel px-3 pt-2 pb-1">
      <p className="mb-1 flex flex-wrap justify-between gap-x-4 text-xs text-muted">
        <span>
          {isPending ? "…" : text}
          {isMore && ` · ${t("span.30d")}`}
          {since && ` (${t("onlySince", { since })})`}
        </span>
        <span className="hidden md:inline">{t("dragToFilter")}</span>
      </p>
      <Bars
        bars={bars}
        isPending={isPending}
        label={text}
        names={{ calls: t("ofCalls"), errors: t("ofErrors") }}
        height={48}
        onChoose={({ from, to }) =>
          onChange({ since: new Date(from).toISOString(), until: new Date(to).toISOString() })
        }
      />
    </div>
  );
}
