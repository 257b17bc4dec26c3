// Runs: those that wait for somebody first, then all, newest first.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ListChecks } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { waitingRunsQuery } from "../../api/waiting-runs";
import { useAddress } from "../../search";
import { Button, buttonClass } from "../../ui/button";
import { Input, Select } from "../../ui/field";
import { Page } from "../../ui/page";
import { Empty, Failed, Skeleton } from "../../ui/states";
import { Cell, Row, Table } from "../../ui/table";
import { Ticks } from "../../ui/ticks";
import { When } from "../../ui/time";
import { agentsQuery } from "../agents/queries";
import { RUN_STATUSES, type Run, useRuns } from "./queries";
import { RunBadge } from "./run-status";

function RunTable({ runs, label, isAdmin }: { runs: Run[]; label: string; isAdmin: boolean }) {
  const { t } = useTranslation("runs");
  const navigate = useNavigate();
  const columns = [
    { label: t("column.status") },
    { label: t("column.input") },
    { label: t("column.agent"), className: "hidden md:table-cell" },
    ...(isAdmin ? [{ label: t("column.owner"), className: "hidden md:table-cell" }] : []),
    { label: t("column.time") },
  ];
  return (
    <Table label={label} columns={columns}>
      {runs.map((run) => (
        <Row key={run.id} status={run.status} onOpen={() => void navigate({ to: `/runs/${run.id}` as never })}>
          <Cell>
            <RunBadge status={run.status} />
          </Cell>
          <Cell className="max-w-0 w-full">
            <Link to={`/runs/${run.id}` as never} className="block truncate no-underline hover:underline">
              {run.input}
            </Link>
            {run.pending[0] && (
              <span className="block truncate text-sm text-warn">
                <Ticks text={run.pending[0].question} />
              </span>
            )}
            {run.status === "failed" && (
              <span className="block truncate text-sm text-danger">
                {(run.error as { message?: string } | null)?.message}
              </span>
            )}
          </Cell>
          <Cell className="hidden whitespace-nowrap md:table-cell">
            {run.agent ?? <span className="text-muted">{t("planner")}</span>}
          </Cell>
          {isAdmin && <Cell className="hidden md:table-cell">{run.owner}</Cell>}
          <Cell className="text-muted">
            <When at={run.created_at} />
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

export default function Runs() {
  const { t } = useTranslation(["runs", "frame"]);
  const [found, change] = useAddress();
  const isAdmin = useMay("admin");
  const { status, agent, owner } = found;
  const list = useRuns({ status, agent, owner });
  const waiting = useQuery(waitingRunsQuery);
  const agents = useQuery(agentsQuery({}));
  const isFiltered = !!(status || agent || owner);
  const all = list.runs;
  const first = isFiltered ? [] : (waiting.data?.items ?? []);
  const rest = first.length > 0 ? all.filter((run) => run.status !== "needs_input") : all;
  const clear = () => change({ status: undefined, agent: undefined, owner: undefined });
  return (
    <Page title={t("title")} about={t("about")}>
      <search className="mb-4 flex flex-wrap items-center gap-2">
        <Select
          aria-label={t("filter.status")}
          className="w-auto!"
          value={status ?? ""}
          onChange={(event) => change({ status: event.target.value || undefined })}
        >
          <option value="">{t("anyStatus")}</option>
          {RUN_STATUSES.map((one) => (
            <option key={one} value={one}>
              {t(`status.${one}`)}
            </option>
          ))}
        </Select>
        <Select
          aria-label={t("filter.agent")}
          className="w-auto! max-w-56"
          value={agent ?? ""}
          onChange={(event) => change({ agent: event.target.value || undefined })}
        >
          <option value="">{t("filter.agent")}</option>
          {/* Also one that is gone, or not known yet: the list is filtered by it. */}
          {agent && !agents.data?.some((one) => one.name === agent) && <option>{agent}</option>}
          {agents.data?.map((one) => (
            <option key={one.id} value={one.name}>
              {one.name}
            </option>
          ))}
        </Select>
        {isAdmin && (
          <Input
            key={owner ?? ""}
            type="search"
            aria-label={t("filter.owner")}
            placeholder={t("filter.owner")}
            defaultValue={owner ?? ""}
            className="w-40!"
            onBlur={(event) => change({ owner: event.target.value.trim() || undefined })}
            onKeyDown={(event) =>
              event.key === "Enter" &&
              !event.nativeEvent.isComposing &&
              change({ owner: event.currentTarget.value.trim() || undefined })
            }
          />
        )}
        {isFiltered && (
          <Button look="quiet" onClick={clear}>
            {t("frame:clearFilters")}
          </Button>
        )}
      </search>
      {list.error && <Failed error={list.error} again={() => void list.refetch()} />}
      {list.isPending && <Skeleton />}
      {list.data && all.length === 0 && (
        <Empty
          icon={ListChecks}
          title={isFiltered ? t("frame:nothingFits") : t("empty")}
          action={
            isFiltered ? (
              <Button look="primary" onClick={clear}>
                {t("frame:clearFilters")}
              </Button>
            ) : (
              <Link to={"/playground" as never} className={buttonClass("primary")}>
                {t("emptyAction")}
              </Link>
            )
          }
        >
          {!isFiltered && t("emptyAbout")}
        </Empty>
      )}
      {first.length > 0 && (
        <section className="mb-6 grid grid-cols-[minmax(0,1fr)] gap-2">
          <h2 className="font-semibold">{t("waiting")}</h2>
          <RunTable runs={first} label={t("waiting")} isAdmin={isAdmin} />
        </section>
      )}
      {rest.length > 0 && (
        <section className="grid grid-cols-[minmax(0,1fr)] gap-2">
          {first.length > 0 && <h2 className="font-semibold">{t("all")}</h2>}
          <RunTable runs={rest} label={t("title")} isAdmin={isAdmin} />
        </section>
      )}
      {list.hasNextPage && (
        <div className="mt-3 text-center">
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            {t("more")}
          </Button>
        </div>
      )}
    </Page>
  );
}
