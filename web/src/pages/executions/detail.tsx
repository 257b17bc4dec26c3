// One call, looked at closely: what went in, what came out, what went wrong, what was printed.

import { Link } from "@tanstack/react-router";
import { FlaskConical, Terminal } from "lucide-react";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";
import { Button, buttonClass } from "../../ui/button";
import { Coded } from "../../ui/coded";
import { CopyButton } from "../../ui/copy";
import { copyText } from "../../ui/copy-text";
import { Explained } from "../../ui/explained";
import { Json } from "../../ui/json";
import { Note } from "../../ui/note";
import { Tabs } from "../../ui/tabs";
import { duration, When } from "../../ui/time";
import { toast } from "../../ui/toast";
import { asCurl, givenAgain, inTester } from "./curl";
import type { Execution } from "./queries";
import { StatusBadge } from "./status";

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="min-w-0">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="truncate">{children}</dd>
    </div>
  );
}

type Failure = { code?: string; message?: string; details?: unknown } | null;

function Problem({ error }: { error: Failure }) {
  const { t } = useTranslation("executions");
  if (!error) return <p className="text-muted">{t("noError")}</p>;
  return (
    <div className="grid gap-3">
      <div className="rounded-md bg-danger-soft px-3 py-2 text-danger">
        <p className="text-sm font-semibold">{error.code && <Coded kind="error" code={error.code} />}</p>
        <Explained code={error.code} />
        <p className="text-sm whitespace-pre-wrap">{error.message}</p>
      </div>
      {error.details !== null && error.details !== undefined && <Json value={error.details} label={t("tab.error")} />}
    </div>
  );
}

export function Detail({ one, tab, onTab }: { one: Execution; tab: string | undefined; onTab: (tab: string) => void }) {
  const { t } = useTranslation(["executions", "frame"]);
  const error = one.error as Failure;
  const open = tab ?? (error ? "error" : "output");
  const tabs = [
    {
      id: "input",
      label: t("tab.input"),
      content: (
        <div className="grid gap-2">
          {!givenAgain(one.arguments) && <Note tone="plain">{t("argumentsCut")}</Note>}
          <Json value={one.arguments} label={t("tab.input")} />
        </div>
      ),
    },
    {
      id: "output",
      label: t("tab.output"),
      content:
        one.output === null && one.status !== "success" ? (
          <p className="text-muted">{t("noOutput")}</p>
        ) : (
          <Json value={one.output} label={t("tab.output")} />
        ),
    },
    { id: "error", label: error ? `${t("tab.error")} ●` : t("tab.error"), content: <Problem error={error} /> },
    {
      id: "log",
      label: t("tab.log"),
      content: one.log_text ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever has no mouse scrolls it with the keys
        <pre tabIndex={0} className="overflow-auto rounded-md border bg-sunken p-3 text-sm whitespace-pre-wrap">
          {one.log_text}
        </pre>
      ) : (
        <p className="text-muted">{t("noLog")}</p>
      ),
    },
  ];
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-3">
        <Fact name={t("column.status")}>
          <StatusBadge status={one.status} />
        </Fact>
        <Fact name={t("column.elapsed")}>
          <span className="tabular-nums">{one.status === "started" ? "…" : duration(one.elapsed)}</span>
        </Fact>
        <Fact name={t("column.time")}>
          <When at={one.started_at} />
        </Fact>
        <Fact name={t("column.caller")}>
          {one.caller}
          {one.key && <span className="text-muted"> · {one.key}</span>}
        </Fact>
        <Fact name={t("fact.transport")}>
          <Coded kind="way" code={one.transport} />
          {one.toolset && <span className="text-muted"> · {one.toolset}</span>}
        </Fact>
        <Fact name={t("fact.version")}>
          <Link to={`/tools/${one.tool_name}` as never} className="text-accent-text">
            {t("version", { version: one.tool_version })}
          </Link>
        </Fact>
        {one.run && (
          <Fact name={t("fact.run")}>
            <Link to={`/runs/${one.run}` as never} className="font-mono text-xs text-accent-text">
              {one.run}
            </Link>
          </Fact>
        )}
        {one.node && <Fact name={t("fact.node")}>{one.node}</Fact>}
        <Fact name={t("fact.id")}>
          <span className="inline-flex max-w-full items-center gap-1">
            <span className="truncate font-mono text-xs">{one.id}</span>
            <CopyButton text={one.id} />
          </span>
        </Fact>
      </dl>
      <Tabs label={t("tabs")} tabs={tabs} open={open} onOpen={onTab} />
    </div>
  );
}

export function DetailActions({ one }: { one: Execution }) {
  const { t } = useTranslation(["executions", "frame"]);
  const copy = async () =>
    (await copyText(asCurl(location.origin, one.tool_name, one.arguments))) && toast(t("frame:copied"));
  if (!givenAgain(one.arguments)) return null;
  return (
    <>
      <Link {...(inTester(one) as { to: string })} className={buttonClass("plain")}>
        <FlaskConical aria-hidden className="size-4" />
        {t("openInTester")}
      </Link>
      <Button icon={Terminal} onClick={copy}>
        {t("copyAsCurl")}
      </Button>
    </>
  );
}
