// The second step: the arguments, in their order.

import { GripVertical, Plus, Settings2, Trash2 } from "lucide-react";
import { type DragEvent, type KeyboardEvent, lazy, Suspense, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { Button, IconButton } from "../../ui/button";
import { Check, Input, Select } from "../../ui/field";
import { Note } from "../../ui/note";
import type { Schema } from "../../ui/schema";
import { Empty, Skeleton } from "../../ui/states";
import { toast } from "../../ui/toast";
import { badName, type Config, type Draft, type Parameter, parameter } from "./draft";
import type { StepProps } from "./editor-state";
import { DefaultValue } from "./parameter-default";
import { renamedIn } from "./renamed";
import { undeclared } from "./sql-parameters";

const Advanced = lazy(async () => ({ default: (await import("./parameter-advanced")).Advanced }));

export const TYPES = ["string", "number", "integer", "boolean", "array", "object"] as const;
export type ParameterType = (typeof TYPES)[number];

export const typeOf = (schema: Schema): ParameterType | "other" =>
  TYPES.includes(schema.type as ParameterType) ? (schema.type as ParameterType) : "other";

/** What names may be written as in a query, a formula and a place. */
const isName = (name: string) => /^[\p{Alphabetic}_][\p{Alphabetic}\p{N}_]*$/u.test(name);

/** A name that is being changed: what it was, and what the tool did with it, when somebody came to the field. */
type Renaming = { id: number; from: string; config: Config };

/** The draft with another name for a parameter, also where the tool uses it. */
function renamed(draft: Draft, id: number, from: string, to: string): Partial<Draft> {
  return {
    parameters: draft.parameters.map((one) => (one.id === id ? { ...one, name: to } : one)),
    config: renamedIn(draft, from, to),
  };
}

/** Another type keeps what does not depend on it. */
function ofType(schema: Schema, type: ParameterType): Schema {
  const { description, title } = schema;
  const secret = schema["x-secret"];
  return {
    type,
    ...(title ? { title } : {}),
    ...(description ? { description } : {}),
    ...(secret ? { "x-secret": secret } : {}),
    ...(type === "array" ? { items: { type: "string" } } : {}),
  };
}

export function Parameters({ draft, change, problem }: StepProps) {
  const { t } = useTranslation(["editor", "frame"]);
  const list = useRef<HTMLOListElement>(null);
  const adding = useRef<HTMLButtonElement>(null);
  const [dragged, setDragged] = useState<number>();
  const all = draft.parameters;
  const query = draft.kind === "sql" ? String(draft.config.query ?? "") : "";
  const caller = Object.keys((draft.config.caller as object | undefined) ?? {});
  const found = undeclared(query, [...all.map((one) => one.name), ...caller]);
  const set = (id: number, some: Partial<Parameter>) =>
    change({ parameters: all.map((one) => (one.id === id ? { ...one, ...some } : one)) });
  const renaming = useRef<Renaming>(null);
  const rename = ({ id }: Parameter, name: string) => {
    const parameters = all.map((one) => (one.id === id ? { ...one, name } : one));
    const { from, config } = renaming.current ?? { from: "", config: draft.config };
    const to = name.trim();
    const isOnly = !all.some((one) => one.id !== id && [from, to].includes(one.name.trim()));
    // A name that is not one yet leaves the last one where it is used.
    if (renaming.current?.id !== id || !isName(from) || !isName(to) || !isOnly) return change({ parameters });
    change({ parameters, config: renamedIn({ kind: draft.kind, config }, from, to) });
  };
  const leaveName = (one: Parameter) => {
    const begun = renaming.current;
    renaming.current = null;
    const to = one.name.trim();
    if (!begun || begun.from === to || begun.config === draft.config) return;
    const { id, from } = begun;
    toast(t("parameters.renamed", { from, to }), {
      action: { label: t("frame:undo"), run: () => change((now) => renamed(now, id, to, from)) },
    });
  };
  const focus = (at: number) =>
    requestAnimationFrame(() => {
      const row = list.current?.children[at];
      (row?.querySelector<HTMLElement>("input") ?? adding.current)?.focus();
    });
  const add = (...more: Parameter[]) => {
    change((now) => ({ parameters: [...now.parameters, ...more] }));
    focus(all.length);
  };
  const remove = (one: Parameter, at: number) => {
    change((now) => ({ parameters: now.parameters.filter((it) => it.id !== one.id) }));
    focus(Math.min(at, all.length - 2));
    const name = one.name.trim();
    if (name === "" && !one.schema.description) return;
    const back = (now: Draft) => ({ parameters: now.parameters.toSpliced(at, 0, one) });
    toast(t("parameters.removed", { name: name || t("parameters.number", { number: at + 1 }) }), {
      action: { label: t("frame:undo"), run: () => change(back) },
    });
  };
  const move = (from: number, to: number) => {
    if (to < 0 || to >= all.length || from === to) return;
    const moved = all[from]!;
    change({ parameters: all.toSpliced(from, 1).toSpliced(to, 0, moved) });
  };
  const onKey = (event: KeyboardEvent, at: number) => {
    if (!event.altKey || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
    event.preventDefault();
    const to = at + (event.key === "ArrowUp" ? -1 : 1);
    move(at, to);
    if (to >= 0 && to < all.length) focus(to);
  };
  return (
    <div className="grid gap-3">
      <p className="text-muted">{t("parameters.about")}</p>
      {found.length > 0 && (
        <Note
          actions={
            <Button small icon={Plus} className="text-fg" onClick={() => add(...found.map((name) => parameter(name)))}>
              {t("sql.addFound", { count: found.length })}
            </Button>
          }
        >
          {t("sql.foundUndeclared", { names: found.join(", ") })}
        </Note>
      )}
      {problem("input_schema") && (
        <p role="alert" className="text-sm text-danger">
          {problem("input_schema")}
        </p>
      )}
      {all.length === 0 ? (
        <Empty
          title={t("parameters.none")}
          action={
            <Button ref={adding} look="primary" icon={Plus} onClick={() => add(parameter())}>
              {t("parameters.add")}
            </Button>
          }
        >
          {t("parameters.noneAbout")}
        </Empty>
      ) : (
        <>
          <ol ref={list} className="grid gap-2">
            {all.map((one, at) => {
              const bad = badName(all, at);
              return (
                <ParameterRow
                  key={one.id}
                  one={one}
                  at={at}
                  problem={bad && t(`parameters.${bad}`)}
                  isDragged={dragged === at}
                  onChange={(some) => set(one.id, some)}
                  onName={(name) => rename(one, name)}
                  onNameBegun={() => {
                    renaming.current = { id: one.id, from: one.name.trim(), config: draft.config };
                  }}
                  onNameDone={() => leaveName(one)}
                  onRemove={() => remove(one, at)}
                  onKey={(event) => onKey(event, at)}
                  onDrag={(event) => {
                    event.dataTransfer.effectAllowed = "move";
                    event.dataTransfer.setData("application/x-toolcrib-row", String(at));
                    setDragged(at);
                  }}
                  onOver={(event) => {
                    if (dragged === undefined) return;
                    event.preventDefault();
                    if (dragged === at) return;
                    move(dragged, at);
                    setDragged(at);
                  }}
                  onDragEnd={() => setDragged(undefined)}
                />
              );
            })}
          </ol>
          <div>
            <Button ref={adding} icon={Plus} onClick={() => add(parameter())}>
              {t("parameters.add")}
            </Button>
          </div>
        </>
      )}
    </div>
  );
}

type RowProps = {
  one: Parameter;
  at: number;
  problem?: string;
  isDragged: boolean;
  onChange: (some: Partial<Parameter>) => void;
  onName: (name: string) => void;
  onNameBegun: () => void;
  onNameDone: () => void;
  onRemove: () => void;
  onKey: (event: KeyboardEvent) => void;
  onDrag: (event: DragEvent) => void;
  onOver: (event: DragEvent) => void;
  onDragEnd: () => void;
};

function ParameterRow({ one, at, problem, isDragged, onChange, onName, onNameBegun, onNameDone, ...row }: RowProps) {
  const { onRemove, onKey, onDrag, onOver, onDragEnd } = row;
  const { t } = useTranslation("editor");
  // What has to be mended is in sight.
  const [open, setOpen] = useState(one.unread !== undefined || one.unreadEnum !== undefined);
  const type = typeOf(one.schema);
  const label = one.name || t("parameters.number", { number: at + 1 });
  const about = (text: string) => t("parameters.of", { what: text, name: label });
  const describe = (description: string) => {
    const { description: _, ...others } = one.schema;
    onChange({ schema: description ? { ...others, description } : others });
  };
  return (
    <li
      onKeyDown={onKey}
      onDragOver={onOver}
      className={`rounded-md border bg-panel p-2 ${isDragged ? "opacity-50" : ""}`}
    >
      <div className="grid items-center gap-2 md:grid-cols-[auto_minmax(8rem,14rem)_9.5rem_auto_minmax(8rem,1fr)_8rem_auto]">
        <button
          type="button"
          draggable
          aria-label={t("parameters.move", { name: label })}
          title={t("parameters.moveHint")}
          onDragStart={onDrag}
          onDragEnd={onDragEnd}
          className="grid h-8 w-6 cursor-grab place-items-center rounded text-muted hover:bg-sunken max-md:hidden"
        >
          <GripVertical aria-hidden className="size-4" />
        </button>
        <Input
          aria-label={about(t("parameters.name"))}
          aria-invalid={problem ? true : undefined}
          placeholder={t("parameters.name")}
          className="font-mono"
          spellCheck={false}
          autoComplete="off"
          value={one.name}
          onFocus={onNameBegun}
          onBlur={onNameDone}
          onChange={(event) => onName(event.target.value)}
        />
        <Select
          aria-label={about(t("parameters.type"))}
          value={type}
          onChange={(event) =>
            onChange({
              schema: ofType(one.schema, event.target.value as ParameterType),
              unreadDefault: undefined,
              unreadEnum: undefined,
            })
          }
        >
          {TYPES.map((it) => (
            <option key={it} value={it}>
              {t(`parameters.types.${it}`)}
            </option>
          ))}
          {type === "other" && <option value="other">{t("parameters.types.other")}</option>}
        </Select>
        <Check
          label={t("parameters.required")}
          aria-label={about(t("parameters.required"))}
          checked={one.required}
          onChange={(event) => onChange({ required: event.target.checked })}
        />
        <Input
          aria-label={about(t("parameters.description"))}
          placeholder={t("parameters.descriptionHint")}
          value={one.schema.description ?? ""}
          onChange={(event) => describe(event.target.value)}
        />
        <DefaultValue
          key={type}
          label={about(t("parameters.default"))}
          schema={one.schema}
          unread={one.unreadDefault}
          onChange={onChange}
        />
        <span className="flex">
          <IconButton
            small
            icon={Settings2}
            label={about(t("parameters.advanced"))}
            aria-expanded={open}
            onClick={() => setOpen(!open)}
          />
          <IconButton small icon={Trash2} label={t("parameters.remove", { name: label })} onClick={onRemove} />
        </span>
      </div>
      {problem && <p className="mt-1 text-sm text-danger">{problem}</p>}
      {open && (
        <Suspense fallback={<Skeleton rows={2} />}>
          <Advanced
            name={label}
            schema={one.schema}
            unread={one.unread}
            unreadEnum={one.unreadEnum}
            onEnum={onChange}
            onChange={(schema) => onChange({ schema })}
            onText={(read) =>
              onChange(
                "unread" in read
                  ? read
                  : {
                      schema: (read.value ?? {}) as Schema,
                      unread: undefined,
                      unreadDefault: undefined,
                      unreadEnum: undefined,
                    },
              )
            }
          />
        </Suspense>
      )}
    </li>
  );
}
