// The third step: what the tool does, by its kind.

import clsx from "clsx";
import { useTranslation } from "react-i18next";
import { ofKind } from "./draft";
import type { StepProps } from "./editor-state";
import { kindIcons } from "./kind";
import { LogicExpression } from "./logic-expression";
import { LogicHttp } from "./logic-http";
import { LogicMcp } from "./logic-mcp";
import { LogicBuiltin, LogicPython, LogicShell } from "./logic-programs";
import { LogicSql } from "./logic-sql";
import { KINDS, type Kind } from "./queries";

const parts: Record<Kind, (props: StepProps) => React.ReactNode> = {
  sql: LogicSql,
  expression: LogicExpression,
  http: LogicHttp,
  python: LogicPython,
  shell: LogicShell,
  mcp: LogicMcp,
  builtin: LogicBuiltin,
};

type PickerProps = { kind: Kind; onPick: (kind: Kind) => void; disabled?: boolean };

export function KindPicker({ kind, onPick, disabled }: PickerProps) {
  const { t } = useTranslation("tools");
  return (
    <fieldset className="flex flex-wrap gap-1.5">
      <legend className="sr-only">{t("kind")}</legend>
      {KINDS.map((one) => {
        const Icon = kindIcons[one];
        return (
          <button
            key={one}
            type="button"
            aria-pressed={kind === one}
            disabled={disabled && kind !== one}
            onClick={() => onPick(one)}
            className={clsx(
              "inline-flex h-8 items-center gap-1.5 rounded-md border px-3 font-medium disabled:cursor-not-allowed disabled:opacity-50",
              kind === one ? "border-accent bg-accent-soft text-accent-text" : "bg-panel hover:bg-sunken",
            )}
          >
            <Icon aria-hidden className="size-4" />
            {t(`kinds.${one}`)}
          </button>
        );
      })}
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
      <Part key={props.draft.kind} {...props} />
    </div>
  );
}
