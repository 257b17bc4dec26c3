// How a query would be run, step by step. Loaded when somebody asks for it.

import { CornerDownRight, Dot, Search, TableProperties } from "lucide-react";
import { useEffect, useRef } from "react";
import { useTranslation } from "react-i18next";
import { Json } from "../../ui/json";
import { Card } from "../../ui/page";
import { type Step, stepsOf } from "./plan";

const icons = { scan: TableProperties, search: Search, other: Dot };

type Props = { plan: unknown; isWithoutValues: boolean };

export default function PlanView({ plan, isWithoutValues }: Props) {
  const { t } = useTranslation("plan");
  const steps = stepsOf(plan);
  const raw = <Json value={plan} label={t("raw")} className="max-h-72 overflow-auto!" />;
  const place = useRef<HTMLDivElement>(null);
  // Below the editor, it may be out of sight.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another plan is another thing to look at
  useEffect(() => place.current?.scrollIntoView({ block: "nearest" }), [plan]);
  return (
    <div ref={place} className="scroll-mb-4">
      <Card title={t("title")}>
        {isWithoutValues && <p className="mb-2 text-sm text-muted">{t("withoutValues")}</p>}
        {steps ? (
          <>
            <ol className="grid gap-1.5" data-testid="plan">
              {steps.map((step, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place
                <li key={at} className="flex items-start gap-2" style={{ marginLeft: `${step.depth * 1.25}rem` }}>
                  <StepText step={step} />
                </li>
              ))}
            </ol>
            <details className="mt-3 text-sm">
              <summary className="text-muted">{t("raw")}</summary>
              <div className="mt-2">{raw}</div>
            </details>
          </>
        ) : (
          raw
        )}
      </Card>
    </div>
  );
}

function StepText({ step }: { step: Step }) {
  const { t, i18n } = useTranslation("plan");
  const { does, table, index, text, rows, depth } = step;
  const Icon = does === "other" && depth > 0 ? CornerDownRight : icons[does];
  const said =
    table && does !== "other" ? t(does === "scan" ? "scan" : index ? "byIndex" : "byKey", { table, index }) : undefined;
  return (
    <>
      <Icon aria-hidden className={`mt-1 size-4 shrink-0 ${does === "scan" ? "text-warn" : "text-muted"}`} />
      <span className="min-w-0">
        {said ?? <code className="break-all">{text}</code>}
        {rows !== undefined && (
          <span className="text-sm text-muted"> · {t("rows", { rows: rows.toLocaleString(i18n.language) })}</span>
        )}
        {said && <code className="block text-xs break-all text-muted">{text}</code>}
      </span>
    </>
  );
}
