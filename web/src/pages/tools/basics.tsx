// The first step: what the tool is called, what agents and people read of it, and what the description does to the choice.

import { ShieldQuestion } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { writeExact } from "../../exact";
import { Badge } from "../../ui/badge";
import { Check, Field, Input, Select, TextArea, TextField } from "../../ui/field";
import { Json } from "../../ui/json";
import { Lines } from "../../ui/lines";
import { Note } from "../../ui/note";
import { Card } from "../../ui/page";
import { Skeleton } from "../../ui/states";
import { type Draft, NAME, ofKind, schemaOf, tokensOf } from "./draft";
import type { Checked, StepProps } from "./editor-state";
import { KindPicker } from "./kind-picker";
import { offered } from "./pinned";
import { needsApproval } from "./testable";

const Safety = lazy(() => import("./safety"));

type Props = StepProps & { check: Checked & { isFetching: boolean }; isNew: boolean; may: boolean };

export function Basics({ draft, change, problem, check, isNew, may }: Props) {
  const { t } = useTranslation(["editor", "tools"]);
  const isAdmin = useMay("admin");
  // What is wrong in it has to be seen.
  const isSafetyWrong = ["approval", "annotations", "rate_limit", "output_format"].some(problem);
  const [isSafetyOpen, setSafetyOpen] = useState(isSafetyWrong);
  const badName = draft.name !== "" && !NAME.test(draft.name.trim()) ? t("editor:basics.nameRule") : undefined;
  return (
    <div className="grid grid-cols-1 items-start gap-6 xl:grid-cols-[minmax(0,1fr)_minmax(0,28rem)]">
      <fieldset disabled={!may} className="grid min-w-0 gap-4">
        <TextField
          label={t("editor:basics.name")}
          hint={t("editor:basics.nameHint")}
          problem={problem("name") ?? badName}
          required
          className="max-w-xl"
          value={draft.name}
          spellCheck={false}
          autoComplete="off"
          placeholder="get_user_daily_limit"
          onChange={(event) => change({ name: event.target.value })}
        />
        <Field
          label={t("editor:basics.description")}
          hint={t("editor:basics.descriptionHint")}
          problem={problem("description")}
          required
        >
          {(told) => (
            <TextArea
              {...told}
              rows={4}
              aria-required
              value={draft.description}
              onChange={(event) => change({ description: event.target.value })}
            />
          )}
        </Field>
        <Field
          label={t("editor:basics.descriptionUser")}
          hint={t("editor:basics.descriptionUserHint")}
          problem={problem("description_user")}
        >
          {(told) => (
            <TextArea
              {...told}
              rows={2}
              value={draft.description_user}
              onChange={(event) => change({ description_user: event.target.value })}
            />
          )}
        </Field>
        <div>
          <p className="mb-1 text-sm font-medium">{t("editor:basics.kind")}</p>
          <KindPicker kind={draft.kind} disabled={!isNew} onPick={(kind) => change(ofKind(draft, kind))} />
          {problem("kind") && <p className="mt-1 text-sm text-danger">{problem("kind")}</p>}
        </div>
        {isNew && (
          <Field label={t("tools:shelf")} hint={t("editor:basics.shelfHint")} className="max-w-xl">
            {(told) => (
              <Select
                {...told}
                value={draft.shelf}
                onChange={(event) => change({ shelf: event.target.value as Draft["shelf"] })}
              >
                <option value="database">{t("tools:shelves.database")}</option>
                <option value="file" disabled={!isAdmin}>
                  {t("tools:shelves.file")}
                  {!isAdmin && ` · ${t("editor:forAdmins")}`}
                </option>
              </Select>
            )}
          </Field>
        )}
        <details className="rounded-md border px-3 py-2">
          <summary className="font-medium">{t("editor:basics.more")}</summary>
          <div className="mt-3 grid gap-4">
            <Lines
              label={t("editor:basics.examples")}
              hint={t("editor:basics.examplesHint")}
              problem={problem("examples")}
              value={draft.examples}
              onChange={(examples) => change({ examples })}
            />
            <Field label={t("editor:basics.timeout")} problem={problem("timeout_seconds")} className="max-w-40">
              {(told) => (
                <Input
                  {...told}
                  type="number"
                  min={0}
                  step="any"
                  value={String(draft.rest.timeout_seconds ?? "")}
                  onChange={(event) =>
                    change({
                      rest: {
                        ...draft.rest,
                        timeout_seconds: event.target.value ? Number(event.target.value) : undefined,
                      },
                    })
                  }
                />
              )}
            </Field>
            <Check
              label={t("editor:basics.public")}
              checked={draft.rest.is_public === true}
              onChange={(event) => change({ rest: { ...draft.rest, is_public: event.target.checked } })}
            />
            <Check
              label={t("editor:basics.active")}
              checked={draft.is_active}
              onChange={(event) => change({ is_active: event.target.checked })}
            />
          </div>
        </details>
        <details
          className="rounded-md border px-3 py-2"
          open={isSafetyOpen}
          onToggle={(event) => setSafetyOpen(event.currentTarget.open)}
        >
          <summary className="font-medium">
            {t("editor:basics.safety")}
            {needsApproval(draft.rest.approval) && (
              <Badge tone="info" icon={ShieldQuestion} className="ml-2">
                {t("tools:needsApproval")}
              </Badge>
            )}
          </summary>
          {isSafetyOpen && (
            <Suspense fallback={<Skeleton rows={3} />}>
              <Safety draft={draft} change={change} problem={problem} />
            </Suspense>
          )}
        </details>
      </fieldset>
      <div className="grid min-w-0 grid-cols-1 gap-4">
        <AgentCard draft={draft} />
        <EffectCard check={check} />
      </div>
    </div>
  );
}

