// The third step: what the tool does, by its kind.

import { type ComponentType, lazy, Suspense } from "react";
import { Skeleton } from "../../ui/states";
import { ofKind } from "./draft";
import type { StepProps } from "./editor-state";
import { KindPicker } from "./kind-picker";
import type { Kind } from "./queries";

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
