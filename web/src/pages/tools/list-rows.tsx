// The rows of the list, of which only those in sight are drawn. On a narrow screen each is a card.

import { type QueryClient, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useVirtualizer } from "@tanstack/react-virtual";
import clsx from "clsx";
import type { TFunction } from "i18next";
import {
  Copy,
  Download,
  Ellipsis,
  FlaskConical,
  History,
  type LucideIcon,
  Pencil,
  ShieldQuestion,
  Trash2,
  TriangleAlert,
} from "lucide-react";
import { type ButtonHTMLAttributes, type MouseEvent, memo, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay, useMe } from "../../api/me";
import type { ToolDay } from "../../behind/jobs";
import { writeExact } from "../../exact";
import { withName } from "../../i18n/with-name";
import { useShortcuts } from "../../keys";
import { type Search, useAddress } from "../../search";
import { Badge } from "../../ui/badge";
import { buttonClass } from "../../ui/button";
import { copyText } from "../../ui/copy-text";
import { Menu } from "../../ui/menu";
import { useNarrow } from "../../ui/narrow";
import { RowLink } from "../../ui/row-link";
import { share } from "../../ui/share";
import { Spark } from "../../ui/spark";
import { messageOf } from "../../ui/states";
import { Switch } from "../../ui/switch";
import { ago, duration, exactly } from "../../ui/time";
import { Tip } from "../../ui/tip";
import { toast } from "../../ui/toast";
import { type Choose, chosenWith } from "./choose";
import { KindBadge } from "./kind";
import { mayChange, switchTool, type Tool } from "./queries";
import { useRemoving } from "./removing";
import { needsApproval } from "./testable";

const columns =
  "md:grid-cols-[2rem_3rem_minmax(12rem,1fr)_9.5rem_4.5rem_12rem_7rem_4.5rem] md:grid-rows-1 md:gap-x-3 md:px-3";

/** How tools went in the last day, by name. */
export type Days = ReadonlyMap<string, ToolDay>;

type Props = {
  tools: Tool[];
  days: Days;
  /** The days are still being counted. */
  isCounting: boolean;
  stale: boolean;
  /** What the list is filtered by: another filter begins at the top. */
  filter: string;
  /** There are more that fit than are loaded. */
  isMore: boolean;
  chosen: ReadonlySet<string>;
  onChoose: Choose;
  onEnd: () => void;
};

