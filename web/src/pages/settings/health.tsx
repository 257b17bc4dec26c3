// How the server is doing: whether it is ready, its log, its files, the others beside it, and which version it is.

import { useQuery } from "@tanstack/react-query";
import { BookOpen, CircleCheck, ExternalLink, TriangleAlert } from "lucide-react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { Badge } from "../../ui/badge";
import { buttonClass } from "../../ui/button";
import { Facts } from "../../ui/facts";
import { Json } from "../../ui/json";
import { Meter } from "../../ui/meter";
import { Note } from "../../ui/note";
import { Card } from "../../ui/page";
import { Failed, Skeleton } from "../../ui/states";

const UNITS = ["B", "kB", "MB", "GB", "TB"];

export function bytes(count: number, language: string): string {
  let at = 0;
  let value = count;
  while (value >= 1000 && at < UNITS.length - 1) {
    value /= 1000;
    at += 1;
  }
  return `${value.toLocaleString(language, { maximumFractionDigits: value < 10 && at > 0 ? 1 : 0 })} ${UNITS[at]}`;
}

export function Health() {
  const { t, i18n } = useTranslation(["settings", "frame"]);
  const ready = useQuery({
    queryKey: ["readyz"],
    queryFn: () => got(api.GET("/readyz")),
    refetchInterval: 10_000,
  });
  const alive = useQuery({
    queryKey: ["healthz"],
    queryFn: () => got(api.GET("/healthz")) as unknown as Promise<{ version: string }>,
  });
  const view = ready.data;
  const files = (view?.files ?? {}) as Record<string, unknown[]>;
  const wrong = Object.entries(files).filter(([, list]) => Array.isArray(list) && list.length > 0);
  const size = (count: number) => bytes(count, i18n.language);
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Card
        title={t("server.title")}
        actions={
          view && (
            <Badge
              tone={view.status === "ready" ? "ok" : "warn"}
              icon={view.status === "ready" ? CircleCheck : TriangleAlert}
            >
              <span data-status={view.status}>{t(view.status === "ready" ? "server.ready" : "server.degraded")}</span>
            </Badge>
          )
        }
      >
        {ready.error && <Failed error={ready.error} again={() => void ready.refetch()} />}
        {ready.isPending && <Skeleton rows={4} />}
        {view && (
          <Facts
            facts={[
              [t("server.version"), alive.data?.version],
              [t("server.engine"), view.engine === "sqlite" ? "SQLite" : "PostgreSQL"],
              [t("server.tools"), view.tools.toLocaleString(i18n.language)],
              [t("server.running"), String(view.running_calls)],
              [t("server.instance"), <code key="i">{view.replicas.instance}</code>],
            ]}
          />
        )}
        <div className="mt-4 flex flex-wrap gap-2">
          <a href="/api/docs" target="_blank" rel="noreferrer" className={buttonClass()}>
            <BookOpen aria-hidden className="size-4" />
            {t("server.docs")}
          </a>
          <a href="/api/openapi.json" target="_blank" rel="noreferrer" className={buttonClass()}>
            <ExternalLink aria-hidden className="size-4" />
            openapi.json
          </a>
        </div>
      </Card>
      {view && (
        <Card title={t("log.title")}>
          <div className="grid gap-3">
            {!view.log_works && <Note tone="danger">{t("log.broken")}</Note>}
            {view.log.exceeded && <Note tone="warn">{t("log.exceeded")}</Note>}
            <Facts
              facts={[
                [
                  t("log.size"),
                  view.log.bytes_max ? `${size(view.log.bytes)} / ${size(view.log.bytes_max)}` : size(view.log.bytes),
                ],
                [t("log.days"), String(view.log.days)],
              ]}
            />
            {view.log.bytes_max && (
              <Meter
                count={Math.round(view.log.bytes / 1e6)}
                max={Math.round(view.log.bytes_max / 1e6)}
                label={t("log.size")}
              />
            )}
          </div>
        </Card>
      )}
      {view && (
        <Card title={t("files.title")}>
          {wrong.length === 0 ? (
            <p className="flex items-center gap-2">
              <CircleCheck aria-hidden className="size-4 text-ok" />
              {t("files.fine")}
            </p>
          ) : (
            <div className="grid gap-3">
              <Note tone="warn">{t("files.wrong")}</Note>
              {wrong.map(([name, list]) => (
                <div key={name} className="grid gap-1">
                  <h3 className="font-mono text-sm font-medium">{name}</h3>
                  <Json value={list} label={name} className="max-h-60" />
                </div>
              ))}
            </div>
          )}
        </Card>
      )}
      {view && (
        <Card title={t("replicas.title")}>
          {view.replicas.others.length === 0 ? (
            <p className="text-muted">{t("replicas.alone")}</p>
          ) : (
            <Json value={view.replicas.others} label={t("replicas.title")} className="max-h-60" />
          )}
        </Card>
      )}
    </div>
  );
}
