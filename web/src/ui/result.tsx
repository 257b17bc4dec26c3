// What a call answered: as a table, as JSON, as an agent reads it, and what was printed.

import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleX, Scissors } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../api/client";
import type { ToolResponse } from "../api/schema";
import { writeExact } from "../exact";
import { Badge } from "./badge";
import { Coded } from "./coded";
import { CopyButton } from "./copy";
import { Explained } from "./explained";
import { Json } from "./json";
import { RowTable, rowsOf } from "./row-table";
import { type Tab, Tabs } from "./tabs";
import { duration } from "./time";

/** The text that stands in an agent's context. */
export function agentText(answer: ToolResponse): string {
  if (answer.status !== "success") return answer.error?.message ?? answer.message;
  const text = typeof answer.data === "string" ? answer.data : writeExact(answer.data);
  return answer.truncated ? `${text}\n\n${answer.message}` : text;
}

export function Result({ answer }: { answer: ToolResponse }) {
  const { t } = useTranslation("result");
  const table = rowsOf(answer.data);
  const usual = answer.status !== "success" || typeof answer.data === "string" ? "agent" : table ? "table" : "json";
  const [open, setOpen] = useState<string>();
  const tabs: Tab[] = [
    ...(table ? [{ id: "table", label: t("table"), content: <RowTable {...table} label={t("table")} /> }] : []),
    {
      id: "json",
      label: "JSON",
      content: (
        <Json
          value={answer.status === "success" ? answer.data : answer.error}
          label={t("asJson")}
          className="max-h-96 overflow-auto!"
        />
      ),
    },
    { id: "agent", label: t("agent"), content: <Text text={agentText(answer)} label={t("agent")} /> },
    { id: "log", label: t("log"), content: <Log id={answer.execution_id} /> },
  ];
  const shown = tabs.some((tab) => tab.id === open) ? (open as string) : usual;
  const good = answer.status === "success";
  return (
    <section aria-label={t("label")} data-status={answer.status} data-testid="result" className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2" role="status">
        <Badge tone={good ? "ok" : "danger"} icon={good ? CircleCheck : CircleX}>
          {good ? t("ok") : answer.error?.code ? <Coded kind="error" code={answer.error.code} /> : t("failed")}
        </Badge>
        <span className="text-sm text-muted tabular-nums">{duration(answer.elapsed)}</span>
        {table && Array.isArray(answer.data) && (
          <span className="text-sm text-muted">{t("rows", { count: table.rows.length })}</span>
        )}
        {answer.truncated && (
          <Badge tone="warn" icon={Scissors}>
            {t("cut")}
          </Badge>
        )}
      </div>
      {(!good || answer.truncated) && (
        <div className={good ? "text-sm text-warn" : "text-danger"}>
          <Explained code={answer.error?.code} />
          <p className="text-sm">{answer.error?.message ?? answer.message}</p>
        </div>
      )}
      <Tabs label={t("label")} tabs={tabs} open={shown} onOpen={setOpen} />
    </section>
  );
}

function Text({ text, label }: { text: string; label: string }) {
  const { t } = useTranslation("frame");
  return (
    <div className="relative">
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys
        tabIndex={0}
        className="max-h-96 min-h-12 overflow-auto rounded-md border bg-sunken p-3 pr-10 text-sm whitespace-pre-wrap"
      >
        {text}
      </pre>
      <div className="absolute top-1.5 right-1.5">
        <CopyButton text={text} label={t("copyOne", { what: label })} />
      </div>
    </div>
  );
}

function Log({ id }: { id: string }) {
  const { t } = useTranslation("result");
  const found = useQuery({
    queryKey: ["executions", "one", id],
    queryFn: () => got(api.GET("/api/v1/executions/{id}", { params: { path: { id } } })),
    // The log is written behind the answer.
    retry: 4,
    retryDelay: 250,
  });
  const text = found.data?.log_text;
  if (found.isPending) return <p className="text-muted">…</p>;
  return text ? <Text text={text} label={t("log")} /> : <p className="text-muted">{t("nothingPrinted")}</p>;
}