export const ToolRows = memo(function ToolRows({
  tools,
  days,
  isCounting,
  stale,
  filter,
  isMore,
  chosen,
  onChoose,
  onEnd,
}: Props) {
  const { t } = useTranslation("tools");
  const [removing, remove] = useRemoving();
  const shared = useShared(remove);
  const { isAuthor, isNarrow } = shared;
  const me = useMe();
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(-1);
  const height = isNarrow ? 112 : 44;
  const rows = useVirtualizer({
    count: tools.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 3,
    getItemKey: (at) => tools[at]!.id,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: all rows are measured anew when their height changes
  useEffect(() => rows.measure(), [height]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another filter does it
  useEffect(() => rows.scrollToOffset(0), [filter]);
  const shown = rows.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (lastShown > tools.length - 60) onEnd();
  }, [lastShown, tools.length, onEnd]);
  const go = (at: number) => {
    if (at < 0 || at >= tools.length) return;
    setActive(at);
    rows.scrollToIndex(at);
    requestAnimationFrame(() => scroller.current?.querySelector<HTMLElement>(`[data-at="${at}"] a`)?.focus());
  };
  useRowKeys(tools, active, go, onChoose);
  const all = tools.length > 0 && tools.every((tool) => chosen.has(tool.name));
  const some = chosen.size > 0 && !all;
  return (
    <div className="flex min-h-0 grow flex-col rounded-t-lg border bg-panel">
      <div
        className={clsx("hidden h-9 shrink-0 items-center border-b text-xs font-medium text-muted md:grid", columns)}
      >
        <span>
          <input
            type="checkbox"
            aria-label={isMore ? t("chooseLoaded", { count: tools.length }) : t("chooseAll")}
            className="size-4 accent-accent"
            checked={all}
            ref={(box) => {
              if (box) box.indeterminate = some;
            }}
            onChange={() => onChoose(new Set(all ? [] : tools.map((tool) => tool.name)))}
          />
        </span>
        <span>{t("active")}</span>
        <span>{t("name")}</span>
        <span>{t("kind")}</span>
        <span>{t("parameters")}</span>
        <span data-status={isCounting ? "loading" : undefined}>{t("lastDay")}</span>
        <span>{t("changed")}</span>
        <span className="sr-only">{t("actions")}</span>
      </div>
      <div ref={scroller} className={clsx("relative min-h-0 grow overflow-y-auto", stale && "opacity-60")}>
        <ul aria-label={t("title")} style={{ height: rows.getTotalSize() }}>
          {shown.map((row) => {
            const tool = tools[row.index]!;
            return (
              <ToolRow
                key={row.key}
                tool={tool}
                at={row.index}
                top={row.start}
                height={height}
                size={tools.length}
                day={days.get(tool.name)}
                may={isAuthor && mayChange(tool, me)}
                shared={shared}
                isChosen={chosen.has(tool.name)}
                isActive={active === row.index}
                onActive={setActive}
                onChoose={(name, on) => onChoose((before) => chosenWith(before, name, on))}
              />
            );
          })}
        </ul>
      </div>
      {removing}
    </div>
  );
});

function useRowKeys(tools: Tool[], active: number, go: (at: number) => void, onChoose: Choose) {
  const { t } = useTranslation("tools");
  const [, change] = useAddress();
  const navigate = useNavigate();
  const now = useRef({ tools, active, go, onChoose });
  now.current = { tools, active, go, onChoose };
  useShortcuts(
    useMemo(() => {
      const with_ = (act: (tool: Tool) => void) => () => {
        const tool = now.current.tools[Math.max(0, now.current.active)];
        if (tool) act(tool);
      };
      return [
        { id: "row-next", keys: "j", label: t("keys.next"), run: () => now.current.go(now.current.active + 1) },
        { id: "row-before", keys: "k", label: t("keys.before"), run: () => now.current.go(now.current.active - 1) },
        {
          id: "row-test",
          keys: "t",
          label: t("test"),
          run: with_((tool) => change({ test: tool.name }, { push: true })),
        },
        {
          id: "row-edit",
          keys: "e",
          label: t("edit"),
          run: with_((tool) => void navigate({ to: `/tools/${encodeURIComponent(tool.name)}` })),
        },
        {
          id: "row-choose",
          keys: "x",
          label: t("choose"),
          run: with_((tool) => {
            now.current.onChoose((before) => chosenWith(before, tool.name, !before.has(tool.name)));
          }),
        },
      ];
    }, [t, change, navigate]),
  );
}

const NAMED = ["chooseOne", "switchOne", "testOne", "moreOne"] as const;
type RowTexts = Record<(typeof NAMED)[number], (name: string) => string>;

/** What the rows have in common: asked for once, since each row that asked for itself would watch the whole page. */
type Shared = {
  t: TFunction<"tools">;
  language: string;
  texts: RowTexts;
  isAuthor: boolean;
  isNarrow: boolean;
  queries: QueryClient;
  go: (to: string, search?: Search) => void;
  test: (name: string) => void;
  remove: (name: string) => void;
};

function useShared(remove: Shared["remove"]): Shared {
  const { t, i18n } = useTranslation("tools");
  const isAuthor = useMay("author");
  const isNarrow = useNarrow();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [, change] = useAddress();
  return useMemo(
    () => ({
      t,
      language: i18n.language,
      texts: Object.fromEntries(NAMED.map((key) => [key, withName((name) => t(key, { name }))])) as RowTexts,
      isAuthor,
      isNarrow,
      queries,
      go: (to, search) => void navigate({ to, search: search as never }),
      test: (name) => change({ test: name }, { push: true }),
      remove,
    }),
    [t, i18n.language, isAuthor, isNarrow, queries, navigate, change, remove],
  );
}

type RowProps = {
  tool: Tool;
  at: number;
  top: number;
  height: number;
  size: number;
  day?: ToolDay;
  may: boolean;
  shared: Shared;
  isChosen: boolean;
  isActive: boolean;
  onActive: (at: number) => void;
  onChoose: (name: string, on: boolean) => void;
};

const failed = (error: unknown) => toast(messageOf(error), { failed: true });

const isControl = (target: EventTarget | null) =>
  !!(target as HTMLElement | null)?.closest("a, button, input, [role=menuitem]");

const ToolRow = memo(
  function ToolRow({
    tool,
    at,
    top,
    height,
    size,
    day,
    may,
    shared,
    isChosen,
    isActive,
    onActive,
    onChoose,
  }: RowProps) {
    const { t, language, texts, isNarrow, queries, go } = shared;
    const to = `/tools/${encodeURIComponent(tool.name)}`;
    const turn = async (on: boolean) => {
      try {
        await switchTool(queries, tool.name, on);
        const undo = { label: t("undo"), run: () => void switchTool(queries, tool.name, !on).catch(failed) };
        toast(t(on ? "switchedOn" : "switchedOff", { name: tool.name }), { action: undo });
      } catch (error) {
        failed(error);
      }
    };
    const open = (event: MouseEvent) => {
      if (!isControl(event.target) && !getSelection()?.toString()) go(to);
    };
    const about = tool.description_user || tool.description;
    const count = Object.keys((tool.input_schema as { properties?: object }).properties ?? {}).length;
    return (
      // biome-ignore lint/a11y/useKeyWithClickEvents: the link in the row does the same for the keyboard
      <li
        aria-setsize={size}
        aria-posinset={at + 1}
        data-at={at}
        data-status={tool.is_active ? "on" : "off"}
        data-tool={tool.name}
        onClick={open}
        onFocus={() => onActive(at)}
        style={{ height, transform: `translateY(${top}px)` }}
        className={clsx(
          "group absolute contain-strict inset-x-0 top-0 grid cursor-pointer grid-cols-[auto_minmax(0,1fr)_auto] grid-rows-[auto_auto_auto] content-center items-center gap-x-3 gap-y-1 border-b px-3 hover:bg-sunken/60",
          columns,
          isChosen && "bg-accent-soft/50",
          isActive && "shadow-[inset_2px_0_var(--accent)]",
        )}
      >
        {!isNarrow && (
          <input
            type="checkbox"
            aria-label={texts.chooseOne(tool.name)}
            className="size-4 accent-accent"
            checked={isChosen}
            onChange={(event) => onChoose(tool.name, event.target.checked)}
          />
        )}
        <span className="flex items-center">
          {may ? (
            <Switch on={tool.is_active} label={texts.switchOne(tool.name)} onChange={turn} />
          ) : (
            <span className="text-xs text-muted">{t(tool.is_active ? "on" : "off")}</span>
          )}
        </span>
        <span className="min-w-0 md:flex md:items-baseline md:gap-3">
          <RowLink
            href={to}
            className="block truncate font-mono font-medium no-underline hover:underline md:max-w-[60%] md:shrink-0"
          >
            {tool.name}
          </RowLink>
          {!isNarrow && isFlagged(tool) && (
            <span className="flex shrink-0 gap-1 self-center">
              <Flags tool={tool} />
            </span>
          )}
          {!isNarrow && <span className="block min-w-0 truncate text-sm text-muted">{about}</span>}
        </span>
        {isNarrow && <span className="col-span-full row-start-2 truncate text-sm text-muted">{about}</span>}
        <span className="flex items-center gap-1 max-md:col-span-full max-md:row-start-3">
          <KindBadge kind={tool.kind} />
          {isNarrow && isFlagged(tool) && <Flags tool={tool} />}
        </span>
        {!isNarrow && (
          <>
            <span className="text-sm text-muted tabular-nums">{count}</span>
            <DayFigures day={day} t={t} language={language} />
            <Changed at={tool.updated_at} language={language} />
          </>
        )}
        <span className="flex justify-end gap-0.5 max-md:col-start-3 max-md:row-start-1">
          <RowActions tool={tool} may={may} shared={shared} />
        </span>
      </li>
    );
  },
  // What a row is given to call changes with every drawing of the list; what it shows does not.
  (a, b) =>
    a.tool === b.tool &&
    a.at === b.at &&
    a.top === b.top &&
    a.height === b.height &&
    a.size === b.size &&
    a.day === b.day &&
    a.may === b.may &&
    a.shared === b.shared &&
    a.isChosen === b.isChosen &&
    a.isActive === b.isActive,
);

/** Most tools have none, and cost nothing. */
const isFlagged = (tool: Tool) =>
  !!tool.trouble || !!tool.flags?.length || !!tool.tested?.failed || needsApproval(tool.approval);

function Flags({ tool }: { tool: Tool }) {
  const { t } = useTranslation("tools");
  const failed = tool.tested?.failed ?? 0;
  const trouble = tool.trouble ?? tool.flags?.join(", ");
  return (
    <>
      {trouble && (
        <Tip text={trouble}>
          <span className="inline-flex">
            <Badge tone="warn" icon={TriangleAlert}>
              <span className="sr-only">{trouble}</span>
              <span aria-hidden>!</span>
            </Badge>
          </span>
        </Tip>
      )}
      {needsApproval(tool.approval) && (
        <Badge tone="info" icon={ShieldQuestion}>
          {t("needsApproval")}
        </Badge>
      )}
      {failed > 0 && <Badge tone="danger">{t("testsFailed", { count: failed })}</Badge>}
    </>
  );
}

/** What is built in was never changed: its time is the first there is. */
function Changed({ at, language }: { at: string; language: string }) {
  const date = new Date(at);
  if (date.getTime() === 0) return <span className="text-sm text-muted">—</span>;
  return (
    <time className="text-sm text-muted" dateTime={at} title={exactly(date, language)}>
      {ago(date, language)}
    </time>
  );
}

function DayFigures({ day, t, language }: { day?: ToolDay } & Pick<Shared, "t" | "language">) {
  if (!day || day.calls === 0) return <span className="text-sm text-muted">—</span>;
  const told = t("dayTip", {
    calls: day.calls,
    errors: day.errors,
    p50: duration(day.p50_us / 1e6),
    p95: duration(day.p95_us / 1e6),
  });
  return (
    <span className="flex items-center gap-2 text-sm tabular-nums" title={told}>
      <Spark values={day.series} bad={day.bad} label={told} />
      <span className={day.errors > 0 ? "text-danger" : "text-muted"}>{share(day.errors, day.calls, language)}</span>
      <span className="text-muted">{duration(day.p95_us / 1e6)}</span>
    </span>
  );
}

type ButtonProps = ButtonHTMLAttributes<HTMLButtonElement> & { icon: LucideIcon; label: string };

/** A button without a tooltip of our own: there are three in every row, and rows come and go while one scrolls. */
function RowButton({ icon: Icon, label, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-label={label}
      title={label}
      className={clsx(buttonClass("quiet", true), "w-7 px-0!", className)}
    >
      <Icon aria-hidden className="size-4" />
    </button>
  );
}

function RowActions({ tool, may, shared }: { tool: Tool; may: boolean; shared: Shared }) {
  const { t, texts, isAuthor, go, test, remove } = shared;
  const to = `/tools/${encodeURIComponent(tool.name)}`;
  const copy = async () => (await copyText(writeExact(tool, 2))) && toast(t("copiedJson", { name: tool.name }));
  return (
    <>
      <RowButton icon={FlaskConical} label={texts.testOne(tool.name)} onClick={() => test(tool.name)} />
      <Menu
        trigger={<RowButton icon={Ellipsis} label={texts.moreOne(tool.name)} />}
        entries={() => [
          { label: t("edit"), icon: Pencil, onSelect: () => go(to) },
          { label: t("test"), icon: FlaskConical, onSelect: () => test(tool.name) },
          {
            label: t("clone"),
            icon: Copy,
            disabled: !isAuthor,
            onSelect: () => go("/tools/new", { from: tool.name }),
          },
          { label: t("copyJson"), icon: Download, onSelect: () => void copy() },
          { label: t("history"), icon: History, onSelect: () => go(`${to}/versions`) },
          "line",
          { label: t("delete"), icon: Trash2, danger: true, disabled: !may, onSelect: () => remove(tool.name) },
        ]}
      />
    </>
  );
}
