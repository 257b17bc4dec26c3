// "Would this be allowed?": the verdict and every reason, for whoever is asked about. The question stands in the address.

import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleX, EyeOff } from "lucide-react";
import type { ComponentProps } from "react";
import { useDeferredValue } from "react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { toolSearchQuery } from "../../api/tool-search";
import { useAddress } from "../../search";
import { useTyped } from "../../typed";
import { Badge, type Tone } from "../../ui/badge";
import { Coded } from "../../ui/coded";
import { Card } from "../../ui/page";
import { Failed } from "../../ui/states";
import { Suggest } from "../../ui/suggest";
import { explainQuery, subjectsQuery } from "./queries";

const verdicts = {
  allowed: ["ok", CircleCheck],
  denied: ["danger", CircleX],
  hidden: ["warn", EyeOff],
} as const;

const effects: Record<string, Tone> = { pass: "ok", deny: "danger", hide: "warn" };

function AskedAbout({ param, ...rest }: { param: string } & ComponentProps<typeof Suggest>) {
  return <Suggest {...rest} {...useTyped(param)} />;
}

/** `isUnsaved`: there are rules that are not saved yet, and do not count here. */
export function Explain({ isUnsaved }: { isUnsaved: boolean }) {
  const { t } = useTranslation("policies");
  const [found] = useAddress();
  const isAdmin = useMay("admin");
  const tools = useQuery(toolSearchQuery(useDeferredValue(found.tool ?? "")));
  const subjects = useQuery(subjectsQuery);
  const question = {
    tool: found.tool ?? "",
    user: found.key ? undefined : found.user,
    key: found.key,
    agent: found.agent,
    toolset: found.toolset,
  };
  const answer = useQuery(explainQuery(question));
  const field = (member: "user" | "key" | "agent" | "toolset", disabled = false) => (
    <AskedAbout
      param={member}
      label={t(`explain.${member}`)}
      placeholder={t(`explain.${member}None`)}
      disabled={disabled}
      options={subjects.data?.[member] ?? []}
    />
  );
  const shown = question.tool ? answer.data : undefined;
  const [tone, icon] = verdicts[(shown?.verdict ?? "denied") as keyof typeof verdicts] ?? verdicts.denied;
  return (
    <Card title={t("explain.title")}>
      <div className="grid gap-3">
        <div className="grid gap-3 sm:grid-cols-2 xl:grid-cols-5">
          <AskedAbout
            param="tool"
            label={t("explain.tool")}
            required
            placeholder="calculator"
            options={tools.data?.items.map((tool) => tool.name) ?? []}
          />
          {isAdmin && field("user", !!found.key)}
          {isAdmin && field("key")}
          {field("agent")}
          {field("toolset")}
        </div>
        {!question.tool && <p className="text-sm text-muted">{t("explain.about")}</p>}
        {answer.error && question.tool && <Failed error={answer.error} />}
        {shown && !answer.error && (
          <div role="status" data-status={shown.verdict} className="grid gap-2">
            <p className="flex flex-wrap items-center gap-2">
              <Badge tone={tone} icon={icon}>
                {t(`verdict.${shown.verdict as keyof typeof verdicts}`)}
              </Badge>
              <span>
                {shown.who} → <code>{shown.tool}</code>
              </span>
              {shown.code && (
                <span className="text-muted">
                  <Coded kind="error" code={shown.code} />
                </span>
              )}
              {isUnsaved && <Badge tone="warn">{t("explain.bySaved")}</Badge>}
            </p>
            <ul className="divide-y rounded-md border">
              {shown.reasons.map((reason, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a reason is its place
                <li key={at} className="flex items-center gap-3 px-3 py-1.5">
                  <Badge tone={effects[reason.effect] ?? "plain"} className="w-16 justify-center">
                    {t(`effect.${reason.effect as "pass" | "deny" | "hide"}`)}
                  </Badge>
                  <span className="grow">{reason.message}</span>
                  <span className="text-xs text-muted" title={reason.check}>
                    {t(`check.${reason.check as "rule"}`, { defaultValue: reason.check })}
                  </span>
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
    </Card>
  );
}
