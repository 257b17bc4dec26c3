// One run: what happened in it, told from the beginning; what it asks is answered here.

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { Square } from "lucide-react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { useAddress } from "../../search";
import { Button, buttonClass } from "../../ui/button";
import { CopyButton } from "../../ui/copy";
import { Crumbs } from "../../ui/crumbs";
import { Facts } from "../../ui/facts";
import { Json } from "../../ui/json";
import { Card, Page } from "../../ui/page";
import { Failed, Skeleton } from "../../ui/states";
import { Tabs } from "../../ui/tabs";
import { When } from "../../ui/time";
import { type Run, runQuery } from "./queries";
import { RunBadge } from "./run-status";
import type { Usage } from "./transcript";
import { TranscriptView } from "./transcript-view";
import { useRun } from "./use-run";

function RunFacts({ run }: { run: Run }) {
  const { t, i18n } = useTranslation("runs");
  const usage = run.usage as Usage;
  const number = (value: number | undefined) => (value ?? 0).toLocaleString(i18n.language);
  const used = (usage.input_tokens ?? 0) + (usage.output_tokens ?? 0);
  return (
    <Facts
      facts={[
        [t("column.status"), <RunBadge key="status" status={run.status} />],
        [
          t("fact.agent"),
          run.agent ? (
            <Link key="agent" to={`/agents/${encodeURIComponent(run.agent)}` as never} className="text-accent-text">
              {run.agent}
            </Link>
          ) : (
            t("planner")
          ),
        ],
        [t("fact.owner"), run.owner],
        [t("fact.begun"), <When key="begun" at={run.created_at} />],
        [t("fact.ended"), run.ended_at && <When key="ended" at={run.ended_at} />],
        [t("fact.steps"), run.steps],
        [t("fact.calls"), run.calls],
        [
          t("fact.tokens"),
          used > 0 && t("tokens", { input: number(usage.input_tokens), output: number(usage.output_tokens) }),
        ],
        [t("fact.cost"), run.cost !== null && run.cost !== undefined && String(run.cost)],
        [
          t("fact.id"),
          <span key="id" className="flex items-center gap-1">
            <span className="truncate font-mono text-xs">{run.id}</span>
            <CopyButton text={run.id} />
          </span>,
        ],
      ]}
    />
  );
}

export default function OneRun() {
  // All the texts of what comes up later, too: a page that has to wait for them would begin anew.
  const { t } = useTranslation(["runs", "form", "result"]);
  const { id } = useParams({ strict: false }) as { id: string };
  const [found, change] = useAddress();
  const queries = useQueryClient();
  const asked = useQuery(runQuery(id));
  const followed = useRun(id);
  const stop = useMutation({
    mutationFn: () => got(api.POST("/api/v1/runs/{id}/cancel", { params: { path: { id } } })),
    onSettled: () => queries.invalidateQueries({ queryKey: ["runs"] }),
  });
  const run = asked.data;
  const isOver = run ? !["running", "needs_input"].includes(run.status) : false;
  const agent = run?.agent ? { agent: run.agent } : {};
  return (
    <Page
      name={run?.input ?? t("one")}
      title={
        <Crumbs to="/runs" label={t("title")}>
          <span className="line-clamp-1">{run?.input ?? t("one")}</span>
        </Crumbs>
      }
      actions={
        run &&
        (isOver ? (
          <Link
            to={"/playground" as never}
            search={{ runs: run.id, ...agent } as never}
            className={buttonClass("plain")}
          >
            {t("goOn")}
          </Link>
        ) : (
          <Button look="danger" icon={Square} busy={stop.isPending} onClick={() => stop.mutate()}>
            {t("stop")}
          </Button>
        ))
      }
    >
      {asked.error && <Failed error={asked.error} again={() => void asked.refetch()} />}
      {stop.error && <Failed className="mb-3" error={stop.error} />}
      {asked.isPending && <Skeleton />}
      {run && (
        <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
          <Tabs
            label={t("tabs")}
            open={found.tab === "events" ? "events" : "story"}
            onOpen={(tab) => change({ tab: tab === "story" ? undefined : tab })}
            tabs={[
              {
                id: "story",
                label: t("tab.story"),
                content: (
                  <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
                    <p className="rounded-lg bg-accent-soft px-3 py-2 whitespace-pre-wrap">{run.input}</p>
                    {followed.error !== null && <Failed error={followed.error} />}
                    <TranscriptView run={id} transcript={followed} />
                  </div>
                ),
              },
              {
                id: "events",
                label: t("tab.events"),
                content: <Json value={followed.events} label={t("tab.events")} />,
              },
            ]}
          />
          <Card>
            <RunFacts run={run} />
          </Card>
        </div>
      )}
    </Page>
  );
}