/** What would make an agent choose wrongly, or write wrong arguments. */
export function hintsOf(draft: Draft): Array<"short" | "long" | "when" | "undescribed"> {
  const text = draft.description.trim();
  const hints: ReturnType<typeof hintsOf> = [];
  if (text && text.length < 30) hints.push("short");
  if (tokensOf(text) > 300) hints.push("long");
  if (text.length >= 30 && !/\b(use|when|if|whenever|instead)\b|때|경우|사용|쓰/i.test(text)) hints.push("when");
  if (draft.parameters.some((one) => one.name && !one.schema.description)) hints.push("undescribed");
  return hints;
}

function AgentCard({ draft }: { draft: Draft }) {
  const { t } = useTranslation("editor");
  const seen = { name: draft.name.trim(), description: draft.description, inputSchema: offered(schemaOf(draft)) };
  const tokens = tokensOf(writeExact(seen));
  const hints = hintsOf(draft);
  return (
    <Card title={t("agent.title")} actions={<Badge>{t("agent.tokens", { count: tokens })}</Badge>}>
      <Json value={seen} label={t("agent.title")} className="max-h-80 overflow-auto!" />
      {hints.length > 0 && (
        <ul className="mt-3 grid gap-1 text-sm text-warn">
          {hints.map((hint) => (
            <li key={hint}>• {t(`agent.${hint}`)}</li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function EffectCard({ check }: { check: Checked & { isFetching: boolean } }) {
  const { t } = useTranslation("editor");
  const effect = check.tool?.effect;
  return (
    <Card
      title={t("effect.title")}
      actions={check.isFetching && <span className="text-sm text-muted">{t("effect.looking")}</span>}
    >
      {effect ? (
        <div className={check.isFetching ? "opacity-60" : ""}>
          <p>{t("effect.score", { before: effect.right_before, after: effect.right_after, n: effect.n })}</p>
          {effect.changed.length === 0 && <p className="text-sm text-muted">{t("effect.nothing")}</p>}
          <ul className="mt-2 grid max-h-72 gap-2 overflow-y-auto">
            {effect.changed.map((row) => (
              <li key={row.query} className="rounded-md border px-2 py-1.5 text-sm">
                <div className="flex items-start gap-2">
                  <span className="grow">{row.query}</span>
                  <Badge tone={row.change === "better" ? "ok" : row.change === "worse" ? "danger" : "plain"}>
                    {row.change === "better"
                      ? t("effect.wins")
                      : row.change === "worse"
                        ? t("effect.loses")
                        : t("effect.other")}
                  </Badge>
                </div>
                <p className="font-mono text-xs text-muted">
                  {row.before} → {row.after}
                  {row.change !== "better" && ` (${t("effect.expected", { tool: row.expected })})`}
                </p>
              </li>
            ))}
          </ul>
        </div>
      ) : check.badGold ? (
        <Note tone="warn">{check.badGold}</Note>
      ) : check.noGold ? (
        <Note tone="plain">{t("effect.noGold")}</Note>
      ) : (
        <p className="text-sm text-muted">{t("effect.later")}</p>
      )}
    </Card>
  );
}
