// How a server is doing: a word with a colour and an icon, why, and what to do about it.

import {
  CircleCheck,
  CircleOff,
  CircleX,
  EyeOff,
  KeyRound,
  LoaderCircle,
  type LucideIcon,
  RefreshCw,
  ShieldX,
  TriangleAlert,
} from "lucide-react";
import { useTranslation } from "react-i18next";
import { Badge, type Tone } from "../../ui/badge";
import { CopyButton } from "../../ui/copy";
import { hintFor } from "./hints";
import type { ServerView, State } from "./queries";

const looks: Record<State, [Tone, LucideIcon]> = {
  connected: ["ok", CircleCheck],
  starting: ["info", LoaderCircle],
  degraded: ["warn", TriangleAlert],
  reconnecting: ["warn", RefreshCw],
  auth_required: ["warn", KeyRound],
  failed: ["danger", CircleX],
  disabled: ["plain", CircleOff],
  hidden: ["plain", EyeOff],
  refused: ["danger", ShieldX],
  stopped: ["plain", CircleOff],
};

export function StateBadge({ server }: { server: ServerView }) {
  const { t } = useTranslation("servers");
  const [tone, icon] = looks[server.state] ?? looks.failed;
  const tries =
    server.state === "reconnecting" && server.attempt ? ` ${server.attempt}/${server.attempts_max ?? "?"}` : "";
  return (
    <Badge tone={tone} icon={icon}>
      <span data-status={server.state}>
        {t(`state.${server.state}`)}
        {tries}
      </span>
    </Badge>
  );
}

/** The server's own words, to be copied, and what usually helps. */
export function Cause({ server }: { server: ServerView }) {
  const { t } = useTranslation("servers");
  if (!server.cause && server.state !== "auth_required") return null;
  const hint = hintFor(server);
  const isCalm = server.state === "connected" || server.state === "disabled";
  return (
    <div className={isCalm ? "text-muted" : ""}>
      {server.cause && (
        <div className="flex items-start gap-1">
          <code className="grow rounded bg-sunken px-2 py-1 text-sm whitespace-pre-wrap">{server.cause}</code>
          <CopyButton text={server.cause} label={t("copyError")} />
        </div>
      )}
      {hint && !isCalm && <p className="mt-1 text-sm">{t(`hint.${hint}`)}</p>}
    </div>
  );
}
