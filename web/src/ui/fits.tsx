// What patterns fit among the tools that are there now.

import { useTranslation } from "react-i18next";
import { useFitting } from "../api/tool-search";
import { Badge } from "./badge";

const SHOWN = 20;

export function Fits({ patterns }: { patterns: string[] }) {
  const { t } = useTranslation();
  const fitting = useFitting(patterns);
  return (
    <ul className="grid gap-1 text-xs empty:hidden">
      {[...new Set(patterns)].map((pattern) => {
        const found = fitting.get(pattern);
        return (
          <li key={pattern} className="flex items-start gap-2" data-status={found ? "ready" : "loading"}>
            <code className="shrink-0">{pattern}</code>
            {found && found.names.length === 0 && !found.isMore && <Badge tone="warn">{t("fitsNothing")}</Badge>}
            {found && (found.names.length > 0 || found.isMore) && (
              <span className="line-clamp-2 text-muted">
                {t("fitsCount", { count: found.names.length, more: found.isMore ? "+" : "" })}:{" "}
                {found.names.slice(0, SHOWN).join(", ")}
                {found.names.length > SHOWN && " …"}
              </span>
            )}
          </li>
        );
      })}
    </ul>
  );
}
