// Every call: when, what, by whom, how it went.

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Pause, Radio, RotateCw, ScrollText } from "lucide-react";
import { useCallback, useEffect, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { type Search, useAddress } from "../../search";
import { Button, buttonClass, IconButton } from "../../ui/button";
import { Page } from "../../ui/page";
import { Empty, Failed, Skeleton } from "../../ui/states";
import { Filters } from "./filters";
import { EVERY_MS, Histogram } from "./histogram";
import { Peek } from "./peek";
import { executionsQuery, filterOf, NO_FILTER } from "./queries";
import { Rows } from "./rows";
import { useTail } from "./use-tail";

function Nothing({ found, onChange }: { found: Search; onChange: (change: Search) => void }) {
  const { t } = useTranslation(["executions", "frame"]);
  const isNarrow = ["status", "tool", "caller", "transport", "until"].some((key) => found[key]);
  if (isNarrow)
    return (
      <Empty
        icon={ScrollText}
        title={t("frame:nothingFits")}
        action={
          <Button look="primary" onClick={() => onChange(NO_FILTER)}>
            {t("frame:clearFilters")}
          </Button>
        }
      />
    );
  if (found.since !== "all")
    return (
      <Empty
        icon={ScrollText}
        title={t("nothingLately")}
        action={
          <Button look="primary" onClick={() => onChange({ since: "all" })}>
            {t("showAll")}
          </Button>
        }
      >
        {t("nothingLatelyAbout")}
      </Empty>
    );
  return (
    <Empty
      icon={ScrollText}
      title={t("empty")}
      action={
        <Link to="/tools" className={buttonClass("primary")}>
          {t("emptyAction")}
        </Link>
      }
    >
      {t("emptyAbout")}
    </Empty>
  );
}

export default function Executions() {
  const { t } = useTranslation(["executions", "frame"]);
  const [found, change] = useAddress();
  const { status, tool, caller, transport, since, until } = found;
  const filter = useMemo(
    () => filterOf({ status, tool, caller, transport, since, until }),
    [status, tool, caller, transport, since, until],
  );
  const queries = useQueryClient();
  const list = useInfiniteQuery(executionsQuery(filter));
  const loaded = useMemo(() => list.data?.pages.flatMap((page) => page.items) ?? [], [list.data]);
  const isLive = found.live === "1";
  const [trouble, setTrouble] = useState<unknown>();
  const items = useTail(isLive && !list.isPending, loaded, filter, setTrouble);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  // The numbers above the list are of the moment at which it was asked for.
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => setNow(Date.now()), EVERY_MS);
    return () => clearInterval(timer);
  }, [isLive]);
  const filtered = useCallback(
    (some: Search) => {
      setNow(Date.now());
      change({ ...some, peek: undefined });
    },
    [change],
  );
  const refresh = () => {
    setNow(Date.now());
    void queries.invalidateQueries({ queryKey: ["executions", "stats"] });
    // Only the first page is asked for again: the others follow as one scrolls.
    void queries.resetQueries({ queryKey: ["executions", "list"] });
  };
  return (
    <Page
      fill
      title={t("title")}
      about={t("about")}
      actions={
        <>
          <Button
            icon={isLive ? Pause : Radio}
            look={isLive ? "primary" : "plain"}
            aria-pressed={isLive}
            onClick={() => change({ live: isLive ? undefined : "1" })}
          >
            {t("live")}
          </Button>
          <IconButton
            icon={RotateCw}
            look="plain"
            label={t("frame:refresh")}
            busy={list.isRefetching}
            onClick={refresh}
          />
        </>
      }
    >
      <div className="flex min-h-0 grow flex-col gap-3 pb-4">
        <Filters found={found} now={now} onChange={filtered} loaded={loaded} />
        <Histogram found={found} now={now} isLive={isLive} onChange={filtered} />
        {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
        {isLive && trouble !== undefined && <Failed error={trouble} />}
        {list.isPending && <Skeleton rows={10} />}
        {!list.isPending && !list.error && items.length === 0 && <Nothing found={found} onChange={filtered} />}
        {items.length > 0 && (
          <div className={`flex min-h-0 grow flex-col ${list.isPlaceholderData ? "opacity-60" : ""}`}>
            <Rows items={items} peeked={found.peek} onFilter={filtered} hasMore={hasNextPage} onMore={more} />
          </div>
        )}
      </div>
      {found.peek && <Peek id={found.peek} items={items} tab={found.tab} onChange={change} onNearEnd={more} />}
    </Page>
  );
}
