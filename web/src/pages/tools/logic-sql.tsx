// What an SQL tool asks, of which source.

import { useQuery } from "@tanstack/react-query";
import { AlignLeft, ListTree, Play, Plus } from "lucide-react";
import { lazy, Suspense, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { useMay } from "../../api/me";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Check, Field, Input, inputClass, Select } from "../../ui/field";
import { Json } from "../../ui/json";
import { Note } from "../../ui/note";
import { Result } from "../../ui/result";
import { Failed, messageOf, Skeleton } from "../../ui/states";
import { toast } from "../../ui/toast";
import { sourcesQuery } from "../sources/queries";
import { type Config, type Draft, parameter, unreadIn, withUnread } from "./draft";
import type { StepProps } from "./editor-state";
import type { Read } from "./json-text";
import { isOpen } from "./open-source";
import { tryTool } from "./queries";
import type { SqlHandle } from "./sql-code";
import { undeclared, verbOf } from "./sql-parameters";
import { TableExplorer } from "./table-explorer";
import { argumentsOf, partKey } from "./tries";
import { useRun } from "./use-run";
import { partOf } from "./writing";

const SqlCode = lazy(() => import("./sql-code"));

export function LogicSql({ draft, change, problem, keep }: StepProps) {
  const { t } = useTranslation("editor");
  const sources = useQuery(sourcesQuery);
  const editor = useRef<SqlHandle>(null);
  const { query = "" } = draft.config as { query?: string };
  const set = (key: string, value: unknown, more: Partial<Draft> = {}) => {
    const { [key]: _, ...others } = { ...draft.config, source } as Config;
    // In its place: what is written back as it was is no change.
    change({ config: value === undefined ? others : { ...draft.config, source, [key]: value }, ...more });
  };
  const list = sources.data?.filter((one) => one.state !== "hidden") ?? [];
  const isAdmin = useMay("admin");
  const open = list.filter((one) => isOpen(one, isAdmin));
  const source = sourceOf(
    draft,
    open.map((one) => one.name),
  );
  const chosen = list.find((one) => one.name === source);
  const caller = Object.keys((draft.config.caller as object | undefined) ?? {});
  const known = useMemo(
    () =>
      draft.parameters.map((one) => ({
        name: one.name,
        type: String(one.schema.type ?? "any"),
        required: one.required,
        description: one.schema.description,
      })),
    [draft.parameters],
  );
  const missing = undeclared(query, [...known.map((one) => one.name), ...caller]);
  const declare = (names: string[]) =>
    change({ parameters: [...draft.parameters, ...names.map((name) => parameter(name))] });
  // Only to begin with: it must not close over whoever has just mended it.
  const [beginsOpen] = useState(draft.unread?.["config.caller"] !== undefined);
  const run = useRun(partKey(keep));
  const go = () => {
    if (unreadIn(draft).length > 0) return;
    const text = editor.current?.selected().trim() || query;
    const { tool, args } = partOf({ ...draft, config: { ...draft.config, source } }, text, argumentsOf(keep));
    void run.start((signal) => tryTool(tool, args, signal));
  };
  const format = async () => {
    try {
      set("query", (await editor.current?.formatted()) ?? query);
    } catch (error) {
      toast(messageOf(error).split("\n")[0] ?? "", { failed: true });
    }
  };
  const [plan, setPlan] = useState<unknown>();
  const explain = async () => {
    try {
      const written = { ...draft, config: { ...draft.config, source } };
      const { tool, args } = partOf(written, query, argumentsOf(keep));
      // Nothing is run, so it may be what it will be. Arguments are all there, or it is planned without any.
      const name = written.name || "untitled";
      const body = {
        tool: { ...tool, config: { ...tool.config, write: draft.config.write } },
        arguments: draft.parameters.every((one) => !one.required || one.name in args) ? args : null,
      };
      setPlan(await got(api.POST("/api/v1/tools/{name}/explain", { params: { path: { name } }, body: body as never })));
    } catch (error) {
      toast(messageOf(error), { failed: true });
    }
  };
  const verb = verbOf(query);
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-end gap-3">
        <Field
          label={t("sql.source")}
          required
          hint={sources.data && open.length === 0 && !isAdmin ? t("sql.noSources") : undefined}
          problem={problem("config.source")}
          className="min-w-48"
        >
          {(told) => (
            <Select {...told} value={source} onChange={(event) => set("source", event.target.value)}>
              <option value="">{t("sql.chooseSource")}</option>
              {source && !chosen && <option value={source}>{source}</option>}
              {list.map((one) => (
                <option key={one.name} value={one.name} disabled={!open.includes(one)}>
                  {one.name} ({one.kind}){!open.includes(one) && ` · ${t("forAdmins")}`}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {chosen?.cause && <span className="text-sm text-danger">{chosen.cause}</span>}
        <span className="grow" />
        {verb && (
          <Badge tone={verb.reads ? "ok" : "warn"}>
            {verb.reads ? `${verb.verb} · ${t("sql.reads")}` : `${verb.verb} · ${t("sql.writes")}`}
          </Badge>
        )}
        <Button icon={AlignLeft} disabled={!query.trim()} onClick={() => void format()}>
          {t("sql.format")}
        </Button>
        <Button
          icon={ListTree}
          disabled={!query.trim() || !source || unreadIn(draft).length > 0}
          onClick={() => void explain()}
        >
          {t("sql.explain")}
        </Button>
        <Button
          icon={Play}
          disabled={!query.trim() || !source || unreadIn(draft).length > 0}
          busy={run.running}
          onClick={go}
        >
          {t("sql.runSelection")}
        </Button>
      </div>
      <div className="grid gap-3 lg:h-[26rem] lg:grid-cols-[17rem_minmax(0,1fr)]">
        <TableExplorer source={source} onInsert={(text) => editor.current?.insert(text)} />
        <div
          className={`${inputClass} h-64 overflow-hidden px-0! lg:h-full`}
          aria-invalid={problem("config.query") ? true : undefined}
        >
          <Suspense fallback={<Skeleton rows={3} />}>
            <SqlCode
              ref={editor}
              value={query}
              onChange={(text) => set("query", text)}
              source={source}
              dialect={chosen?.kind === "postgres" ? "postgres" : "sqlite"}
              known={known}
              onDeclare={(name) => declare([name])}
              onRun={go}
            />
          </Suspense>
        </div>
      </div>
      {/* Below the editor: whoever types a name is not moved while it is not finished. */}
      {missing.length > 0 && (
        <Note
          tone="warn"
          actions={
            <Button small icon={Plus} className="text-fg" onClick={() => declare(missing)}>
              {t("sql.addFound", { count: missing.length })}
            </Button>
          }
        >
          {t("sql.foundUndeclared", { names: missing.join(", ") })}
        </Note>
      )}
      {problem("config.query") && (
        <p role="alert" className="text-sm text-danger">
          {problem("config.query")}
        </p>
      )}
      {problem("config.write") && <p className="text-sm text-danger">{problem("config.write")}</p>}
      <details className="rounded-md border px-3 py-2" open={beginsOpen || undefined}>
        <summary className="font-medium">{t("sql.options")}</summary>
        <div className="mt-3 grid gap-3 sm:grid-cols-3">
          <Field label={t("sql.result")} hint={t("sql.resultHint")}>
            {(told) => (
              <Select
                {...told}
                value={String(draft.config.result ?? "records")}
                onChange={(event) => set("result", event.target.value)}
              >
                <option value="records">{t("sql.records")}</option>
                <option value="row">{t("sql.row")}</option>
                <option value="scalar">{t("sql.scalar")}</option>
              </Select>
            )}
          </Field>
          <Field label={t("sql.maxRows")} problem={problem("config.max_rows")}>
            {(told) => (
              <Input
                {...told}
                type="number"
                min={1}
                placeholder="500"
                value={String(draft.config.max_rows ?? "")}
                onChange={(event) => set("max_rows", event.target.value ? Number(event.target.value) : undefined)}
              />
            )}
          </Field>
          <Check
            label={t("sql.write")}
            disabled={!isAdmin}
            checked={draft.config.write === true}
            onChange={(event) => set("write", event.target.checked || undefined)}
          />
          <div className="sm:col-span-3">
            <CallerBindings
              value={(draft.config.caller ?? {}) as Record<string, string>}
              unread={draft.unread?.["config.caller"]}
              onChange={(read) =>
                "unread" in read
                  ? change(withUnread(draft, "config.caller", read.unread))
                  : set("caller", read.value, withUnread(draft, "config.caller", undefined))
              }
              problem={problem("config.caller")}
            />
          </div>
        </div>
      </details>
      {plan !== undefined && (
        <Json value={(plan as { plan: unknown }).plan} label={t("sql.explain")} className="max-h-72 overflow-auto!" />
      )}
      {draft.config.write === true && (run.error !== undefined || run.answer?.error) && (
        <Note tone="plain">{t("sql.readsHere")}</Note>
      )}
      {run.error !== undefined && <Failed error={run.error} />}
      {run.answer && <Result answer={run.answer} />}
    </div>
  );
}

/** One source needs no choice. It is written down with the first thing that somebody writes, not by looking. */
export function sourceOf(draft: Pick<Draft, "config" | "version">, names: string[]): string {
  const written = String(draft.config.source ?? "");
  return written === "" && draft.version === 0 && names.length === 1 ? names[0]! : written;
}

/** `name = what` on each line. A line that is not finished is not left out: nothing of it can be read yet. */
export function bindingsOf(text: string): Read {
  const lines = text.split("\n").filter((line) => line.trim());
  if (lines.length === 0) return { value: undefined };
  const pairs = lines.map((line) => /^\s*([^\s=]+)\s*=\s*(\S.*?)\s*$/.exec(line));
  if (pairs.some((pair) => pair === null)) return { unread: text };
  return { value: Object.fromEntries(pairs.map((pair) => [pair![1]!, pair![2]!])) };
}

/** Parameters that are filled in from who calls, so that no model can choose them. */
function CallerBindings({
  value,
  unread,
  onChange,
  problem,
}: {
  value: Record<string, string>;
  unread: string | undefined;
  onChange: (read: Read) => void;
  problem?: string;
}) {
  const { t } = useTranslation("editor");
  const [text, setText] = useState(
    unread ??
      Object.entries(value)
        .map(([name, what]) => `${name} = ${what}`)
        .join("\n"),
  );
  return (
    <Field
      label={t("sql.caller")}
      hint={t("sql.callerHint")}
      problem={unread === undefined ? problem : t("sql.badCaller")}
    >
      {(told) => (
        <textarea
          {...told}
          rows={2}
          spellCheck={false}
          className={`${inputClass} py-1.5 font-mono`}
          placeholder="who = user"
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            onChange(bindingsOf(event.target.value));
          }}
        />
      )}
    </Field>
  );
}
