// The tools of a set in their order, and the search that more are picked with.

import { useQuery, useQueryClient } from "@tanstack/react-query";
import clsx from "clsx";
import { ArrowDown, ArrowUp, Plus, SlidersHorizontal, TriangleAlert, X } from "lucide-react";
import { useDeferredValue, useId, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";
import { useGoneNames } from "../../api/gone-tools";
import type { ToolView } from "../../api/schema";
import { toolSearchQuery } from "../../api/tool-search";
import { readExact, writeExact } from "../../exact";
import { Badge } from "../../ui/badge";
import { Button, IconButton } from "../../ui/button";
import { Code } from "../../ui/code";
import { inputClass, TextField } from "../../ui/field";
import { usePickFirst } from "../../ui/pick-first";
import type { Schema } from "../../ui/schema";
import { SchemaForm, type Values } from "../../ui/schema-form";
import { Failed } from "../../ui/states";
import { toolQuery } from "../tools/queries";
import { type Row, rowOf } from "./draft";
import type { ToolName } from "./queries";

const SHOWN = 30;
/** Where whoever picked nothing is led. */
export const SEARCH = "pick-tools";

type Props = {
  isFixed: boolean;
  rows: Row[];
  /** What is known of the tools in the set, by name; null where there is none. */
  tools: ReadonlyMap<string, ToolName | null>;
  problems: Map<number, string>;
  /** Rows with a field that holds no value yet. */
  unfinished: ReadonlySet<number>;
  onChange: (change: (rows: Row[]) => Row[]) => void;
  /** Whether every field of a row holds a value. */
  onFinish: (key: number, isDone: boolean) => void;
};

/** What is set beforehand, as the tool's own form; as JSON where it does not say what it takes, or where what is typed is none. */
function SetArguments({
  row,
  tool,
  problem,
  set,
  onFinish,
}: {
  row: Row;
  tool?: ToolName;
  problem?: string;
  set: (change: Partial<Row>) => void;
  onFinish: (isDone: boolean) => void;
}) {
  const { t } = useTranslation("toolsets");
  const given = tool?.input_schema as Schema | undefined;
  const id = useId();
  // Nothing has to be set.
  const schema = useMemo(() => given && { ...given, required: [] }, [given]);
  const value = useMemo(
    () => (row.arguments.trim() && !problem ? (readExact(row.arguments) as Values) : {}),
    [row.arguments, problem],
  );
  const change = (next: Values, ok: boolean) => {
    set({ arguments: Object.keys(next).length > 0 ? writeExact(next, 2) : "" });
    onFinish(ok);
  };
  return (
    <fieldset aria-describedby={id} className="grid gap-1">
      <legend className="text-sm font-medium">{t("entry.arguments")}</legend>
      <p id={id} className="text-xs text-muted">
        {t("entry.argumentsHint")}
      </p>
      {schema && !problem ? (
        <SchemaForm schema={schema} value={value} onChange={change} />
      ) : (
        <Code
          language="json"
          label={t("entry.argumentsOf", { name: row.tool })}
          value={row.arguments}
          onChange={(text) => set({ arguments: text })}
          className="h-24"
        />
      )}
      {problem && <p className="text-sm text-danger">{t("entry.argumentsWrong", { detail: problem })}</p>}
    </fieldset>
  );
}

function Overrides({ row, tool, set, ...more }: Parameters<typeof SetArguments>[0]) {
  const { t } = useTranslation("toolsets");
  return (
    <div className="grid gap-3 border-t bg-sunken/40 p-3">
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField
          label={t("entry.name")}
          placeholder={row.tool}
          value={row.name}
          onChange={(event) => set({ name: event.target.value })}
          spellCheck={false}
        />
        <TextField
          label={t("entry.description")}
          placeholder={tool?.description}
          value={row.description}
          onChange={(event) => set({ description: event.target.value })}
        />
      </div>
      <SetArguments {...{ row, tool, set, ...more }} />
    </div>
  );
}

function OneEntry({
  row,
  at,
  count,
  tool,
  isMissing,
  problem,
  isUnfinished,
  isFixed,
  shownAs,
  onChange,
  onFinish,
  onMove,
  onRemove,
}: {
  row: Row;
  at: number;
  count: number;
  tool?: ToolName;
  isMissing: boolean;
  problem?: string;
  isUnfinished: boolean;
  isFixed: boolean;
  /** What people know it as. */
  shownAs: string;
  onChange: (change: Partial<Row>) => void;
  onFinish: (isDone: boolean) => void;
  onMove: (by: number) => void;
  onRemove: () => void;
}) {
  const { t } = useTranslation(["toolsets", "frame"]);
  const isSpecial = !!(row.name || row.description || row.arguments);
  const [isOpen, setOpen] = useState(false);
  // What is no value yet is nowhere but in its field: it is not folded away.
  const isShown = isOpen || !!problem || isUnfinished;
  return (
    <li className="rounded-md border bg-panel" data-status={isMissing ? "gone" : "there"}>
      <div className="flex items-center gap-1 px-2 py-1">
        <div className="min-w-0 grow">
          <span className="font-mono font-medium">{row.name || shownAs}</span>
          {row.name && <span className="ml-2 font-mono text-xs text-muted">{shownAs}</span>}
          <p className="truncate text-xs text-muted">{row.description || tool?.description}</p>
        </div>
        {isMissing && (
          <Badge tone="warn" icon={TriangleAlert}>
            {t("entry.missing")}
          </Badge>
        )}
        {isSpecial && <Badge tone="info">{t("entry.changed")}</Badge>}
        {!isFixed && (
          <>
            <Button
              small
              look="quiet"
              icon={SlidersHorizontal}
              aria-label={t("entry.edit", { name: shownAs })}
              aria-expanded={isShown}
              onClick={() => setOpen(!isShown)}
            >
              <span className="hidden sm:inline">{t("entry.adapt")}</span>
            </Button>
            <IconButton
              small
              icon={ArrowUp}
              label={t("entry.up", { name: shownAs })}
              disabled={at === 0}
              onClick={() => onMove(-1)}
            />
            <IconButton
              small
              icon={ArrowDown}
              label={t("entry.down", { name: shownAs })}
              disabled={at === count - 1}
              onClick={() => onMove(1)}
            />
            <IconButton small icon={X} label={t("entry.remove", { name: shownAs })} onClick={onRemove} />
          </>
        )}
      </div>
      {isShown && <Overrides {...{ row, tool, problem, onFinish }} set={onChange} />}
    </li>
  );
}

export function Entries({ isFixed, rows, tools, problems, unfinished, onChange, onFinish }: Props) {
  const { t } = useTranslation("toolsets");
  const [search, setSearch] = useState("");
  const goneNames = useGoneNames(rows.filter((row) => tools.get(row.tool) === null).map((row) => row.tool));
  const taken = new Set(rows.map((row) => row.tool));
  const looked = useDeferredValue(search);
  const found = useQuery(toolSearchQuery(looked, SHOWN));
  const queries = useQueryClient();
  const add = (tool: ToolView) => {
    // What the search has found need not be asked for again.
    queries.setQueryData(toolQuery(tool.name).queryKey, tool as never);
    onChange((now) => [...now, rowOf(tool.name)]);
  };
  const isKnown = looked === search && found.isSuccess && !found.isPlaceholderData;
  const first = found.data?.items.find((tool) => !taken.has(tool.name));
  const keys = usePickFirst(search, isKnown, first, (tool) => {
    add(tool);
    setSearch("");
  });
  const move = (at: number, by: number) => onChange((now) => now.toSpliced(at, 1).toSpliced(at + by, 0, now[at]!));
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <div className="grid min-w-0 grid-cols-1 content-start gap-2">
        <h3 className="text-sm font-medium">{t("entry.inSet", { count: rows.length })}</h3>
        {rows.length === 0 && <p className="text-sm text-muted">{t("entry.none")}</p>}
        <ul className="grid grid-cols-1 gap-1.5">
          {rows.map((row, at) => (
            <OneEntry
              key={row.key}
              {...{ row, at, isFixed }}
              count={rows.length}
              tool={tools.get(row.tool) ?? undefined}
              isMissing={tools.get(row.tool) === null}
              shownAs={goneNames.get(row.tool) ?? row.tool}
              problem={problems.get(row.key)}
              onFinish={(isDone) => onFinish(row.key, isDone)}
              isUnfinished={unfinished.has(row.key)}
              onChange={(change) =>
                onChange((now) => now.map((one) => (one.key === row.key ? { ...one, ...change } : one)))
              }
              onMove={(by) => move(at, by)}
              onRemove={() => onChange((now) => now.filter((one) => one.key !== row.key))}
            />
          ))}
        </ul>
      </div>
      {!isFixed && (
        <div className="grid min-w-0 grid-cols-1 content-start gap-2">
          <label htmlFor={SEARCH} className="text-sm font-medium">
            {t("entry.pick")}
          </label>
          <input
            id={SEARCH}
            type="search"
            value={search}
            placeholder={t("entry.search")}
            onChange={(event) => setSearch(event.target.value)}
            aria-describedby={`${SEARCH}-hint`}
            {...keys}
            className={clsx(inputClass, "h-8")}
          />
          <p id={`${SEARCH}-hint`} className="text-xs text-muted">
            {t("entry.pickHint")}
          </p>
          {found.error && <Failed error={found.error} again={() => void found.refetch()} />}
          <ul className="max-h-96 divide-y overflow-y-auto rounded-md border bg-panel">
            {found.data?.items.map((tool) => (
              <li key={tool.id} className="flex items-center gap-2 px-3 py-1">
                <div className="min-w-0 grow">
                  <p className="truncate font-mono">{tool.name}</p>
                  <p className="truncate text-xs text-muted">{tool.description}</p>
                </div>
                {taken.has(tool.name) && <Badge>{t("entry.taken")}</Badge>}
                <Button
                  small
                  look="quiet"
                  icon={Plus}
                  aria-label={t("entry.add", { name: tool.name })}
                  onClick={() => add(tool)}
                />
              </li>
            ))}
          </ul>
          <p className="text-xs text-muted">
            {found.data &&
              (found.data.next_cursor ? t("entry.more") : t("entry.found", { count: found.data.items.length }))}
          </p>
        </div>
      )}
    </div>
  );
}
