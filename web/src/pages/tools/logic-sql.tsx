// What an SQL tool asks, of which source.

import { useQuery } from "@tanstack/react-query";
import { AlignLeft, ListTree, Play, Plus, Square } from "lucide-react";
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { api, got } from "../../api/client";
import { problemsOf } from "../../api/errors";
import { useMay } from "../../api/me";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Check, Field, Input, inputClass, Select } from "../../ui/field";
import { Note } from "../../ui/note";
import { firstValue } from "../../ui/schema";
import { SchemaForm, type Values } from "../../ui/schema-form";
import { Failed, messageOf, Skeleton } from "../../ui/states";
import { toast } from "../../ui/toast";
import { sourcesQuery } from "../sources/queries";
import { type Config, type Draft, parameter, schemaOf, unreadIn, withUnread } from "./draft";
import type { StepProps } from "./editor-state";
import type { Read } from "./json-text";
import { isOpen } from "./open-source";
import { offered } from "./pinned";
import { tryTool } from "./queries";
import type { SqlHandle } from "./sql-code";
import { parametersIn, undeclared, verbOf } from "./sql-parameters";
import { TableExplorer } from "./table-explorer";
import { keepArguments, keptArguments, partKey } from "./tries";
import { useRun } from "./use-run";
import { partOf } from "./writing";

const Result = lazy(async () => ({ default: (await import("../../ui/result")).Result }));
const PlanView = lazy(() => import("./plan-view"));
const SqlCode = lazy(() => import("./sql-code"));

