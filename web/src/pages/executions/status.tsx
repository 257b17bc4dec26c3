// How a call went, in a word with its colour.

import type { LucideIcon } from "lucide-react";
import { Ban, CircleCheck, CircleX, LoaderCircle, Unplug } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Badge, type Tone } from "../../ui/badge";
import type { STATUSES } from "./queries";

export type Status = (typeof STATUSES)[number];

const looks: Record<Status, [Tone, LucideIcon]> = {
  started: ["info", LoaderCircle],
  success: ["ok", CircleCheck],
  error: ["danger", CircleX],
  cancelled: ["plain", Ban],
  interrupted: ["warn", Unplug],
};

export function StatusBadge({ status }: { status: string }) {
  const { t } = useTranslation("executions");
  const [tone, icon] = looks[status as Status] ?? ["plain", CircleX];
  return (
    <span data-status={status}>
      <Badge tone={tone} icon={icon}>
        {t(`status.${status as Status}`)}
      </Badge>
    </span>
  );
}
