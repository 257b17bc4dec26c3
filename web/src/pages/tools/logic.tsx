// The third step: what the tool does, by its kind.

import clsx from "clsx";
import { type ComponentType, lazy, Suspense } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { Skeleton } from "../../ui/states";
import { ofKind } from "./draft";
import type { StepProps } from "./editor-state";
import { kindIcons } from "./kind";
import { KINDS, type Kind } from "./queries";

const part = (load: () => Promise<ComponentType<StepProps>>) => lazy(async () => ({ default: await load() }));

// A tool is of one kind: what the others need stays away.
const parts: Record<Kind, ComponentType<StepProps>> = {
  sql: part(async () => (await import("./logic-sql")).LogicSql),
  expression: part(async () => (await import("./logic-expression")).LogicExpression),
  http: part(async () => (await import("./logic-http")).LogicHttp),
  python: part(async () => (await import("./logic-programs")).LogicPython),
  shell: part(async () => (await import("./logic-programs")).LogicShell),
  mcp: part(async () => (await import("./logic-mcp")).LogicMcp),
  builtin: part(async () => (await import("./logic-programs")).LogicBuiltin),
};

type PickerProps = { kind: Kind; onPick: (kind: Kind) => void; disabled?: boolean };

export function KindPicker({ kind, onPick, disabled }: PickerProps) {
  const { t } = useTranslation(["tools", "editor"]);
  const isAdmin = useMay("admin");
  const isKept = (one: Kind) => !isAdmin && (one === "python" || one === "shell");
  return (
    <fieldset className="flex flex-wrap gap-1.5">
      <legend className="sr-only">{t("tools:kind")}</legend>
      {KINDS.map((one) => {
        const Icon = kindIcons[one];
        return (
          <button
            key={one}
            type="button"
            aria-pressed={kind === one}
            disabled={kind !== one && (disabled || isKept(one))}
            title={isKept(one) ? t("editor:kindsForAdmins") : undefined}
            onClick={() => onPick(one)}
            className={clsx(
              "inline-flex h-8 items-center gap-1.5 rounded-md border px-3 font-medium disabled:cursor-not-allowed disabled:opacity-50",
              kind === one ? "border-accent bg-accent-soft text-accent-text" : "bg-panel hover:bg-sunken",
            )}
          >
            <Icon aria-hidden className="size-4" />
            {t(`tools:kinds.${one}`)}
          </button>
        );
      })}
      <p className="basis-full text-sm text-muted">
        {t(`editor:kindsAbout.${kind}`)}
        {!isAdmin && !disabled && ` ${t("editor:kindsForAdmins")}`}
      </p>
    </fieldset>
  );
}

export function Logic({ isNew, ...props }: StepProps & { isNew: boolean }) {
  const Part = parts[props.draft.kind];
  return (
    <div className="grid gap-4">
      <KindPicker
        kind={props.draft.kind}
        disabled={!isNew}
        onPick={(kind) => props.change(ofKind(props.draft, kind))}
      />
      <Suspense fallback={<Skeleton rows={4} />}>
        <Part key={props.draft.kind} {...props} />
      </Suspense>
    </div>
  );
}
