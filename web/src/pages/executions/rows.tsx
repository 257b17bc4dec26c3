// The calls themselves: only the rows in sight are drawn, and the next page is asked for before one gets there.

import { useVirtualizer } from "@tanstack/react-virtual";
import clsx from "clsx";
import { memo, useEffect, useMemo, useRef } from "react";
import { useTranslation } from "react-i18next";
import { withName } from "../../i18n/with-name";
import { type Shortcut, useShortcuts } from "../../keys";
import { type Search, useAddress } from "../../search";
import { useNarrow } from "../../ui/narrow";
import { RowLink } from "../../ui/row-link";
import { duration, When } from "../../ui/time";
import { inOneLine } from "./curl";
import type { Execution } from "./queries";
import { StatusBadge } from "./status";

type Props = {
  items: Execution[];
  peeked: string | undefined;
  onFilter: (change: Search) => void;
  hasMore: boolean;
  onMore: () => void;
};

const columns =
  "grid-cols-[auto_minmax(0,1fr)_auto] md:grid-cols-[7.5rem_7rem_minmax(8rem,14rem)_minmax(6rem,9rem)_minmax(0,1fr)_6rem]";

type RowTexts = { filterBy: string; open: (tool: string) => string };

// The link of a row covers all of it; what else can be clicked stands above that.
const valueClass =
  "relative z-1 min-h-6 max-w-full truncate rounded px-1 text-left hover:bg-accent-soft hover:text-accent-text";

type RowProps = {
  one: Execution;
  /** This list's address, up to the id of the one that is looked at. */
  here: string;
  isNarrow: boolean;
  texts: RowTexts;
  isPeeked: boolean;
  onFilter: (change: Search) => void;
  index: number;
  top: number;
  height: number;
};

const Row = memo(function Row({ one, here, isNarrow, texts, isPeeked, onFilter, index, top, height }: RowProps) {
  const problem = (one.error as { message?: string } | null)?.message;
  return (
    <tr
      aria-rowindex={index + 2}
      aria-selected={isPeeked}
      data-id={one.id}
      style={{ height, transform: `translateY(${top}px)` }}
      data-status={one.status}
      className={clsx(
        "absolute inset-x-0 top-0 grid contain-strict items-center gap-x-2 border-b px-3 text-sm",
        columns,
        isPeeked ? "bg-accent-soft" : "hover:bg-sunken",
      )}
    >
      <td className="row-span-2 md:row-span-1">
        <button
          type="button"
          className="relative z-1 rounded"
          onClick={() => onFilter({ status: one.status })}
          title={texts.filterBy}
        >
          <StatusBadge status={one.status} />
        </button>
      </td>
      {!isNarrow && (
        <td className="text-muted">
          <When at={one.started_at} />
        </td>
      )}
      <td className="min-w-0 self-end md:self-auto">
        <button
          type="button"
          className={clsx(valueClass, "font-mono")}
          onClick={() => onFilter({ tool: one.tool_name })}
          title={texts.filterBy}
        >
          {one.tool_name}
        </button>
      </td>
      {!isNarrow && (
        <td className="min-w-0">
          <button
            type="button"
            className={valueClass}
            onClick={() => onFilter({ caller: one.caller })}
            title={texts.filterBy}
          >
            {one.caller}
          </button>
        </td>
      )}
      <td className="order-last col-span-2 col-start-2 min-w-0 self-start md:order-none md:col-span-1 md:col-start-auto md:self-auto">
        <RowLink
          href={`${here}${one.id}`}
          data-row-link
          className="flex min-h-6 min-w-0 items-center gap-2 no-underline after:absolute after:inset-0"
          aria-label={texts.open(one.tool_name)}
        >
          {isNarrow && (
            <span className="shrink-0 text-muted">
              <When at={one.started_at} />
            </span>
          )}
          <span className="min-w-0">
            <span className="block truncate font-mono text-xs text-muted">{inOneLine(one.arguments)}</span>
            {problem && <span className="block truncate text-xs text-danger">{problem}</span>}
          </span>
        </RowLink>
      </td>
      <td className="self-end text-right whitespace-nowrap text-muted tabular-nums md:self-auto">
        {one.status === "started" ? "…" : duration(one.elapsed)}
      </td>
    </tr>
  );
});

