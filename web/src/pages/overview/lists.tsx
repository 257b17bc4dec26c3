// What wants somebody's attention: tools that fail, servers that are not up, runs that wait, and what was called last.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, Suspense } from "react";
import { useTranslation } from "react-i18next";
import type { Stats } from "../../api/stats";
import { waitingRunsQuery } from "../../api/waiting-runs";
import { Badge } from "../../ui/badge";
import { Card } from "../../ui/page";
import { share } from "../../ui/share";
import { Failed, Skeleton } from "../../ui/states";
import { Ticks } from "../../ui/ticks";
import { duration, When } from "../../ui/time";
import { recentQuery } from "../executions/queries";
import { StatusBadge } from "../executions/status";
import { serversQuery } from "../servers/queries";
import { StateBadge } from "../servers/state";
import { failing } from "./use-day";

const SHOWN = 6;
const rowClass = "flex items-center gap-3 px-4 py-2 no-underline hover:bg-sunken/60";

function ListCard({
  title,
  to,
  search,
  children,
}: {
  title: string;
  to: string;
  search?: Record<string, string>;
  children: ReactNode;
}) {
  const { t } = useTranslation();
  return (
    <Card
      title={title}
      actions={
        <Link
          to={to as never}
          search={search as never}
          aria-label={`${t("all")}: ${title}`}
          className="text-sm text-accent-text"
        >
          {t("all")}
        </Link>
      }
    >
      <div className="-m-4">{children}</div>
    </Card>
  );
}

const Quiet = ({ children }: { children: ReactNode }) => <p className="px-4 py-6 text-center text-muted">{children}</p>;

export function FailingTools({ stats }: { stats: Stats | undefined }) {
  const { t, i18n } = useTranslation("home");
  const tools = failing(stats).slice(0, SHOWN);
  return (
    <ListCard title={t("failing.title")} to="/executions" search={{ status: "error" }}>
      {!stats ? (
        <Skeleton rows={3} />
      ) : tools.length === 0 ? (
        <Quiet>{t("failing.none")}</Quiet>
      ) : (
        <ul className="divide-y">
          {tools.map((tool) => (
            <li key={tool.tool_name}>
              <Link
                to={"/executions" as never}
                search={{ tool: tool.tool_name, status: "error" } as never}
                className={rowClass}
              >
                <span className="min-w-0 grow truncate font-mono text-sm">{tool.tool_name}</span>
                <span className="text-sm text-muted tabular-nums">
                  {t("failing.count", { count: tool.errors, calls: tool.calls.toLocaleString(i18n.language) })}
                </span>
                <Badge tone="danger">{share(tool.errors, tool.calls, i18n.language)}</Badge>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </ListCard>
  );
}

const CALM = ["connected", "disabled", "hidden", "stopped"];

export function TroubledServers() {
  const { t } = useTranslation("home");
  const servers = useQuery(serversQuery);
  const all = servers.data ?? [];
  const troubled = all.filter((server) => !CALM.includes(server.state) || server.changed.length > 0);
  return (
    <ListCard title={t("servers.title")} to="/servers">
      {servers.error && <Failed className="m-4" error={servers.error} />}
      {servers.isPending && <Skeleton rows={3} />}
      {servers.data && troubled.length === 0 && (
        <Quiet>{all.length ? t("servers.none", { count: all.length }) : t("servers.empty")}</Quiet>
      )}
      <ul className="divide-y">
        {troubled.slice(0, SHOWN).map((server) => (
          <li key={server.name}>
            <Link to={`/servers/${server.name}` as never} className={rowClass} data-status={server.state}>
              <span className="max-w-1/2 shrink-0 truncate font-mono text-sm">{server.name}</span>
              <span className="min-w-0 grow truncate text-sm text-muted">
                {server.cause ??
                  (server.changed.length > 0 ? t("servers.changed", { count: server.changed.length }) : "")}
              </span>
              <Suspense>
                <StateBadge server={server} />
              </Suspense>
            </Link>
          </li>
        ))}
      </ul>
    </ListCard>
  );
}

export function WaitingRuns() {
  const { t } = useTranslation("home");
  const runs = useQuery(waitingRunsQuery);
  const waiting = runs.data?.items ?? [];
  return (
    <ListCard title={t("waiting.title")} to="/runs" search={{ status: "needs_input" }}>
      {runs.error && <Failed className="m-4" error={runs.error} />}
      {runs.isPending && <Skeleton rows={3} />}
      {runs.data && waiting.length === 0 && <Quiet>{t("waiting.none")}</Quiet>}
      <ul className="divide-y">
        {waiting.slice(0, SHOWN).map((run) => (
          <li key={run.id}>
            <Link to={`/runs/${run.id}` as never} className={rowClass}>
              <span className="min-w-0 grow">
                <span className="block truncate">
                  <Ticks text={run.pending[0]?.question ?? run.input} />
                </span>
                <span className="block truncate text-sm text-muted">{run.input}</span>
              </span>
              <span className="shrink-0 text-sm text-muted">
                <When at={run.updated_at} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </ListCard>
  );
}

export function RecentExecutions() {
  const { t } = useTranslation("home");
  const recent = useQuery(recentQuery(8));
  const calls = recent.data?.items ?? [];
  return (
    <ListCard title={t("recent.title")} to="/executions">
      {recent.error && <Failed className="m-4" error={recent.error} />}
      {recent.isPending && <Skeleton rows={4} />}
      {recent.data && calls.length === 0 && <Quiet>{t("recent.none")}</Quiet>}
      <ul className="divide-y">
        {calls.map((call) => (
          <li key={call.id}>
            <Link to={`/executions/${call.id}` as never} className={rowClass}>
              <StatusBadge status={call.status} />
              <span className="min-w-0 grow truncate font-mono text-sm">{call.tool_name}</span>
              <span className="hidden text-sm text-muted sm:inline">{call.caller}</span>
              <span className="text-sm text-muted tabular-nums">{duration(call.elapsed)}</span>
              <span className="w-24 text-right text-sm text-muted">
                <When at={call.started_at} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </ListCard>
  );
}
