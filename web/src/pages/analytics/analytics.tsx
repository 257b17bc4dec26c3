// How calls went over a span of time: as a series, and broken down by tool, caller and error.

import { Link } from "@tanstack/react-router";
import { ChartColumn } from "lucide-react";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { type Stats, useStats } from "../../api/stats";
import { useAddress } from "../../search";
import { spanOf } from "../../span";
import { Bars } from "../../ui/bars";
import { buttonClass } from "../../ui/button";
import { Coded } from "../../ui/coded";
import { Select } from "../../ui/field";
import { Note } from "../../ui/note";
import { Card, Page } from "../../ui/page";
import { share } from "../../ui/share";
import { Empty, Failed, Skeleton } from "../../ui/states";
import { Cell, Row, Table } from "../../ui/table";
import { Tabs } from "../../ui/tabs";
import { duration } from "../../ui/time";
import { useNow } from "../../use-now";

const SPANS = ["1h", "24h", "7d", "30d"] as const;
const SHOWN = 200;
const EVERY_MS = 15_000;

type Line = { name: string; calls: number; errors: number; p50_us?: number; p95_us?: number };

function Breakdown({ lines, by, since }: { lines: Line[]; by: "tool" | "caller"; since: string }) {
  const { t, i18n } = useTranslation("analytics");
  const number = (value: number) => value.toLocaleString(i18n.language);
  const most = Math.max(1, ...lines.map((line) => line.calls));
  const right = "text-right tabular-nums";
  return (
    <Table
      label={t(`by.${by}`)}
      columns={[
        { label: t(`column.${by}`) },
        { label: t("column.calls"), className: "text-right" },
        { label: t("column.share"), className: "hidden md:table-cell w-48" },
        { label: t("column.errors"), className: "text-right" },
        ...(by === "tool"
          ? [
              { label: "p50", className: "text-right" },
              { label: <span title={t("p95About")}>p95</span>, className: "text-right" },
            ]
          : []),
      ]}
    >
      {lines.slice(0, SHOWN).map((line) => (
        <Row key={line.name}>
          <Cell>
            <Link
              to={"/executions" as never}
              search={{ [by]: line.name, since } as never}
              className={by === "tool" ? "font-mono text-accent-text" : "text-accent-text"}
            >
              {line.name}
            </Link>
          </Cell>
          <Cell className={right}>{number(line.calls)}</Cell>
          <Cell className="hidden md:table-cell">
            <span aria-hidden className="block h-2 rounded bg-sunken">
              <span className="flex h-2 overflow-hidden rounded" style={{ width: `${(line.calls / most) * 100}%` }}>
                <span className="grow bg-accent" />
                <span className="bg-danger" style={{ width: `${(line.errors / Math.max(1, line.calls)) * 100}%` }} />
              </span>
            </span>
          </Cell>
          <Cell className={right}>
            {line.errors > 0 ? (
              <Link
                to={"/executions" as never}
                search={{ [by]: line.name, since, status: "error" } as never}
                className="text-danger"
              >
                {number(line.errors)} ({share(line.errors, line.calls, i18n.language, 1)})
              </Link>
            ) : (
              "0"
            )}
          </Cell>
          {by === "tool" && <Cell className={right}>{duration((line.p50_us ?? 0) / 1e6)}</Cell>}
          {by === "tool" && <Cell className={right}>{duration((line.p95_us ?? 0) / 1e6)}</Cell>}
        </Row>
      ))}
    </Table>
  );
}

function ErrorCodes({ stats }: { stats: Stats }) {
  const { t, i18n } = useTranslation("analytics");
  const codes = Object.entries(stats.by_error_code).sort((a, b) => b[1] - a[1]);
  if (codes.length === 0) return <p className="py-6 text-center text-muted">{t("noErrors")}</p>;
  return (
    <Table
      label={t("by.error")}
      columns={[{ label: t("column.error") }, { label: t("column.calls"), className: "text-right" }]}
    >
      {codes.map(([code, calls]) => (
        <Row key={code}>
          <Cell>
            <Coded kind="error" code={code} /> <code className="ml-1 text-xs text-muted">{code}</code>
          </Cell>
          <Cell className="text-right tabular-nums">{calls.toLocaleString(i18n.language)}</Cell>
        </Row>
      ))}
    </Table>
  );
}

function Told({ stats, since }: { stats: Stats; since: string }) {
  const { t, i18n } = useTranslation("analytics");
  const [found, change] = useAddress();
  const tools = stats.tools.map((tool) => ({ ...tool, name: tool.tool_name }));
  const callers = stats.callers.map((caller) => ({ ...caller, name: caller.caller }));
  return (
    <>
      {!stats.complete && (
        <Note tone="warn">
          {t("incomplete", {
            calls: stats.total.toLocaleString(i18n.language),
            since: new Date(stats.covered_since).toLocaleString(i18n.language),
          })}
        </Note>
      )}
      <Tabs
        label={t("breakdown")}
        open={["tool", "caller", "error"].includes(found.by ?? "") ? found.by! : "tool"}
        onOpen={(by) => change({ by: by === "tool" ? undefined : by })}
        tabs={[
          { id: "tool", label: t("by.tool"), content: <Breakdown by="tool" lines={tools} since={since} /> },
          { id: "caller", label: t("by.caller"), content: <Breakdown by="caller" lines={callers} since={since} /> },
          { id: "error", label: t("by.error"), content: <ErrorCodes stats={stats} /> },
        ]}
      />
    </>
  );
}

export default function Analytics() {
  const { t, i18n } = useTranslation(["analytics", "frame"]);
  const [found, change] = useAddress();
  const isAdmin = useMay("admin");
  const since = SPANS.find((one) => one === found.since) ?? "24h";
  const now = useNow(EVERY_MS);
  const span = useMemo(() => spanOf(since, undefined, now), [since, now]);
  const stats = useStats(span, 48, {}, { enabled: isAdmin, refetchInterval: EVERY_MS });
  const total = stats.data?.total ?? 0;
  const title = t("total", { count: total, shown: total.toLocaleString(i18n.language) });
  return (
    <Page
      title={t("title")}
      about={t("about")}
      actions={
        <Select
          aria-label={t("time")}
          className="w-auto!"
          value={since}
          onChange={(event) => change({ since: event.target.value === "24h" ? undefined : event.target.value })}
        >
          {SPANS.map((one) => (
            <option key={one} value={one}>
              {t(`span.${one}`)}
            </option>
          ))}
        </Select>
      }
    >
      {!isAdmin && <Note tone="plain">{t("adminsOnly")}</Note>}
      <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
        {stats.error && <Failed error={stats.error} again={() => void stats.refetch()} />}
        {isAdmin && stats.isPending && <Skeleton />}
        {stats.data && total === 0 && (
          <Empty
            icon={ChartColumn}
            title={t("empty")}
            action={
              <Link to="/tools" className={buttonClass("primary")}>
                {t("emptyAction")}
              </Link>
            }
          />
        )}
        {stats.data && total > 0 && (
          <>
            <Card title={title}>
              <Bars
                bars={stats.steps}
                isPending={stats.isPending}
                label={title}
                names={{ calls: t("calls"), errors: t("errors") }}
                height={180}
              />
            </Card>
            <Told stats={stats.data} since={since} />
          </>
        )}
      </div>
    </Page>
  );
}