export function Rows({ items, peeked, onFilter, hasMore, onMore }: Props) {
  const { t } = useTranslation("executions");
  const scroller = useRef<HTMLElement>(null);
  const isNarrow = useNarrow();
  const texts = useMemo<RowTexts>(
    () => ({ filterBy: t("filterBy"), open: withName((tool) => t("open", { tool })) }),
    [t],
  );
  const [found] = useAddress();
  const kept = Object.entries(found).filter(([key, value]) => value && key !== "peek") as Array<[string, string]>;
  const here = `/executions?${new URLSearchParams([...kept, ["peek", ""]])}`;
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    // Two lines on a narrow screen.
    estimateSize: () => (isNarrow ? 64 : 40),
    overscan: 4,
    // What is scrolled to must not end under the head.
    scrollPaddingStart: 36,
    scrollPaddingEnd: 36,
    getItemKey: (at) => items[at]?.id ?? at,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= items.length - 30) onMore();
  }, [hasMore, last, items.length, onMore]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: all rows are measured anew when their height changes
  useEffect(() => rows.measure(), [isNarrow]);
  // Another list begins at its top. How one of its calls was looked at does not make it another.
  const list = JSON.stringify(kept.filter(([key]) => key !== "tab"));
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another filter does it
  useEffect(() => {
    if (!peeked) rows.scrollToOffset(0);
  }, [list]);
  const at = peeked ? items.findIndex((one) => one.id === peeked) : -1;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another one is looked at
  useEffect(() => {
    if (at >= 0) rows.scrollToIndex(at, { align: "auto" });
  }, [peeked]);
  // Whoever has looked at one goes on at it, not at the one they began with.
  const wasPeeked = useRef(peeked);
  useEffect(() => {
    const was = wasPeeked.current;
    wasPeeked.current = peeked;
    if (peeked || !was) return;
    const row = () => scroller.current?.querySelector<HTMLElement>(`[data-id="${was}"] [data-row-link]`);
    // What stood beside the list gives the focus back first.
    const later = setTimeout(() => (row() ?? scroller.current)?.focus({ preventScroll: true }), 0);
    return () => clearTimeout(later);
  }, [peeked]);
  const shortcuts = useMemo<Shortcut[]>(() => {
    const go = (by: number) => {
      const row = (document.activeElement as HTMLElement | null)?.closest<HTMLElement>("[aria-rowindex]");
      const from = row?.dataset.id ? items.findIndex((one) => one.id === row.dataset.id) : by > 0 ? -1 : items.length;
      const to = items[Math.min(items.length - 1, Math.max(0, from + by))];
      if (!to) return;
      rows.scrollToIndex(items.indexOf(to), { align: "auto" });
      // It is drawn after the scrolling.
      setTimeout(
        () => scroller.current?.querySelector<HTMLElement>(`[data-id="${to.id}"] [data-row-link]`)?.focus(),
        50,
      );
    };
    return [
      { id: "next", keys: "j", label: t("next"), run: () => go(1) },
      { id: "previous", keys: "k", label: t("previous"), run: () => go(-1) },
    ];
  }, [items, rows, t]);
  useShortcuts(shortcuts);
  return (
    <section
      ref={scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys
      tabIndex={0}
      aria-label={t("title")}
      data-testid="executions"
      className="min-h-0 grow overflow-y-auto rounded-lg border bg-panel"
    >
      {/* Drawn as a grid, and still a table to whoever has it read out. */}
      <table className="block" aria-rowcount={hasMore ? -1 : items.length + 1}>
        <thead className="sticky top-0 z-10 hidden bg-panel md:block">
          <tr className={clsx("grid h-8 items-center gap-x-2 border-b px-3 text-left text-xs text-muted", columns)}>
            <th className="font-medium">{t("column.status")}</th>
            <th className="font-medium">{t("column.time")}</th>
            <th className="px-1 font-medium">{t("column.tool")}</th>
            <th className="px-1 font-medium">{t("column.caller")}</th>
            <th className="font-medium">{t("column.arguments")}</th>
            <th className="text-right font-medium">{t("column.elapsed")}</th>
          </tr>
        </thead>
        <tbody className="relative block" style={{ height: rows.getTotalSize() }}>
          {shown.map((row) => {
            const one = items[row.index];
            if (!one) return null;
            return (
              <Row
                key={row.key}
                one={one}
                here={here}
                isNarrow={isNarrow}
                texts={texts}
                index={row.index}
                top={row.start}
                height={row.size}
                isPeeked={one.id === peeked}
                onFilter={onFilter}
              />
            );
          })}
        </tbody>
      </table>
    </section>
  );
}
