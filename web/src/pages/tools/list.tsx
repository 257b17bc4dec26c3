// The list of tools: found, filtered, switched on and off, tried. What it shows stands in the address.

import { useInfiniteQuery, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { FileUp, Pencil, Plus, Wrench } from "lucide-react";
import { useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import type { ToolPage } from "../../api/schema";
import type { ToolDay } from "../../behind/jobs";
import { useShortcuts } from "../../keys";
import { useAddress } from "../../search";
import { Button, buttonClass } from "../../ui/button";
import { Select } from "../../ui/field";
import { ReadOnly } from "../../ui/note";
import { Drawer } from "../../ui/overlay";
import { Page } from "../../ui/page";
import { SearchBox } from "../../ui/search-box";
import { Empty, Failed, Skeleton } from "../../ui/states";
import { BulkBar } from "./list-bulk";
import { type Days, ToolRows } from "./list-rows";
import { countsQuery, daysQuery, KINDS, type Kind, type Tool, toolQuery, toolsQuery, wholeToolsQuery } from "./queries";
import { ToolTester } from "./tester";

const SHELVES = ["database", "file", "builtin", "server"] as const;
const RISKS = ["read_only", "writes", "destructive"] as const;
/** What a list is filtered by, in the address, beside the search. */
const FACETS = ["kind", "state", "shelf", "owner", "source", "server", "risk"] as const;
const STATES = ["on", "off", "trouble", "failing"] as const;

/** How the tools of each page went in the last day: only admins are told. */
function useDays(pages: ToolPage[] = []): { days: Days; isCounting: boolean } {
  const enabled = useMay("admin");
  return useQueries({
    queries: pages.map((page) => ({ ...daysQuery(page.items), enabled: enabled && page.items.length > 0 })),
    combine: together,
  });
}

const together = (answers: Array<{ data?: Record<string, ToolDay>; isLoading: boolean }>) => ({
  days: new Map(answers.flatMap(({ data }) => Object.entries(data ?? {}))),
  isCounting: answers.some((one) => one.isLoading),
});

function withOthers(loaded: Tool[], whole: Tool[] = []): Tool[] {
  const names = new Set(loaded.map((tool) => tool.name));
  return [...loaded, ...whole.filter((tool) => !names.has(tool.name))];
}

export default function Tools() {
  const { t } = useTranslation(["tools", "frame"]);
  const [found, change] = useAddress();
  const navigate = useNavigate();
  const may = useMay("author");
  const { q, kind, state, owner, shelf, source, server, risk } = found;
  const active = state === "on" ? true : state === "off" ? false : undefined;
  const sieve = state === "trouble" || state === "failing" ? state : undefined;
  const filter = { q, kind, owner, active, shelf, source, server, risk };
  const list = useInfiniteQuery(toolsQuery(filter, sieve));
  // What is done with all that fit is done with all, not only with those that were scrolled to.
  const whole = useInfiniteQuery({ ...wholeToolsQuery(filter, sieve), enabled: false });
  const counts = useQuery(countsQuery(filter)).data;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const tools = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const { days, isCounting } = useDays(list.data?.pages);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const known = useMemo(() => withOthers(tools, whole.data?.pages[0]?.items), [tools, whole.data]);
  const isLoadedChosen = chosen.size === tools.length && tools.every((tool) => chosen.has(tool.name));
  const queries = useQueryClient();
  const chooseWhole = async () => {
    const { pages } = await queries.fetchInfiniteQuery(wholeToolsQuery(filter, sieve));
    setChosen(new Set(pages.flatMap((page) => page.items.map((tool) => tool.name))));
  };
  const filtered = !!q || FACETS.some((one) => found[one]);
  const clear = () => change(Object.fromEntries(["q", ...FACETS].map((one) => [one, undefined])));
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  useShortcuts(
    useMemo(
      () => [{ id: "new-tool", keys: "n", label: t("tools:new"), run: () => void navigate({ to: "/tools/new" }) }],
      [t, navigate],
    ),
  );
  /** With how many tools each choice would show, where that is known. */
  const facet = (
    name: (typeof FACETS)[number],
    label: string,
    options: Array<[string, string]>,
    known?: Record<string, number>,
  ) => (
    <Select
      aria-label={label}
      className="w-auto! max-w-44"
      value={found[name] ?? ""}
      onChange={(event) => change({ [name]: event.target.value || undefined })}
    >
      <option value="">
        {label}: {t("frame:all")}
      </option>
      {options.map(([value, text]) => (
        <option key={value} value={value}>
          {text}
          {known && ` (${known[value] ?? 0})`}
        </option>
      ))}
    </Select>
  );
  /** Of names that tools have, where any has one. */
  const named = (name: "owner" | "source" | "server", label: string) => {
    const names = [...new Set([...Object.keys(counts?.[name] ?? {}), found[name] ?? ""])].filter(Boolean).sort();
    return (
      // Where everything is one owner's, there is nothing to choose.
      names.length > (name === "owner" ? 1 : 0) &&
      facet(
        name,
        label,
        names.map((one) => [one, one]),
        counts?.[name],
      )
    );
  };
  const newTool = (
    <Link to="/tools/new" className={buttonClass("primary")}>
      <Plus aria-hidden className="size-4" />
      {t("tools:new")}
    </Link>
  );
  return (
    <Page
      fill
      title={t("tools:title")}
      about={t("tools:about")}
      actions={
        may && (
          <>
            <Link to="/settings" search={{ tab: "openapi" } as never} className={buttonClass("plain")}>
              <FileUp aria-hidden className="size-4" />
              {t("tools:importOpenApi")}
            </Link>
            {newTool}
          </>
        )
      }
    >
      <ReadOnly scope="author" />
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchBox label={t("tools:search")} />
        {facet(
          "kind",
          t("tools:kind"),
          KINDS.map((one) => [one, t(`tools:kinds.${one as Kind}`)]),
          counts?.kind,
        )}
        {facet(
          "state",
          t("tools:state"),
          STATES.map((one) => [one, t(`tools:states.${one}`)]),
        )}
        {facet(
          "risk",
          t("tools:risk"),
          RISKS.map((one) => [one, t(`tools:risks.${one}`)]),
          counts?.risk,
        )}
        {facet(
          "shelf",
          t("tools:shelf"),
          SHELVES.map((one) => [one, t(`tools:shelves.${one}`)]),
          counts?.shelf,
        )}
        {named("source", t("tools:source"))}
        {named("server", t("tools:server"))}
        {named("owner", t("tools:owner"))}
        {filtered && (
          <Button look="quiet" onClick={clear}>
            {t("frame:clearFilters")}
          </Button>
        )}
        <span role="status" className="ml-auto text-sm text-muted tabular-nums">
          {list.data &&
            (counts && !sieve
              ? t("tools:count", { count: counts.total, more: "" })
              : t("tools:count", { count: tools.length, more: hasNextPage ? "+" : "" }))}
        </span>
      </div>
      {list.error && <Failed className="mb-3" error={list.error} again={() => void list.refetch()} />}
      {list.isPending ? (
        <Skeleton rows={10} />
      ) : tools.length === 0 && !isFetchingNextPage && !list.error ? (
        filtered ? (
          <Empty title={t("frame:nothingFits")} action={<Button onClick={clear}>{t("frame:clearFilters")}</Button>} />
        ) : (
          <Empty icon={Wrench} title={t("tools:emptyTitle")} action={may && newTool}>
            {t("tools:emptyAbout")}
          </Empty>
        )
      ) : (
        <ToolRows
          tools={tools}
          days={days}
          isCounting={isCounting}
          filter={JSON.stringify([filter, state])}
          stale={list.isPlaceholderData}
          isMore={hasNextPage}
          chosen={chosen}
          onChoose={setChosen}
          onEnd={more}
        />
      )}
      <BulkBar
        tools={known}
        chosen={chosen}
        onChoose={setChosen}
        onWhole={hasNextPage && isLoadedChosen ? chooseWhole : undefined}
      />
      <TestDrawer name={found.test} onClose={() => change({ test: undefined })} />
    </Page>
  );
}

function TestDrawer({ name, onClose }: { name?: string; onClose: () => void }) {
  const { t } = useTranslation(["tools", "frame"]);
  const tool = useQuery({ ...toolQuery(name ?? ""), enabled: !!name });
  if (!name) return null;
  return (
    <Drawer
      open
      onClose={onClose}
      title={<span className="font-mono">{name}</span>}
      about={tool.data?.description_user ?? tool.data?.description}
      actions={
        <Link to={"/tools/$name" as string} params={{ name } as never} className={buttonClass("quiet", true)}>
          <Pencil aria-hidden className="size-4" />
          {t("frame:edit")}
        </Link>
      }
    >
      {tool.error && <Failed error={tool.error} again={() => void tool.refetch()} />}
      {tool.isPending && <Skeleton rows={3} />}
      {tool.data && <ToolTester key={name} tool={tool.data} />}
    </Drawer>
  );
}
