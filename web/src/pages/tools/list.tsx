// The list of tools: found, filtered, switched on and off, tried. What it shows stands in the address.

import { useInfiniteQuery, useQueries, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { FileUp, Pencil, Plus, Wrench } from "lucide-react";
import { lazy, Suspense, useCallback, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import type { ToolPage } from "../../api/schema";
import type { ToolDay } from "../../behind/jobs";
import { useShortcuts } from "../../keys";
import { useAddress } from "../../search";
import { Button, buttonClass } from "../../ui/button";
import { ReadOnly } from "../../ui/note";
import { Drawer } from "../../ui/overlay";
import { Page } from "../../ui/page";
import { Empty, Failed, Skeleton } from "../../ui/states";
import { BulkBar } from "./list-bulk";
import { isFiltered, NO_FILTER, ToolFilters } from "./list-filters";
import { type Days, ToolRows } from "./list-rows";
import { daysQuery, type Tool, toolQuery, toolsQuery, wholeToolsQuery } from "./queries";
import { ToolTester } from "./tester";

const Deleted = lazy(() => import("./deleted"));

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
  const isDeleted = state === "deleted" && may;
  const list = useInfiniteQuery({ ...toolsQuery(filter, sieve), enabled: !isDeleted });
  // What is done with all that fit is done with all, not only with those that were scrolled to.
  const whole = useInfiniteQuery({ ...wholeToolsQuery(filter, sieve), enabled: false });
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
  const filtered = isFiltered(found);
  const clear = () => change(NO_FILTER);
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  useShortcuts(
    useMemo(
      () => [{ id: "new-tool", keys: "n", label: t("tools:new"), run: () => void navigate({ to: "/tools/new" }) }],
      [t, navigate],
    ),
  );
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
      <ToolFilters
        filter={filter}
        counts={list.data?.pages[0]?.counts}
        isSieved={!!sieve}
        isDeleted={isDeleted}
        loaded={isDeleted ? undefined : list.data && tools.length}
        isMore={hasNextPage}
      />
      {isDeleted && (
        <Suspense fallback={<Skeleton rows={10} />}>
          <Deleted />
        </Suspense>
      )}
      {list.error && <Failed className="mb-3" error={list.error} again={() => void list.refetch()} />}
      {isDeleted ? null : list.isPending ? (
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
