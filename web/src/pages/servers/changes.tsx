// Tools that a server describes in another way than before: both, and the approval of what was seen.

import { useQuery } from "@tanstack/react-query";
import { Check as CheckIcon, ShieldCheck } from "lucide-react";
import { useTranslation } from "react-i18next";
import { useMay } from "../../api/me";
import { Badge } from "../../ui/badge";
import { Button } from "../../ui/button";
import { Diff } from "../../ui/diff";
import { Note } from "../../ui/note";
import { Empty, Failed, Skeleton } from "../../ui/states";
import { When } from "../../ui/time";
import { toast } from "../../ui/toast";
import { approve, type Change, changesQuery, type ServerView, useServerChange } from "./queries";

function HiddenLetters({ names, what }: { names: string[]; what?: string }) {
  const { t } = useTranslation("servers");
  return (
    <Note tone="danger">
      <p className="font-medium">{what ? t("changes.hiddenIn", { tool: what }) : t("changes.hidden")}</p>
      <p className="font-mono text-sm">{names.join(", ")}</p>
    </Note>
  );
}

function OneChange({ server, change }: { server: ServerView; change: Change }) {
  const { t } = useTranslation("servers");
  const mayOperate = useMay("operate");
  const act = useServerChange(approve(server.name), () => toast(t("changes.approved", { tool: change.tool })));
  return (
    <li className="grid gap-2 rounded-lg border bg-panel p-4">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="font-mono font-semibold">{change.tool}</h3>
        <Badge tone={change.change === "new" ? "info" : "warn"}>
          {t(change.change === "new" ? "changes.new" : "changes.changed")}
        </Badge>
        <Badge tone={change.is_in_force ? "plain" : "accent"}>
          {t(change.is_in_force ? "changes.inForce" : "changes.waits")}
        </Badge>
        <span className="grow text-sm text-muted">
          {change.members.join(", ")}
          {change.pinned_at && (
            <>
              {" · "}
              {t("changes.since")} <When at={change.pinned_at} />
            </>
          )}
        </span>
        {mayOperate && (
          <Button
            look="primary"
            small
            icon={CheckIcon}
            busy={act.isPending}
            onClick={() => act.mutate([{ name: change.tool, hash: change.hash }])}
          >
            {t("changes.approve", { tool: change.tool })}
          </Button>
        )}
      </div>
      {change.hidden_letters.length > 0 && <HiddenLetters names={change.hidden_letters} />}
      {change.change === "changed" && !change.old && <p className="text-sm text-muted">{t("changes.oldNotKept")}</p>}
      <Diff before={change.old} after={change.new} label={t("changes.diff", { tool: change.tool })} />
      {act.error && <Failed error={act.error} />}
    </li>
  );
}

export function Changes({ server }: { server: ServerView }) {
  const { t } = useTranslation("servers");
  const mayOperate = useMay("operate");
  const changes = useQuery(changesQuery(server.name));
  const act = useServerChange(approve(server.name), () => toast(t("changes.approvedAll")));
  const all = changes.data ?? [];
  const elsewhere = Object.entries(server.hidden_letters).filter(
    ([tool]) => !all.some((change) => change.tool === tool),
  );
  return (
    <div className="grid gap-3">
      <p className="text-muted">{t(`pinning.${server.pinning_now as "off" | "flag" | "approve"}`)}</p>
      {changes.error && <Failed error={changes.error} again={() => void changes.refetch()} />}
      {changes.isPending && <Skeleton rows={3} />}
      {elsewhere.map(([tool, names]) => (
        <HiddenLetters key={tool} what={tool} names={names} />
      ))}
      {changes.data && all.length === 0 && elsewhere.length === 0 && (
        <Empty icon={ShieldCheck} title={t("changes.none")}>
          {t("changes.noneAbout")}
        </Empty>
      )}
      {mayOperate && all.length > 1 && (
        <div>
          <Button
            icon={CheckIcon}
            busy={act.isPending}
            onClick={() => act.mutate(all.map((change) => ({ name: change.tool, hash: change.hash })))}
          >
            {t("changes.approveAll", { count: all.length })}
          </Button>
        </div>
      )}
      {act.error && <Failed error={act.error} />}
      <ul className="grid gap-3">
        {all.map((change) => (
          <OneChange key={`${change.tool}-${change.hash}`} server={server} change={change} />
        ))}
      </ul>
    </div>
  );
}
