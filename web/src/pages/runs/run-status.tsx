// Where a run stands, in a word with its colour.

import type { LucideIcon } from "lucide-react";
import { Ban, CircleCheck, CircleHelp, CircleX, Hourglass, LoaderCircle } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Badge, type Tone } from "../../ui/badge";
import type { RunStatus } from "./queries";

const looks: Record<RunStatus, [Tone, LucideIcon]> = {
  running: ["info", LoaderCircle],
  needs_input: ["warn", CircleHelp],
  done: ["ok", CircleCheck],
  failed: ["danger", CircleX],
  cancelled: ["plain", Ban],
  expired: ["plain", Hourglass],
};

export function RunBadge({ status }: { status: string }) {
  const { t } = useTranslation("runs");
  const [tone, icon] = looks[status as RunStatus] ?? ["plain", CircleX];
  return (
    <span data-status={status}>
      <Badge tone={tone} icon={icon}>
        {t(`status.${status as RunStatus}`)}
      </Badge>
    </span>
  );
}
