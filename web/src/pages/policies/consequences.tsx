// What a change of the policy would change for whom, before it is saved.

import { ArrowRight } from "lucide-react";
import { useTranslation } from "react-i18next";
import type { DryRun } from "../../api/schema";
import { Badge, type Tone } from "../../ui/badge";
import { Note } from "../../ui/note";
import { Cell, Row, Table } from "../../ui/table";

const tones: Record<string, Tone> = { allowed: "ok", denied: "danger", hidden: "warn" };

export function Consequences({ found }: { found: DryRun }) {
  const { t } = useTranslation("policies");
  if (found.total === 0) return <Note tone="plain">{t("dryRun.nothing")}</Note>;
  const word = (verdict: string) => (
    <Badge tone={tones[verdict] ?? "plain"}>{t(`verdict.${verdict as "allowed" | "denied" | "hidden"}`)}</Badge>
  );
  return (
    <div role="status" className="grid gap-2">
      <p className="font-medium">{t("dryRun.total", { count: found.total })}</p>
      <Table
        label={t("dryRun.open")}
        columns={[{ label: t("dryRun.who") }, { label: t("dryRun.tool") }, { label: t("dryRun.change") }]}
      >
        {found.changes.map((change) => (
          <Row key={`${change.who}-${change.tool}`}>
            <Cell>{change.who}</Cell>
            <Cell className="font-mono">{change.tool}</Cell>
            <Cell>
              <span className="flex items-center gap-2">
                {word(change.before)}
                <ArrowRight aria-hidden className="size-4 text-muted" />
                {word(change.after)}
              </span>
            </Cell>
          </Row>
        ))}
      </Table>
      {found.total > found.changes.length && (
        <p className="text-sm text-muted">{t("dryRun.more", { count: found.total - found.changes.length })}</p>
      )}
    </div>
  );
}
