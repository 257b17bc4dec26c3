// The kinds of tools, by icon and word.

import { Code2, Database, FileCode2, Globe, type LucideIcon, Plug, Sigma, Terminal } from "lucide-react";
import { useTranslation } from "react-i18next";
import { Badge } from "../../ui/badge";
import type { Kind } from "./queries";

export const kindIcons: Record<Kind, LucideIcon> = {
  sql: Database,
  expression: Sigma,
  http: Globe,
  python: FileCode2,
  shell: Terminal,
  mcp: Plug,
  builtin: Code2,
};

export function KindBadge({ kind }: { kind: string }) {
  const { t } = useTranslation("tools");
  return <Badge icon={kindIcons[kind as Kind]}>{t(`kinds.${kind as Kind}`)}</Badge>;
}