export function LogicSql({ draft, change, problem, keep }: StepProps) {
  const { t } = useTranslation(["editor", "tools"]);
  const sources = useQuery(sourcesQuery);
  const editor = useRef<SqlHandle>(null);
  const { query = "" } = draft.config as { query?: string };
  const set = (key: string, value: unknown, more: Partial<Draft> = {}) => {
    // Of the draft as it is then: what is typed may come before what was chosen just now is drawn.
    change((now) => {
      const config: Config = { ...now.config, source: now.config.source ?? source };
      const { [key]: _, ...others } = config;
      // In its place: what is written back as it was is no change.
      return { config: value === undefined ? others : { ...config, [key]: value }, ...more };
    });
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
  const [plan, setPlan] = useState<{ plan: unknown; isWithoutValues: boolean }>();
  const run = useRun(partKey(keep));
  const used = useMemo(() => {
    const names = new Set(parametersIn(query).map((one) => one.name));
    return draft.parameters.filter((one) => names.has(one.name.trim()));
  }, [query, draft.parameters]);
  const asked = useMemo(
    () => offered(schemaOf({ parameters: used, schemaRest: draft.schemaRest })),
    [used, draft.schemaRest],
  );
  const [values, setValues] = useState<Values>(() => keptArguments(keep) ?? firstValue(asked));
  const [isRead, setRead] = useState(true);
  const changeValues = useCallback(
    (next: Values, ok: boolean) => {
      // What the query does not use stays as it was tried.
      const others = Object.entries(keptArguments(keep) ?? {}).filter(([name]) => !(name in (asked.properties ?? {})));
      const all = { ...Object.fromEntries(others), ...next };
      setValues(all);
      setRead(ok);
      keepArguments(keep, all);
    },
    [keep, asked],
  );
  const go = () => {
    if (unreadIn(draft).length > 0 || !isRead) return;
    setPlan(undefined);
    const text = editor.current?.selected().trim() || query;
    const { tool, args } = partOf({ ...draft, config: { ...draft.config, source } }, text, values);
    void run.start((signal) => tryTool(tool, args, signal));
  };
  const format = async () => {
    try {
      write((await editor.current?.formatted()) ?? query);
    } catch (error) {
      toast(messageOf(error).split("\n")[0] ?? "", { failed: true });
    }
  };
  const explain = async () => {
    try {
      const written = { ...draft, config: { ...draft.config, source } };
      const { tool, args } = partOf(written, query, values);
      // Nothing is run, so it may be what it will be. Arguments are all there, or it is planned without any.
      const name = written.name || "untitled";
      const isWhole = used.every((one) => !one.required || one.name.trim() in args);
      const body = {
        tool: { ...tool, config: { ...tool.config, write: draft.config.write } },
        arguments: isWhole ? args : null,
      };
      const answer = await got(
        api.POST("/api/v1/tools/{name}/explain", { params: { path: { name } }, body: body as never }),
      );
      run.clear();
      setPlan({ plan: (answer as { plan: unknown }).plan, isWithoutValues: !isWhole });
    } catch (error) {
      toast(messageOf(error), { failed: true });
    }
  };
  const write = (text: string) => {
    // What came of another query says nothing of this one.
    if (text !== query && (run.answer || run.error !== undefined)) run.clear();
    if (text !== query) setPlan(undefined);
    set("query", text);
  };
  // What came of it stands below the editor, where it may be out of sight.
  const outcome = useRef<HTMLDivElement>(null);
  const isRunning = run.running;
  const hasOutcome = !!plan || !!run.answer || run.error !== undefined;
  const begun = useRef(hasOutcome);
  useEffect(() => {
    if (hasOutcome && !begun.current && !isRunning) outcome.current?.scrollIntoView?.({ block: "nearest" });
    begun.current = hasOutcome;
  }, [hasOutcome, isRunning]);
  const verb = verbOf(query);
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap items-end gap-3">
        <Field
          label={t("editor:sql.source")}
          required
          hint={sources.data && open.length === 0 && !isAdmin ? t("editor:sql.noSources") : undefined}
          problem={problem("config.source")}
          className="min-w-48"
        >
          {(told) => (
            <Select {...told} value={source} onChange={(event) => set("source", event.target.value)}>
              <option value="">{t("editor:sql.chooseSource")}</option>
              {source && !chosen && <option value={source}>{source}</option>}
              {list.map((one) => (
                <option key={one.name} value={one.name} disabled={!open.includes(one)}>
                  {one.name} ({one.kind}){!open.includes(one) && ` · ${t("editor:forAdmins")}`}
                </option>
              ))}
            </Select>
          )}
        </Field>
        {chosen?.cause && <span className="text-sm text-danger">{chosen.cause}</span>}
        <span className="grow" />
        {verb && (
          <Badge tone={verb.reads ? "ok" : "warn"}>
            {verb.reads ? `${verb.verb} · ${t("editor:sql.reads")}` : `${verb.verb} · ${t("editor:sql.writes")}`}
          </Badge>
        )}
        <Button icon={AlignLeft} disabled={!query.trim()} onClick={() => void format()}>
          {t("editor:sql.format")}
        </Button>
        <Button
          icon={ListTree}
          disabled={!query.trim() || !source || unreadIn(draft).length > 0}
          onClick={() => void explain()}
        >
          {t("editor:sql.explain")}
        </Button>
        {run.running && (
          <>
            <span className="self-center text-sm text-muted tabular-nums">{run.elapsed.toFixed(1)} s</span>
            <Button icon={Square} onClick={run.cancel}>
              {t("tools:stop")}
            </Button>
          </>
        )}
        <Button
          icon={Play}
          disabled={!query.trim() || !source || unreadIn(draft).length > 0 || !isRead}
          busy={run.running}
          title={t("editor:sql.runHint")}
          onClick={go}
        >
          {t("editor:sql.runSelection")}
        </Button>
      </div>
      <div className="grid gap-3 lg:h-[20rem] lg:grid-cols-[17rem_minmax(0,1fr)]">
        <TableExplorer source={source} parameters={known} onInsert={(text) => editor.current?.insert(text)} />
        <div
          className={`${inputClass} h-64 overflow-hidden px-0! lg:h-full`}
          aria-invalid={problem("config.query") ? true : undefined}
        >
          <Suspense fallback={<Skeleton rows={3} />}>
            <SqlCode
              ref={editor}
              value={query}
              onChange={write}
              source={source}
              dialect={chosen?.kind === "postgres" ? "postgres" : "sqlite"}
              known={known}
              onDeclare={(name) => declare([name])}
              onRun={go}
            />
          </Suspense>
        </div>
      </div>
      <p className="text-sm text-muted">{t("editor:sql.howToWrite", { place: "{{name}}" })}</p>
      {/* Below the editor: whoever types a name is not moved while it is not finished. */}
      {missing.length > 0 && (
        <Note
          tone="warn"
          actions={
            <Button small icon={Plus} className="text-fg" onClick={() => declare(missing)}>
              {t("editor:sql.addFound", { count: missing.length })}
            </Button>
          }
        >
          {t("editor:sql.foundUndeclared", { names: missing.join(", ") })}
        </Note>
      )}
      {problem("config.query") && (
        <p role="alert" className="text-sm text-danger">
          {problem("config.query")}
        </p>
      )}
      {used.length > 0 && (
        <fieldset className="rounded-md border px-3 pt-1 pb-3">
          <legend className="px-1 text-sm font-medium">{t("editor:sql.values")}</legend>
          {/* Its texts come with it: nobody who types is to lose the editor over that. */}
          <Suspense fallback={<Skeleton rows={1} />}>
            <SchemaForm
              isCompact
              schema={asked}
              value={Object.fromEntries(Object.entries(values).filter(([name]) => name in (asked.properties ?? {})))}
              onChange={changeValues}
              problems={problemsOf(run.answer?.error ?? undefined)}
            />
          </Suspense>
        </fieldset>
      )}
      {problem("config.write") && <p className="text-sm text-danger">{problem("config.write")}</p>}
      <details className="rounded-md border px-3 py-2" open={beginsOpen || undefined}>
        <summary className="font-medium">{t("editor:sql.options")}</summary>
        <div className="mt-3 grid gap-3 sm:grid-cols-3">
          <Field label={t("editor:sql.result")} hint={t("editor:sql.resultHint")}>
            {(told) => (
              <Select
                {...told}
                value={String(draft.config.result ?? "records")}
                onChange={(event) => set("result", event.target.value)}
              >
                <option value="records">{t("editor:sql.records")}</option>
                <option value="row">{t("editor:sql.row")}</option>
                <option value="scalar">{t("editor:sql.scalar")}</option>
              </Select>
            )}
          </Field>
          <Field label={t("editor:sql.maxRows")} problem={problem("config.max_rows")}>
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
            label={t("editor:sql.write")}
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
      <div ref={outcome} className="grid scroll-mb-4 gap-3 empty:hidden">
        {plan && (
          <Suspense fallback={<Skeleton rows={3} />}>
            <PlanView {...plan} />
          </Suspense>
        )}
        {draft.config.write === true && (run.error !== undefined || run.answer?.error) && (
          <Note tone="plain">{t("editor:sql.readsHere")}</Note>
        )}
        {run.error !== undefined && <Failed error={run.error} />}
        {run.answer && (
          <Suspense fallback={<Skeleton rows={2} />}>
            <Result answer={run.answer} />
          </Suspense>
        )}
      </div>
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
