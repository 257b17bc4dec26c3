// How a source is doing, and where it comes from.

import { CircleCheck, CircleHelp, CircleX, EyeOff, type LucideIcon } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Badge, type Tone } from "../../ui/badge";
import type { SourceState, SourceView } from "./queries";

const looks: Record<SourceState, [Tone, LucideIcon]> = {
  ready: ["ok", CircleCheck],
  untried: ["info", CircleHelp],
  unusable: ["danger", CircleX],
  hidden: ["plain", EyeOff],
};

export function StateBadge({ source }: { source: SourceView }) {
  const { t } = useTranslation("sources");
  const [tone, icon] = looks[source.state] ?? looks.unusable;
  return (
    <Badge tone={tone} icon={icon}>
      <span data-status={source.state}>{t(`state.${source.state}`)}</span>
    </Badge>
  );
}

export const pathOf = (name: string) => `/sources/${encodeURIComponent(name)}`;

export const placeOf = (source: SourceView) => source.path ?? source.url ?? "";
