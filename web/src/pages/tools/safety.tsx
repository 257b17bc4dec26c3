// Who must agree before a call, what a call may do, how often it may be called, and how its answer goes out. Loaded when somebody
// opens that part.

import { useTranslation } from "react-i18next";
import { Check, Field, Input, Select } from "../../ui/field";
import { isParallelBefore, seenToRead } from "./draft";
import type { StepProps } from "./editor-state";
import { needsApproval } from "./testable";

type Annotations = { read_only?: boolean; destructive?: boolean; idempotent?: boolean; open_world?: boolean };
export type Risk = "" | "read_only" | "writes" | "destructive";

export function riskOf({ read_only, destructive }: Annotations): Risk {
  if (destructive === true) return "destructive";
  if (read_only === true) return "read_only";
  return destructive === false ? "writes" : "";
}

/** The same, with another risk said, or none. */
export function withRisk(before: Annotations, risk: Risk): Annotations {
  const { read_only: _r, destructive: _d, ...others } = before;
  if (risk === "read_only") return { ...others, read_only: true };
  if (risk === "writes") return { ...others, read_only: false, destructive: false };
  return risk === "destructive" ? { ...others, destructive: true } : others;
}

const LIMITS = ["requests_per_minute", "requests_per_hour", "concurrent_requests"] as const;

export default function Safety({ draft, change, problem }: Pick<StepProps, "draft" | "change" | "problem">) {
  const { t } = useTranslation(["safety", "tools"]);
  const { rest } = draft;
  const said = (rest.annotations ?? {}) as Annotations;
  const limits = (rest.rate_limit ?? {}) as Partial<Record<(typeof LIMITS)[number], number>>;
  const set = (member: string, value: unknown) => {
    const { [member]: _, ...others } = rest;
    const isEmpty = value === undefined || (typeof value === "object" && Object.keys(value as object).length === 0);
    change({ rest: isEmpty ? others : { ...rest, [member]: value } });
  };
  const annotate = (member: keyof Annotations, value: boolean | undefined) => {
    const { [member]: _, ...others } = said;
    set("annotations", value === undefined ? others : { ...said, [member]: value });
  };
  const limit = (which: (typeof LIMITS)[number], text: string) => {
    const { [which]: _, ...others } = limits;
    set("rate_limit", text === "" ? others : { ...limits, [which]: Number(text) });
  };
  const reads = seenToRead(draft.kind, draft.config);
  const isParallel = isParallelBefore(draft.kind);
  return (
    <div className="mt-3 grid gap-4">
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label={t("safety:approval")} hint={t("safety:approvalHint")} problem={problem("approval")}>
          {(told) => (
            <Select
              {...told}
              value={needsApproval(rest.approval) ? "always" : "never"}
              onChange={(event) => set("approval", event.target.value === "always" ? "always" : undefined)}
            >
              <option value="never">{t("safety:never")}</option>
              <option value="always">{t("safety:always")}</option>
            </Select>
          )}
        </Field>
        <Field label={t("safety:risk")} hint={t("safety:riskHint")} problem={problem("annotations")}>
          {(told) => (
            <Select
              {...told}
              value={riskOf(said)}
              onChange={(event) => set("annotations", withRisk(said, event.target.value as Risk))}
            >
              <option value="">
                {t("safety:unsaid", { risk: t(reads ? "tools:risks.read_only" : "tools:risks.destructive") })}
              </option>
              {(["read_only", "writes", "destructive"] as const).map((one) => (
                <option key={one} value={one}>
                  {t(`tools:risks.${one}`)}
                </option>
              ))}
            </Select>
          )}
        </Field>
      </div>
      <div className="grid gap-2">
        <Check
          label={t("safety:idempotent")}
          checked={said.idempotent === true}
          onChange={(event) => annotate("idempotent", event.target.checked || undefined)}
        />
        <Check
          label={t("safety:closed")}
          checked={said.open_world === false}
          onChange={(event) => annotate("open_world", event.target.checked ? false : undefined)}
        />
        <Check
          label={t("safety:parallel")}
          checked={(rest.parallel_capable ?? isParallel) === true}
          onChange={(event) =>
            set("parallel_capable", event.target.checked === isParallel ? undefined : event.target.checked)
          }
        />
      </div>
      <fieldset className="grid gap-2">
        <legend className="mb-1 text-sm font-medium">{t("safety:limits")}</legend>
        <div className="grid gap-3 sm:grid-cols-3">
          {LIMITS.map((which) => (
            <Field key={which} label={t(`safety:${which}`)} problem={problem(`rate_limit.${which}`)}>
              {(told) => (
                <Input
                  {...told}
                  type="number"
                  min={1}
                  placeholder={t("safety:unlimited")}
                  value={String(limits[which] ?? "")}
                  onChange={(event) => limit(which, event.target.value)}
                />
              )}
            </Field>
          ))}
        </div>
        <p className="text-xs text-muted">{t("safety:limitsHint")}</p>
      </fieldset>
      <Field
        label={t("safety:format")}
        hint={t("safety:formatHint")}
        problem={problem("output_format")}
        className="max-w-xs"
      >
        {(told) => (
          <Select
            {...told}
            value={String(rest.output_format ?? "json")}
            onChange={(event) => set("output_format", event.target.value === "json" ? undefined : event.target.value)}
          >
            <option value="json">JSON</option>
            <option value="text">{t("safety:text")}</option>
          </Select>
        )}
      </Field>
    </div>
  );
}
